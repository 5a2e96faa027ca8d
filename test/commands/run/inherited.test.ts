/** A job under `run` inherits the same arguments, environment, ignored signals and limits as from the shell. */
import {Buffer} from 'node:buffer';
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {buffer} from 'node:stream/consumers';
import fc from 'fast-check';
import {expect, onTestFinished, test} from 'vitest';
import {launcher, starter, starterText, type Box} from '../../_helpers/program/cli.js';
import {eventually} from '../../_helpers/eventually.js';
import {fileIn, freshEmbeddedBox, peek, start} from '../../_helpers/program/processes.js';
import {firstCase, slowTest} from '../../_helpers/slow.js';

/** Whether the program is an executable file. */
const isBinary = starterText.length === 0;
const installed = isBinary ? starter : launcher;

/** Runs a bash script in which `$CHG` is the program. */
function inBash(box: Box, script: string) {
	const child = spawn('bash', ['-c', script], {
		cwd: box.home,
		env: {
			...box.environment,
			// The script needs the `node` of PATH.
			PATH: `${path.dirname(process.execPath)}:${box.environment['PATH']}`,
			CHG: installed,
		},
		stdio: ['ignore', 'pipe', 'pipe'],
	});
	onTestFinished(() => {
		child.kill('SIGKILL');
	});
	let stderr = '';
	child.stderr.setEncoding('utf8').on('data', (text: string) => {
		stderr += text;
	});
	const end = async () => {
		const [stdout] = await Promise.all([buffer(child.stdout), once(child, 'close')]);
		return {exitCode: child.exitCode, stdout: stdout.toString('latin1'), stderr};
	};

	return {ended: end(), stderr: () => stderr};
}

/** Quotes bytes for bash. */
const quoted = (bytes: Uint8Array): string =>
	`$'${Array.from(bytes, (byte) => String.raw`\x` + byte.toString(16).padStart(2, '0')).join('')}'`;

test('run passes file names and variables that are not UTF-8 to its job unchanged', async () => {
	const box = await freshEmbeddedBox(1);
	const ran = await inBash(
		box,
		String.raw`f=$'caf\xe9 \xff.txt'; echo hi > "$f"; NAME=$'Ren\xe9' "$CHG" run -- sh -c 'cat "$1"; printenv NAME' sh "$f"`,
	).ended;
	expect(ran).toEqual({exitCode: 0, stdout: 'hi\nRen\u{E9}\n', stderr: ''});
});

slowTest('run with flags passes arguments that are not UTF-8 to its job unchanged', async () => {
	const box = await freshEmbeddedBox(1);
	const ran = await inBash(
		box,
		String.raw`"$CHG" run --gpus 1 --note $'n\xe9' -- sh -c 'printf "%s\n" "$@"' sh $'caf\xe9' $'\xff' plain`,
	).ended;
	expect(ran).toEqual({exitCode: 0, stdout: 'caf\u{E9}\n\u{FF}\nplain\n', stderr: ''});
});

test('run finds a command if its path or PATH is not UTF-8', async () => {
	const box = await freshEmbeddedBox(1);
	const script = String.raw`d=$'bin\xe9'; mkdir "$d"; printf '#!/bin/sh\necho "$0 ran $1"\n' > "$d/tool"; chmod +x "$d/tool"`;
	const ran = await inBash(
		box,
		String.raw`${script}; "$CHG" run -- "./$d/tool" a; PATH="$PWD/$d:$PATH" "$CHG" run -- tool b; "$CHG" run -- $'no\xe9'`,
	).ended;
	expect(ran.stdout).toBe(`./bin\u{E9}/tool ran a\n${box.home}/bin\u{E9}/tool ran b\n`);
	expect(ran.exitCode).toBe(127);
	expect(ran.stderr).toContain('Command not found');
});

slowTest('run passes random arguments and variables to its job byte for byte', async () => {
	const box = await freshEmbeddedBox(1);
	const bytes = fc.uint8Array({min: 1, maxLength: 25});
	await fc.assert(
		fc.asyncProperty(fc.array(bytes, {minLength: 1, maxLength: 40}), bytes, async (words, value) => {
			const printInherited = "sh -c 'printenv -0 VALUE; cat /proc/$$/cmdline' sh";
			const ran = await inBash(
				box,
				`VALUE=${quoted(value)} "$CHG" run -- ${printInherited} ${words.map((word) => quoted(word)).join(' ')}`,
			).ended;
			const [commandLine, ...line] = ran.stdout.split('\0').slice(0, -1);
			const latin1 = (list: Uint8Array) => Buffer.from(list).toString('latin1');
			expect(ran.exitCode).toBe(0);
			expect(commandLine).toBe(latin1(value));
			expect(line.slice(4)).toEqual(words.map((word) => latin1(word)));
		}),
		{numRuns: 8},
	);
});

test('run in an environment that is not UTF-8 sets the GPUs, removes the Redis password and keeps bash functions', async () => {
	const box = await freshEmbeddedBox(1);
	const ran = await inBash(
		box,
		String.raw`hello() { echo "hello $NAME"; }; export -f hello
			export NAME=$'\xe9' CUDA_VISIBLE_DEVICES=$'\xe9' CANHAZGPU_REDIS_PASSWORD=$'\xe9'
			env $'W\xe9=1' "$CHG" run -- bash -c 'hello; env' | grep -a -e ^hello -e ^CUDA_V -e PASSWORD -e STARTED -e ^W -e ^SHLVL; echo "SHLVL=$SHLVL"`,
	).ended;
	const lines = ran.stdout.trim().split('\n').toSorted();
	expect(lines).toEqual(['CUDA_VISIBLE_DEVICES=0', 'SHLVL=1', 'SHLVL=1', 'W\u{E9}=1', 'hello \u{E9}'].toSorted());
});

const lowLimits = [
	['a usual limit', 512],
	['a limit too low for the program itself', 100],
] as const;

test.each(firstCase(lowLimits))('a job gets the open-file limits of the calling shell: %s', async (_, limit) => {
	const box = await freshEmbeddedBox(1);
	const printInherited = "run -- sh -c 'ulimit -S -n; ulimit -H -n; echo $0' a0";
	const ran = await inBash(
		box,
		`ulimit -H -n; ulimit -S -n ${limit}; "$CHG" ${printInherited}; (ulimit -S -n ${limit + 1}; "$CHG" ${printInherited}); ${[starter, ...starterText].map((word) => `'${word}'`).join(' ')} ${printInherited}; true`,
	).ended;
	const [hard, ...lines] = ran.stdout.trim().split('\n');
	// The binary knows only its parent's limit, and bash replaces itself with the last command of (...).
	const inner = isBinary ? limit : limit + 1;
	expect(lines).toEqual([`${limit}`, hard, 'a0', `${inner}`, hard, 'a0', `${limit}`, hard, 'a0']);
});

test('a detached job gets the environment and the open-file limit of the shell that submitted it', async () => {
	const box = await freshEmbeddedBox(1);
	const printInherited = 'hello; pwd; echo "$PWD $SHLVL"; ulimit -S -n; env | grep -a -e ^W -e STARTED -e TICKET';
	const ran = await inBash(
		box,
		String.raw`hello() { echo "hello $NAME"; }; export -f hello; export NAME=$'\xe9' log_cat=mine
			mkdir real; ln -s real link; cd link; ulimit -S -n 512
			env $'W\xe9=1' "$CHG" run --detach -- bash -c '${printInherited}; echo $log_cat'
			"$CHG" wait 1; "$CHG" logs 1; cd ..; "$CHG" retry 1; "$CHG" wait 1; "$CHG" logs 1 | tail -n 5`,
	).ended;
	const {home} = box;
	expect(ran.stdout.trim().split('\n')).toEqual([
		'1',
		'hello \u{E9}',
		`${home}/link`,
		`${home}/link 2`,
		'512',
		'W\u{E9}=1',
		'mine',
		'Started job 1 again',
		'hello \u{E9}',
		`${home}/real`,
		`${home}/real 2`,
		'512',
		'mine',
	]);
});

test('a job keeps its open-file limit after the calling shell has ended', async () => {
	const box = await freshEmbeddedBox(1);
	const command = [starter, ...starterText].map((word) => `'${word}'`).join(' ');
	const script = `ulimit -n 500; (setsid ${command} run -- sh -c 'ulimit -S -n; echo > end' > said 2>&1 &)`;
	expect(await inBash(box, script).ended).toEqual({exitCode: 0, stdout: '', stderr: ''});
	await fileIn(box, 'end');
	expect(readFileSync(path.join(box.home, 'said'), 'utf8')).toBe('500\n');
});

test.each(firstCase(lowLimits))(
	"run stores the pid of the job in the lease and exits with the job's code under an open-file limit: %s",
	async (_, limit) => {
		const box = await freshEmbeddedBox(1);
		const script = inBash(
			box,
			`ulimit -S -n ${limit}; "$CHG" run -- sh -c 'echo $$ > pid; until test -e end; do sleep 0.05; done; exit 9'`,
		);
		const pid = Number(await fileIn(box, 'pid'));
		await eventually(async () => {
			const [gpu] = (await peek(box)).gpus;
			return gpu?.kind === 'leased' && gpu.lease.job?.pid === pid;
		});
		writeFileSync(path.join(box.home, 'end'), '');
		expect(await script.ended).toEqual({exitCode: 9, stdout: '', stderr: ''});
	},
);

slowTest('run reports a command that cannot be started even if the shell has changed the open-file limit', async () => {
	const box = await freshEmbeddedBox(1);
	writeFileSync(path.join(box.home, 'broken'), '#!/nowhere/sh\n', {mode: 0o755});
	const ran = await inBash(box, 'ulimit -S -n 512; "$CHG" run -- ./broken; echo $?; "$CHG" run -- nosuch; echo $?')
		.ended;
	expect(ran.stdout).toBe('127\n127\n');
	expect(ran.stderr).toBe(
		'Error: "./broken" cannot be started: its interpreter is missing\nCheck the path after #! in its first line\nError: Command not found: "nosuch"\n',
	);
});

/** A job that writes its pid and lives until a file exists. */
const untilEnd = "sh -c 'echo $$ > pid; until test -e end; do sleep 0.05; done; echo survived'";

const ignoredBy = (pid: number): string =>
	/^SigIgn:\s*(?<mask>\S+)$/mv.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!.groups!['mask']!;

test('run in the background of a script ignores SIGINT and SIGQUIT, like its job', async () => {
	const box = await freshEmbeddedBox(1);
	const script = inBash(box, `"$CHG" run -- ${untilEnd} & echo $! > wrapper; wait $!`);
	const job = Number(await fileIn(box, 'pid'));
	const wrapper = Number(await fileIn(box, 'wrapper'));
	expect(ignoredBy(job)).toBe('0000000000000006');
	for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
		process.kill(wrapper, signal);
		process.kill(job, signal);
	}

	writeFileSync(path.join(box.home, 'end'), '');
	expect(await script.ended).toEqual({exitCode: 0, stdout: 'survived\n', stderr: ''});
});

slowTest('a waiting run in the background of a script keeps its queue position after SIGINT', async () => {
	const box = await freshEmbeddedBox(1);
	await box.run('reserve');
	const script = inBash(box, '"$CHG" run -- echo job ran & echo $! > wrapper; wait $!');
	const wrapper = Number(await fileIn(box, 'wrapper'));
	await eventually(() => script.stderr().includes('Waiting for 1 GPU'));
	process.kill(wrapper, 'SIGINT');
	await box.run('release');
	expect(await script.ended).toMatchObject({exitCode: 0, stdout: 'job ran\n'});
});

slowTest(
	'run in the background of a script ends on SIGTERM, and at the time limit sends SIGTERM to its job',
	async () => {
		const box = await freshEmbeddedBox(1);
		const script = inBash(
			box,
			'"$CHG" run --timeout 1s -- sh -c \'trap "echo asked; exit 1" TERM; while :; do sleep 0.05; done\' & wait $!',
		);
		expect(await script.ended).toMatchObject({exitCode: 124, stdout: 'asked\n'});
		const second = inBash(box, `"$CHG" run -- ${untilEnd} & echo $! > second; wait $!`);
		await fileIn(box, 'pid');
		process.kill(Number(await fileIn(box, 'second')), 'SIGTERM');
		expect(await second.ended).toMatchObject({exitCode: 143});
	},
);

test('a job ignores the signals that the calling shell ignores, including SIGHUP', async () => {
	const box = await freshEmbeddedBox(1);
	const printInherited = 'run -- grep SigIgn /proc/self/status';
	const ran = await inBash(
		box,
		`"$CHG" ${printInherited}; (trap '' HUP USR2 TSTP; "$CHG" ${printInherited} < /etc/passwd)`,
	).ended;
	expect(ran.stdout).toBe('SigIgn:\t0000000000000000\nSigIgn:\t0000000000080801\n');
});

// Node does not report signals without a name.
test.runIf(isBinary)('run exits with 165 if its job ends by signal 37, which has no name', async () => {
	const box = await freshEmbeddedBox(1);
	const ran = await inBash(box, '"$CHG" run -- bash -c \'kill -37 $$\'').ended;
	expect(ran).toMatchObject({exitCode: 165, stderr: ''});
});

test('a job inherits the open file descriptors of the calling shell and no other descriptors', async () => {
	const box = await freshEmbeddedBox(1);
	const script = 'read line <&10; echo "$line" >&7; flock -n 5 && echo held; cd /proc/$$/fd; echo *';
	const ran = await inBash(
		box,
		`exec 5>lock; flock 5; echo ten >ten; for run in '' "$CHG run --"; do $run bash -c '${script}' 10<ten 7>>seven; done`,
	).ended;
	const [bare, ...others] = ran.stdout.split('held\n').filter(Boolean);
	expect(bare).toMatch(/^0 1 10 2 (?:\d+ )*5 7\n$/v);
	expect(others).toEqual([bare]);
	expect(readFileSync(path.join(box.home, 'seven'), 'utf8')).toBe('ten\nten\n');
});

slowTest('run ignores CANHAZGPU_STARTED if the variable was set for another process', async () => {
	const box = await freshEmbeddedBox(1);
	const ran = await start(box, ['run', '--', 'sh', '-c', 'env; grep SigIgn /proc/self/status'], {
		CANHAZGPU_STARTED: '1 0000000000000002 64',
	}).ended;
	expect(ran.stdout).toContain('SigIgn:\t0000000000000000\n');
	expect(ran.stdout).not.toContain('CANHAZGPU_STARTED');
});

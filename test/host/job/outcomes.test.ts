import {once} from 'node:events';
import {chmodSync, readFileSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {text} from 'node:stream/consumers';
import {expect, test, vi} from 'vitest';
import type {CanhazgpuError} from '../../../source/errors.js';
import {checkCommand, lookUpCommand} from '../../../source/host/tool/command.js';
import {spawnJob} from '../../../source/host/job/spawn.js';
import {readStat} from '../../../source/host/process/proc.js';
import {liveness, ownIdentity} from '../../../source/host/process/processes.js';
import {patienceMs} from '../../_helpers/eventually.js';
import {createFiles} from '../temporary.js';
import {createStage, gone} from './_stage.js';

test.each([0, 1, 3, 124, 126, 127, 255])("the wrapper exits with the command's code %d", async (exitCode) => {
	const stage = await createStage();
	const ran = await stage.run(['--', 'sh', '-c', `exit ${exitCode}`]);
	expect(ran.exitCode).toBe(exitCode);
	expect(await stage.when('ended')).toMatchObject({end: {exitCode, reason: 'exited'}});
});

test.each([
	['INT', 130],
	['SEGV', 139],
	['KILL', 137],
	['TERM', 143],
	['PIPE', 141],
])('a job that SIG%s kills exits with code %d', async (name, exitCode) => {
	const stage = await createStage();
	const ran = await stage.run(['--', 'sh', '-c', `kill -${name} $$`]);
	expect(ran.exitCode).toBe(exitCode);
	expect(await stage.when('ended')).toMatchObject({end: {exitCode, reason: 'signalled', signal: `SIG${name}`}});
});

test('the wrapper leaves no child process, listener or timer after the job has ended', async () => {
	const stage = await createStage();
	const {stdout, stderr} = await stage.run(['timeout', '3000000', '--', 'echo', 'done']);
	expect({stdout, stderr}).toEqual({stdout: 'done\n', stderr: 'chg: released\n'});
	expect(await stage.when('released')).toMatchObject({children: ''});
	expect(await stage.when('exit')).toMatchObject({exitCode: 0, listening: []});
});

test('the wrapper knows the pid, start time and namespace of a job that ends at once', async () => {
	const own = ownIdentity();
	await Promise.all(
		Array.from({length: 10}, async () => {
			const stage = await createStage();
			await stage.run(['--', 'true']);
			const {job} = await stage.started();
			expect(job).toEqual({
				pid: expect.any(Number) as number,
				startTicks: expect.any(Number) as number,
				namespace: own.namespace,
				...(own.timeNamespace !== undefined && {timeNamespace: own.timeNamespace}),
			});
			expect(job.startTicks).toBeGreaterThan(own.startTicks ?? 0);
			expect(liveness([job])).toEqual(['dead']);
		}),
	);
});

test('the wrapper starts the command without a shell, with its arguments and environment unchanged', async () => {
	const stage = await createStage();
	const words = ['a b', '$(id)', '; exit 9', '', '*', '--', '-x', 'ü'];
	const {stdout} = await stage.run(['--', 'printf', '%s\n', ...words]);
	expect(stdout).toBe(`${words.join('\n')}\n`);
	const other = await createStage();
	const {stdout: variables} = await other.run(['--', 'env'], {'BASH_FUNC_f%%': '() { :; }', CANHAZGPU_JOB: 'outer'});
	expect(variables).toContain('BASH_FUNC_f%%=() { :; }\n');
	expect(variables).toMatch(/^CANHAZGPU_JOB=outer,[\d\-a-f]{36}$/mv);
});

test('the job runs in the process group and session of the wrapper', async () => {
	const stage = await createStage();
	const {stdout} = await stage.run(['--', 'sh', '-c', 'ps -o pgid=,sid= -p $$,$PPID']);
	const lines = stdout
		.trim()
		.split('\n')
		.map((line) => line.trim());
	expect(lines).toHaveLength(2);
	expect(lines[0]).toBe(lines[1]);
});

test('the wrapper does not end processes that the job leaves running', async () => {
	const stage = await createStage();
	const {stdout, exitCode} = await stage.run(['--', 'sh', '-c', 'sleep 600 >/dev/null 2>&1 & echo $!']);
	expect(exitCode).toBe(0);
	const left = {pid: Number(stdout)};
	expect(liveness([left])).toEqual(['alive']);
	process.kill(left.pid, 'SIGKILL');
	await gone(left);
});

test('the job inherits file descriptors from the wrapper, as <(...) requires', async () => {
	const stage = await createStage();
	const child = stage.script('chg -- cat <(echo one) /dev/fd/9 9<<<two');
	expect(await text(child.stdout)).toBe('one\ntwo\n');
});

test('a full output pipe never makes a write of the job fail', async () => {
	// If the wrapper made the shared pipe non-blocking, the job's write would fail with EAGAIN.
	const stage = await createStage({
		'writer.sh': 'trap "head -c 300000 /dev/zero & echo \\$! >pid; wait; exit" INT; while :; do sleep 0.01; done\n',
	});
	const reader = '(until [ -e "$STOP" ]; do sleep 0.01; done; wc -c)';
	const child = stage.script(`chg timeout 3 grace 20 -- sh ./writer.sh 2>&1 | ${reader}`);
	const counted = text(child.stdout);
	await stage.when('timeout');
	await vi.waitFor(
		() => {
			const head = Number(stage.lines('pid')[0]);
			expect(readStat(head)).toMatchObject({comm: 'head', state: 'S'});
			expect(readFileSync(`/proc/${head}/wchan`, 'utf8')).toMatch(/pipe/v);
		},
		{timeout: patienceMs, interval: 10},
	);
	stage.stop();
	// The count includes two lines of the wrapper.
	expect(await counted).toBe('300030\n');
	expect(await stage.when('ended')).toMatchObject({end: {exitCode: 124, reason: 'timeout'}});
});

test('a closed output pipe does not delay the release of the GPUs', async () => {
	const stage = await createStage();
	const child = stage.spawn(['--', 'sh', '-c', 'until [ -e "$STOP" ]; do sleep 0.01; done; exit 4']);
	const exit = once(child, 'exit');
	await stage.started();
	child.stdout.destroy();
	child.stderr.destroy();
	stage.stop();
	expect(await exit).toEqual([4, null]);
	await stage.when('released');
});

const createCommands = async (): Promise<string> => {
	const directory = await createFiles({
		'bin/tool': '#!/bin/sh\necho tool in bin\n',
		'plain/tool': 'text',
		'plain/only-plain': 'text',
		'folders/tool/file': '',
		'folders/no-other/file': '',
		script: '#!/bin/sh\n',
		'no-interpreter': '#!/no/such/interpreter\n',
		'no-shebang': 'echo "sh ran $0 with $*"; exit 8\n',
		local: '#!/bin/sh\necho local; exit 2\n',
	});
	chmodSync(path.join(directory, 'no-shebang'), 0o755);
	return directory;
};

test('lookUpCommand searches PATH like execvp', async () => {
	const directory = await createCommands();
	const find = (command: string, ...entries: readonly string[]) =>
		lookUpCommand(command, {PATH: entries.map((entry) => path.join(directory, entry)).join(':')}).kind;
	expect(find('tool', 'bin')).toBe('found');
	expect(find('tool', 'nowhere', 'plain', 'folders', 'bin')).toBe('found');
	expect(find('tool', 'plain', 'nowhere')).toBe('not-executable');
	expect(find('no-other', 'folders')).toBe('not-found');
	expect(find('tool', 'script')).toBe('not-found');
	expect(find('', 'bin')).toBe('not-found');
	expect(lookUpCommand(`${directory}/bin/tool`, {PATH: ''}).kind).toBe('found');
	expect(lookUpCommand(`${directory}/plain/tool`, {}).kind).toBe('not-executable');
	expect(lookUpCommand(`${directory}/script/tool`, {}).kind).toBe('not-found');
	expect(lookUpCommand(directory, {}).kind).toBe('not-executable');
	expect(lookUpCommand(`${directory}/nothing`, {}).kind).toBe('not-found');
	// If PATH is unset, the system's default directories are searched.
	expect(lookUpCommand('sh', {}).kind).toBe('found');
	expect(lookUpCommand('sh', {PATH: '/nowhere'}).kind).toBe('not-found');
});

/** Runs a command in the directory of the test commands, with an empty entry in PATH. */
const runThere = async (...words: readonly string[]) => {
	const stage = await createStage({'there.sh': 'cd "$THERE" && PATH=$PATH: && exec chg -- "$@"\n'});
	const child = stage.script('exec bash ./there.sh $WORDS', {THERE: await createCommands(), WORDS: words.join(' ')});
	const [stdout] = await Promise.all([text(child.stdout), once(child, 'exit')]);
	return {stdout, exitCode: child.exitCode, reports: stage.reports()};
};

test('an empty entry in PATH means the current directory', async () => {
	expect(await runThere('local')).toMatchObject({stdout: 'local\n', exitCode: 2});
});

test('a script without #! is run by sh', async () => {
	expect(await runThere('./no-shebang', 'a', 'b')).toMatchObject({
		stdout: 'sh ran ./no-shebang with a b\n',
		exitCode: 8,
	});
});

test.each([
	['no-such-command', 127],
	['/no/such/command', 127],
	['./no-interpreter', 127],
	['./plain/tool', 126],
	['./bin', 126],
])('the command %s is refused with exit code %d', async (command, exitCode) => {
	const ran = await runThere(command);
	expect(ran.exitCode).toBe(exitCode);
	expect(ran.reports).toMatchObject([
		{
			event: 'refused',
			code: exitCode === 126 ? 'command-not-executable' : 'command-not-found',
			listening: [],
		},
		{event: 'exit'},
	]);
});

test('checkCommand explains each rejection with a hint', async () => {
	const directory = await createCommands();
	const refusal = (command: string, PATH = process.env['PATH']) => {
		try {
			return checkCommand(command, {PATH});
		} catch (error) {
			const {message, hint} = error as CanhazgpuError;
			return `${message}. ${hint ?? ''}`;
		}
	};

	expect(refusal('pythn')).toBe('Command not found: "pythn". ');
	expect(refusal('sh -c true')).toBe(
		'Command not found: "sh -c true". The command and its arguments are separate words: leave out the quotes around them all',
	);
	expect(refusal('package.json', directory)).toBe('Command not found: "package.json". ');
	expect(refusal(`${directory}/plain/tool`)).toBe(
		`"${directory}/plain/tool" is not executable. To make it executable: chmod +x FILE`,
	);
	expect(refusal(directory)).toBe(`"${directory}" is a directory, not a command. `);
});

test('spawnJob rejects arguments that are too long', async () => {
	const starting = spawnJob({
		command: 'true',
		args: ['x'.repeat(4_000_000)],
		environment: process.env,
		manner: {ignored: [], openFiles: undefined},
	});
	await expect(starting).rejects.toMatchObject({
		code: 'command-not-executable',
		message: expect.stringMatching('E2BIG') as string,
	});
});

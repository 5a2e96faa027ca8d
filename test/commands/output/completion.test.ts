/** The answers of `--complete` to shells, and the completion scripts. */
import {execFileSync} from 'node:child_process';
import {writeFileSync} from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import {afterAll, beforeAll, expect, onTestFinished, test} from 'vitest';
import type {App} from '../../../source/app/contract.js';
import {commandNames, findCommand} from '../../../source/command-line/find-command.js';
import {candidatesOf} from '../../../source/command-line/completion/known-values.js';
import {completeWords} from '../../../source/command-line/completion/words.js';
import {commandPosition, globalFlags} from '../../../source/command-line/flags.js';
import {understand} from '../../../source/main.js';
import {eventually} from '../../_helpers/eventually.js';
import {createBox, createRedisBox, type Box} from '../../_helpers/program/cli.js';
import {start} from '../../_helpers/program/processes.js';
import {startRedis, type RedisServer} from '../../_helpers/store/redis-server.js';
import {everyNth, slowTest} from '../../_helpers/slow.js';

let redis: RedisServer;
let box: Box;

beforeAll(async () => {
	redis = await startRedis();
	box = await createRedisBox(redis.port, 4);
	await box.run(['reserve', '--gpu-ids', '1', '--note', 'a\tnote', '--user', 'team']);
	await box.run(['admin', '--drain', '3', '--reason', 'fan is dead']);
	await box.run('admin --set strategy=lru');
	writeFileSync(path.join(box.home, 'hosts.yaml'), 'remote_hosts: [gpu-box-2, alice@gpu-box-3]\n');
});

afterAll(async () => {
	box.remove();
	await redis.stop();
});

/** Returns the lines of an answer. Retries an empty one, because a slow store offers nothing. */
async function answer(...words: readonly string[]): Promise<readonly string[]> {
	let lines: readonly string[] = [];
	for (let tries = 0; tries < 3 && lines.length < 2; tries++) {
		const {stdout, stderr, exitCode} = await box.run(['--complete', ...words]);
		expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
		lines = stdout.trimEnd().split('\n');
	}

	return lines;
}

slowTest('--complete offers values from the pool and the config with descriptions', async () => {
	const [kind, ...gpus] = await answer('zsh', 'reserve', '--gpu-ids', '');
	const account = gpus[1]?.split('held by ', 2)[1];
	expect([kind, ...gpus]).toEqual([
		'words',
		'0\tnot reserved',
		`1\theld by ${account}`,
		'2\tnot reserved',
		'3\tout of service',
	]);
	// Members of a range are not offered again.
	expect(await answer('bash', 'reserve', '--gpu-ids', '0-2,')).toEqual(['words', '0-2,3']);
	expect(await answer('zsh', 'who', '')).toEqual([
		'words',
		...gpus,
		'--gpu-ids\tonly these GPUs, such as 1,3 or 0-3',
		'--json\tprint JSON',
	]);
	expect(await answer('bash', 'who', '0,')).toEqual(['words', '0,1', '0,2', '0,3']);
	expect(await answer('fish', 'release', '-G', '')).toEqual([
		'words',
		expect.stringMatching(/^1\tends in (?:7h59m|8h00m), a note$/v),
	]);
	expect(await answer('fish', 'extend', '--lease', '')).toEqual([
		'words',
		expect.stringMatching(/^[\da-f]{8}-[\d\-a-f]{27}\tends in (?:7h59m|8h00m), a note$/v),
	]);
	expect(await answer('zsh', 'admin', '--undrain', '')).toEqual(['words', '3\tfan is dead']);
	expect(await answer('zsh', 'admin', '--unset', '')).toEqual(['words', `strategy\tlru, set by ${account}`]);
	expect(await answer('bash', 'admin', '--set', `limits.user.${account}.max-w`)).toEqual([
		'words',
		...['1', '2', '4', '8', 'off'].map((value) => `limits.user.${account}.max-waiting=${value}`),
	]);
	expect(await answer('bash', 'release', '--user', '')).toEqual(['words', 'team']);
	expect(await answer('bash', 'events', '-u', '')).toEqual(['words', ...[account, 'team'].toSorted()]);
	expect(await answer('bash', '--config', 'hosts.yaml', 'status', '-r', '')).toEqual([
		'words',
		'gpu-box-2',
		'alice@gpu-box-3',
	]);
});

slowTest("--complete offers MIG profiles and instances, and for release only the user's own instances", async () => {
	const split = createBox({CANHAZGPU_SIMULATED_SCENARIO: 'mig.yaml'});
	onTestFinished(() => {
		split.remove();
	});
	writeFileSync(path.join(split.home, 'mig.yaml'), 'mig: [{gpu: 1, profiles: [3g.40gb, 1g.10gb, 1g.10gb]}]\n');
	await split.run('admin -g 2 --provider fake --store embedded');
	expect(await split.run('reserve --mig 1g.10gb')).toMatchObject({exitCode: 0});
	const expected = async (...words: readonly string[]) => {
		let lines: readonly string[] = [];
		await eventually(async () => {
			const {stdout, stderr} = await split.run(['--complete', ...words]);
			expect(stderr).toBe('');
			lines = stdout.trimEnd().split('\n');
			return lines.length > 1;
		});
		return lines;
	};

	expect(await expected('zsh', 'run', '--mig', '')).toEqual(['words', '1g.10gb\t1 of 2 free', '3g.40gb\t1 of 1 free']);
	const [kind, ...parts] = await expected('zsh', 'reserve', '--gpu-ids', '');
	const account = parts[2]!.split('held by ', 2)[1];
	expect([kind, ...parts]).toEqual([
		'words',
		'0\tnot reserved',
		'1:0\t3g.40gb, not reserved',
		`1:1\t1g.10gb, held by ${account}`,
		'1:2\t1g.10gb, not reserved',
	]);
	expect(await expected('bash', 'release', '-G', '')).toEqual(['words', '1:1']);
	expect(await expected('bash', 'run', '-G', '1:0,')).toEqual(['words', '1:0,0', '1:0,1:1', '1:0,1:2']);
});

slowTest("--complete offers the ids of the user's own jobs", async () => {
	await box.run('run --detach --begin 1h -- echo later');
	expect((await answer('zsh', 'cancel', '')).slice(0, 2)).toEqual(['words', '1\tpending: echo later']);
	expect(await answer('bash', 'run', '--after', '')).toEqual(['words', '1']);
	await box.run('run --detach --begin 1h --array 0-1 -- echo each');
	const jobs = ['1', '2', '2_0', '2_1'];
	expect((await answer('bash', 'cancel', '')).slice(0, 5)).toEqual(['words', ...jobs]);
	// Several jobs can be cancelled at once, but the output of only one can be shown.
	expect((await answer('bash', 'cancel', '2_0', '')).slice(0, 4)).toEqual(['words', '1', '2', '2_1']);
	expect(await answer('bash', 'logs', '2_0', '')).not.toContain('1');
	await box.run('cancel 1 2');
});

slowTest("--complete queue --leave offers the user's own queue entries", async () => {
	const waiting = start(box, 'reserve --gpu-ids 1,2');
	await waiting.says(/Waiting/v);
	const {stdout} = await box.run('queue --json');
	const {entries} = JSON.parse(stdout) as {readonly entries: ReadonlyArray<{readonly id: string}>};
	const [kind, ...places] = await answer('zsh', 'queue', '--leave', '');
	expect(kind).toBe('words');
	expect(places).toEqual([expect.stringMatching(/^\S+\tfor GPUs 1 2, waiting for \d+s$/v)]);
	expect(places[0]!.split('\t', 1)).toEqual([entries[0]!.id]);
	waiting.kill('SIGINT');
	await waiting.ended;
});

test.each(
	everyNth(
		[
			[['--complete', 'bash', 'release', '--redis-port', '1', '-G', ''], 'words\n'],
			[['--complete', 'bash', 'release', '--config', 'none.yaml', '-G', ''], 'words\n'],
			[['--complete', 'bash', 'release', '--no-such', '-G', ''], 'words\n'],
			[['--complete', 'bash', 'no-such-command', ''], 'words\n'],
			[['--complete'], /^words\ntop\t/v],
			[['--complete', 'bash', 'run', '--', 'git', ''], 'command\n'],
			[['--complete', 'bash', 'status', '--config='], 'files\n'],
		],
		3,
	),
)('completion for the arguments %j prints %j and no error', async (words, expected) => {
	const {stdout, stderr, exitCode} = await box.run(words);
	expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
	expect(stdout).toEqual(typeof expected === 'string' ? expected : expect.stringMatching(expected));
});

/** Runs the command in this process. */
async function completionOf(typed: string, shell: string | undefined, isTerminal = false) {
	const understood = await understand(['completion', ...typed.split(' ').filter(Boolean)]);
	if ('text' in understood) {
		throw new TypeError(understood.text);
	}

	const printed: string[] = [];
	const remarks: string[] = [];
	const app = {
		environment: {SHELL: shell},
		isTerminal,
		print(text: string) {
			printed.push(text);
		},
		remark(text: string) {
			remarks.push(text);
		},
	};
	expect(await understood.command.run(app as unknown as App, understood.input)).toBe(0);
	return {script: printed.join('\n'), remarks};
}

test.each(['bash', 'zsh', 'fish'])('completion prints the script for %s, named by argument or SHELL', async (shell) => {
	const byName = await completionOf(shell, '/bin/other');
	expect(byName.script).toContain(` --complete ${shell} `);
	expect(byName.remarks).toEqual([]);
	expect(await completionOf('', `/usr/bin/${shell}`)).toEqual(byName);
	// A user who sees the script also sees how to load it.
	const {remarks} = await completionOf(shell, undefined, true);
	expect(remarks).toEqual([expect.stringContaining(`canhazgpu completion ${shell}`)]);
	if (shell === 'bash') {
		execFileSync('bash', ['-n'], {input: byName.script});
	}
});

test.each(
	everyNth(
		[
			['tcsh', '/bin/bash', 'There is no completion for "tcsh"'],
			['bash zsh', '/bin/bash', 'completion takes one shell, but was given 2: bash zsh'],
			['', '/bin/tcsh', 'There is no completion for your shell, "tcsh"'],
			['', undefined, 'No shell was named, and SHELL is not set'],
			['constructor', '/bin/bash', 'There is no completion for "constructor"'],
		],
		3,
	),
)('`completion %s` with SHELL=%s is a usage error: %s', async (typed, shell, message) => {
	const hint = 'Name one of bash, zsh, and fish, such as: canhazgpu completion bash';
	await expect(completionOf(typed, shell)).rejects.toMatchObject({exitCode: 2, message, hint});
});

test('completion prints its script without a pool', async () => {
	const {stdout, ...ran} = await box.run('completion', {SHELL: '/bin/zsh', CANHAZGPU_REDIS_PORT: '1'});
	expect(ran).toEqual({exitCode: 0, stderr: ''});
	expect(stdout).toMatch(/^#compdef canhazgpu chg\n/v);
});

const options = {
	commands: commandNames,
	find: findCommand,
	globals: globalFlags,
	isDescribed: true,
	know: async () => [],
};

const offered = async (before: readonly string[], word: string): Promise<readonly string[]> => {
	const completed = await completeWords(before, word, options);
	return completed.kind === 'words' ? completed.candidates.map((candidate) => candidate.word) : [completed.kind];
};

test('completeWords offers every command and every flag once', async () => {
	expect(await offered([], '')).toEqual([...commandNames, 'help']);
	for (const command of commandNames) {
		const {flags, takesRest} = await findCommand(command);
		const names = [...new Set([...Object.keys(flags), ...Object.keys(globalFlags)])].map((name) => `--${name}`);
		expect(await offered([command], '-')).toEqual([...names, ...(takesRest === true ? ['--'] : [])]);
	}
});

test('completeWords offers each continuation of the typed text only once', async () => {
	const vocabulary = [
		...commandNames,
		'help',
		'--',
		'-G',
		'--gpu-ids',
		'--gpu-ids=',
		'--by=',
		'--config',
		'--no-color',
		'1,',
		'',
	];
	const word = fc.oneof(fc.constantFrom(...vocabulary), fc.string({unit: 'binary', maxLength: 6}));
	const know = async () => [{word: '0'}, {word: 'x', about: 'y'}];
	await fc.assert(
		fc.asyncProperty(fc.array(word, {maxLength: 6}), word, async (before, last) => {
			const completed = await completeWords(before, last, {...options, know});
			const found = completed.kind === 'words' ? completed.candidates.map((candidate) => candidate.word) : [];
			expect(found.filter((candidate) => !candidate.startsWith(last))).toEqual([]);
			expect(found).toEqual([...new Set(found)]);
			const own = before.slice(0, before.indexOf('--'));
			expect(completed.kind === 'command').toBe(before.includes('--') && own[commandPosition(own)] === 'run');
		}),
		{numRuns: 200},
	);
});

test.each<[before: readonly string[], word: string, words: readonly string[]]>([
	[['--redis-port', '1'], 'rel', ['release']],
	[['--redis-port'], '', []],
	[['--store'], '', ['redis', 'embedded']],
	[[], '--store=e', ['--store=embedded']],
	[['--config'], 'x', ['files']],
	[['reserve', '--note', '--gpus'], '--du', ['--duration']],
	[['reserve', '-d', '1h'], '--du', []],
	[['reserve', '--duration=1h'], '--du', []],
	[['reserve', '--force=', '-d'], '12', ['12h']],
	[['report', '--by'], '', ['user', 'gpu', 'day', 'model']],
	[['report', '--format'], '', ['table', 'csv']],
	[['admin', '-p'], '', ['nvidia', 'amd', 'fake']],
	[['admin', '--set'], 'strategy=l', ['strategy=lru']],
	[['admin'], '--set=strategy=l', ['--set=strategy=lru']],
	[['admin', '--set', 'strategy=lru'], '--se', ['--set']],
	[['top', '--interval'], '', ['1s', '2s', '5s', '10s']],
	[['reserve', '--force=x'], '--nonb', ['--nonblock']],
	[['completion'], '', ['bash', 'zsh', 'fish']],
	[['completion', 'bash'], '', []],
	[['help'], 'ex', ['extend']],
	[['help', 'extend'], '', []],
	[['run', '-g', '2'], '--n', ['--nvlink', '--note', '--nonblock', '--notify', '--numa', '--no-color']],
	[['run', '--', '--'], '', ['command']],
	[['--'], '', []],
	[['status', '--'], '', []],
	[['constructor'], '', []],
	[['run', '--gpu-memory'], '4', ['40G', '48G']],
	[['run'], '--strategy=p', ['--strategy=pack']],
	[['status', '--__proto__'], '--js', ['--json']],
])('completeWords after %j completes %j to %j', async (before, word, words) => {
	expect(await offered(before, word)).toEqual(words);
});

test.each([
	'-oProxyCommand=x',
	'$(reboot)',
	'a b',
	"it's",
	'x;y',
	'~root',
	'*',
	'a\nb',
	'\u{1B}[31m',
	'',
	'`id`',
	'!!',
	'#',
])('candidatesOf never offers a label or host name that a shell could misread: %j', (name) => {
	const requester = {account: 'alice', uid: 1, label: 'alice'};
	const audit = [{id: '1', time: 0, kind: 'granted', gpus: [], account: 'alice', label: name}] as const;
	const snapshot = {now: 0, gpus: [], queue: [], drains: new Map(), alerts: [], lastUsed: new Map()};
	const known = {requester, audit, hosts: [name], snapshot: snapshot as never};
	expect(candidatesOf('labels', known)).toEqual([]);
	expect(candidatesOf('hosts', known)).toEqual([]);
	expect(candidatesOf('users', known)).toEqual([{word: 'alice', about: undefined}]);
});

test('--complete mcp --config offers clients, not files', async () => {
	expect(await answer('bash', 'mcp', '--config', 'cl')).toContain('claude');
});

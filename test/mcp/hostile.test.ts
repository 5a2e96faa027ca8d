/** Wrong and hostile input: an error with a message and a hint, and nothing held afterwards. */
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import fc from 'fast-check';
import {expect, onTestFinished, test} from 'vitest';
import {parseInput} from '../../source/mcp/input.js';
import {wantedOf} from '../../source/mcp/tools/request.js';
import {tools} from '../../source/mcp/tools/index.js';
import {CanhazgpuError} from '../../source/errors.js';
import {directoryOf, isRoot, mallory, runAs} from '../_helpers/machine/accounts.js';
import {starter, starterText} from '../_helpers/program/cli.js';
import {freshEmbeddedBox, freshRedisBox, holders, peek} from '../_helpers/program/processes.js';
import {eventually} from '../_helpers/eventually.js';
import {slowTest} from '../_helpers/slow.js';
import {startRedis} from '../_helpers/store/redis-server.js';
import {connect, expectError} from './_client.js';

const escapes = '\u{1B}[2J\u{1B}]0;owned\u{7}\u{9B}31m\u{202E}';

const wrong: ReadonlyArray<readonly [tool: string, input: Readonly<Record<string, unknown>>, words: RegExp]> = [
	['gpu_walk', {}, /^There is no tool "gpu_walk"\. The tools are: gpu_status, /v],
	[escapes, {}, /^There is no tool ""\. /v],
	['gpu_status', {verbose: true}, /^gpu_status has no field "verbose"\. It takes no fields\.$/v],
	['gpu_reserve', {[escapes]: 1}, /^gpu_reserve has no field ".*"\. Its fields are: count, /v],
	['gpu_reserve', {count: '2'}, /^gpu_reserve: count: Invalid type: Expected number but received "2"\. /v],
	['gpu_reserve', {count: 1.5}, /^gpu_reserve: count: /v],
	['gpu_reserve', {count: 0}, /^gpu_reserve: count: /v],
	['gpu_reserve', {count: 1e9}, /^gpu_reserve: count: /v],
	['gpu_reserve', {count: 5}, /^Cannot reserve 5 GPUs: the pool has 1\. /v],
	['gpu_reserve', {gpu_ids: [7]}, /^GPU 7 is out of range\. The pool has 1 GPU\(s\): the only id is 0\.$/v],
	['gpu_reserve', {gpu_ids: [-1]}, /^gpu_reserve: gpu_ids\.0: Invalid value: Expected >=0 but received -1\. /v],
	['gpu_reserve', {gpu_ids: []}, /^gpu_reserve: gpu_ids: /v],
	['gpu_reserve', {gpu_ids: '0'}, /^gpu_reserve: gpu_ids: /v],
	['gpu_reserve', {duration: '0'}, /^duration: "0" is not a duration\. /v],
	['gpu_reserve', {duration: '0s'}, /^duration must be more than zero, not "0s"\. /v],
	['gpu_reserve', {duration: '0.5s'}, /^duration: "0\.5s" is less than a second\. Write 30s, /v],
	['gpu_run', {command: ['true'], timeout: '0.5s'}, /^timeout: "0\.5s" is less than a second\. /v],
	['gpu_reserve', {duration: '36500d'}, /^Agents may hold GPUs for at most 30d at a time\. /v],
	['gpu_reserve', {duration: '36500d', detached: true}, /^Agents may hold GPUs for at most 30d at a time\. /v],
	['gpu_reserve', {duration: '99999d'}, /^duration: "99999d" is longer than a hundred years\. /v],
	[
		'gpu_reserve',
		{note: escapes.repeat(50_000)},
		/^gpu_reserve: note: Invalid length: Expected <=4096 but received \d+\. /v,
	],
	['gpu_reserve', {note: 'x'.repeat(501)}, /^The note has 501 characters, but the limit is 500\. Shorten it\.$/v],
	['gpu_reserve', {wait_seconds: -1}, /^gpu_reserve: wait_seconds: /v],
	['gpu_renew', {}, /^This connection holds no reservation\. /v],
	['gpu_renew', {lease_id: '../x'}, /^gpu_renew: lease_id: It must be a lease_id/v],
	['gpu_renew', {lease_id: 'abc'}, /^That reservation has already ended\. Nothing was changed\.$/v],
	['gpu_release', {lease_id: 'abc'}, /^That reservation has already ended\. Nothing was changed\.$/v],
	['gpu_report', {by: 'mood'}, /^gpu_report: by: /v],
	['gpu_report', {days: 0}, /^gpu_report: days: /v],
];

test('mcp answers invalid tool arguments with an error and a hint, and reserves nothing', async () => {
	const box = await freshEmbeddedBox(1);
	const agent = await connect(box);
	for (const [tool, input, words] of wrong) {
		const answer = await agent.call(tool, input);
		const about = `${tool} ${JSON.stringify(input).slice(0, 60)}`;
		expectError(answer, words, about);
		expect(answer.words, about).not.toMatch(/\p{Control}/v);
		expect(answer.words.length, about).toBeLessThan(600);
	}

	expect(await holders(box)).toBe('0:-');
	expect((await peek(box)).queue).toEqual([]);
	expect(await agent.call('gpu_reserve')).toMatchObject({isError: false});
	expect(agent.stderr()).toBe('');
});

test('a tool that is called with arbitrary arguments throws only errors with a hint', () => {
	const value = fc.oneof(fc.anything({maxDepth: 2}), fc.constantFrom('8G', '1h', '0:1', 'h100', 0, 1, true));
	const reserve = tools.find(({name}) => name === 'gpu_reserve')!;
	const fields = [
		'count',
		'gpu_ids',
		'min_memory',
		'models',
		'min_compute',
		'nvlink',
		'mixed',
		'share',
		'mig',
		'duration',
		'x',
	];
	fc.assert(
		fc.property(fc.dictionary(fc.constantFrom(...fields), value), (input) => {
			try {
				wantedOf(parseInput(reserve, input) as Parameters<typeof wantedOf>[0]);
			} catch (error) {
				expect(error).toBeInstanceOf(CanhazgpuError);
				const {code, hint} = error as CanhazgpuError;
				expect([code, hint]).toEqual(['usage', expect.stringMatching(/./v)]);
			}
		}),
	);
});

test('mcp survives lines on stdin that are not protocol messages', async () => {
	const box = await freshEmbeddedBox(1);
	const server = spawn(starter, [...starterText, 'mcp'], {cwd: box.home, env: {...box.environment}});
	const ended = once(server, 'close');
	let [stdout, stderr] = ['', ''];
	server.stdout.setEncoding('utf8').on('data', (data: string) => {
		stdout += data;
	});
	server.stderr.setEncoding('utf8').on('data', (data: string) => {
		stderr += data;
	});
	server.stdin.write(
		`not JSON ${escapes}\n{}\n[]\nnull\n{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}\n`,
	);
	server.stdin.write('{"jsonrpc":"2.0","id":2,"method":"tools/list"}\n');
	await eventually(() => stdout.includes('"id":2'));
	expect(stdout).toContain('"id":1,"error"');
	expect(stderr).not.toMatch(/[[\p{Control}\p{Format}]--\n]/v);
	server.stdin.end();
	expect(await ended).toEqual([0, null]);
});

slowTest('mcp answers gpu_status and gpu_reserve with an error while the pool is unreachable', async () => {
	const box = await freshEmbeddedBox(1);
	await box.run('admin --gpus 1 --force');
	const agent = await connect({
		...box,
		environment: {...box.environment, CANHAZGPU_STORE: 'redis', CANHAZGPU_REDIS_PORT: '1'},
	});
	expectError(await agent.call('gpu_status'), /localhost:1/v);
	expect(await agent.call('gpu_reserve')).toMatchObject({isError: true});
});

test.runIf(isRoot)('an agent cannot renew or release a reservation of another account, not even as root', async () => {
	const redis = await startRedis();
	onTestFinished(async () => redis.stop());
	const box = await freshRedisBox(redis.port, 2);
	const environment = {
		...box.environment,
		HOME: directoryOf(mallory),
		XDG_CACHE_HOME: directoryOf(mallory),
		CANHAZGPU_POOL_DIRECTORY: directoryOf(mallory),
	};
	const theirs = await runAs(mallory, ['reserve', '--json'], {cwd: '/', environment});
	const {lease_id: id} = JSON.parse(theirs.stdout) as {readonly lease_id: string};
	const agent = await connect(box);
	for (const [tool, input] of [
		['gpu_release', {lease_id: id}],
		['gpu_renew', {lease_id: id, duration: '2h'}],
	] as const) {
		expectError(await agent.call(tool, input), /^That reservation belongs to .*61002.*\. Nothing was changed\. /v);
	}

	expect(await holders(box)).toBe('0:MANUAL 1:-');
});

/** `canhazgpu events`, with outages of the store and readers that leave. */
import {spawn, type ChildProcess} from 'node:child_process';
import {once} from 'node:events';
import {readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {createEmbeddedBox, createRedisBox, starter, starterText, type Box} from '../../_helpers/program/cli.js';
import {eventually} from '../../_helpers/eventually.js';
import {redisOfFile} from '../../_helpers/store/redis-of-file.js';
import {startRedis} from '../../_helpers/store/redis-server.js';
import {firstCase, slowTest} from '../../_helpers/slow.js';

const redis = redisOfFile({isDurable: true});

/** Removes times and the account. */
const still = (output: string): readonly string[] =>
	output
		.trim()
		.split('\n')
		.map((line) => line.replace(/^[\d:]+ \S+ /v, '').replace(/^[\d:]+ the time of \S+ /v, 'the time '));

type Follower = {readonly child: ChildProcess; readonly output: () => string; readonly errors: () => string};

function follow(box: Box, ...flags: readonly string[]): Follower {
	const child = spawn(starter, [...starterText, 'events', '--follow', ...flags], {
		cwd: box.home,
		env: box.environment,
		stdio: ['ignore', 'pipe', 'pipe'],
	});
	onTestFinished(() => {
		child.kill('SIGKILL');
	});
	let output = '';
	let errors = '';
	child.stdout.on('data', (chunk: Uint8Array) => {
		output += new TextDecoder().decode(chunk);
	});
	child.stderr.on('data', (chunk: Uint8Array) => {
		errors += new TextDecoder().decode(chunk);
	});
	return {child, output: () => output, errors: () => errors};
}

describe.each(
	firstCase([
		['redis', async () => createRedisBox(redis.port, 2)],
		['embedded', async () => createEmbeddedBox(2)],
	]),
)('with the %s store', (_, create) => {
	let box: Box;
	beforeAll(async () => {
		box = await create();
	});
	afterAll(() => {
		box.remove();
	});

	test('events lists an event for each reserve, extend, release and run', async () => {
		await box.run('reserve --gpus 2 --duration 1h30m --note train');
		await box.run('reserve --nonblock');
		await box.run('reserve --wait 2s --gpu-ids 1');
		await box.run('extend --duration 2h');
		await box.run('release --gpu-ids 0');
		await box.run('run -- false');
		const {stdout, exitCode} = await box.run('events');
		expect(exitCode).toBe(0);
		expect(still(stdout)).toEqual([
			'created the pool: 2 GPUs (fake)',
			'got GPUs 0,1 for 1h30m · train',
			'asked for 1 GPU and got nothing: 0 available',
			'joined the queue for GPU 1',
			'gave up waiting for GPU 1',
			expect.stringMatching(/^extended GPUs 0,1: 3h29m\d+s left · train$/v),
			'released GPU 0 · train',
			'got GPU 0',
			'no longer has GPU 0: the job ended',
		]);
		const {stdout: json} = await box.run('events --json --since 1h');
		expect((JSON.parse(json) as ReadonlyArray<Record<string, unknown>>).map(({kind}) => kind)).toEqual([
			'pool',
			'granted',
			'refused',
			'joined',
			'refused',
			'extended',
			'released',
			'granted',
			'ended',
		]);
		expect(await box.run('events --user nobody')).toEqual({
			exitCode: 0,
			stdout: '',
			stderr: 'No events were found\n',
		});
	});

	slowTest('events shows the old value when a drain reason or the size of the pool changes', async () => {
		const own = await create();
		onTestFinished(own.remove);
		await own.run(['admin', '--drain', '0,1', '--reason', 'fan']);
		await own.run(['admin', '--drain', '1', '--reason', 'dust']);
		await own.run(['admin', '--undrain', '0,1']);
		await own.run('admin --gpus 3 --provider fake --force');
		await own.run('admin --gpus 3 --provider fake --force');
		// Another account may have owned the pool before.
		const changes = 5;
		expect(still((await own.run('events')).stdout).slice(-changes)).toEqual([
			'took GPUs 0,1 out of service: fan',
			'took GPU 1 out of service: dust, which was already out of service: fan',
			'put GPUs 0,1 back into service, which was already out of service: fan; dust',
			'recreated the pool: from 2 GPUs (fake) to 3 GPUs (fake)',
			'recreated the pool: 3 GPUs (fake), as before',
		]);
		const events = JSON.parse((await own.run('events --json')).stdout) as ReadonlyArray<Record<string, unknown>>;
		expect(events.slice(-changes)).toMatchObject([
			{kind: 'drained', reason: 'fan'},
			{kind: 'drained', reason: 'dust', before: {reason: 'fan'}},
			{kind: 'undrained', before: {reason: 'fan; dust'}},
			{kind: 'pool', reason: 'remade', count: 3, provider: 'fake', before: {count: 2, provider: 'fake'}},
			{kind: 'pool', before: {count: 3, provider: 'fake'}},
		]);
		expect('before' in events.at(-changes)!).toBe(false);
	});

	slowTest('events --follow prints each event at once, including the expiry of a reservation', async () => {
		const {output} = follow(box, '--since', '1s', '--json');
		await eventually(async () => {
			await box.run('reserve --duration 1s --gpu-ids 0 --note again');
			return output().includes('"granted"');
		});
		await eventually(() => output().includes('"expired"'));
		for (const line of output().trim().split('\n')) {
			expect(JSON.parse(line)).toMatchObject({host: expect.any(String) as string});
		}
	});
});

slowTest('events --follow --since 1s prints only new events if none happened in the last second', async () => {
	const box = await createEmbeddedBox(2);
	onTestFinished(box.remove);
	const made = (JSON.parse((await box.run('events --json')).stdout) as ReadonlyArray<{time: string}>).at(-1)!;
	await eventually(() => Date.now() > Date.parse(made.time) + 1000);
	const {output} = follow(box, '--since', '1s');
	await eventually(async () => {
		await box.run('reserve --nonblock');
		return output() !== '';
	});
	expect(still(output())[0]).toMatch(/^got GPU \d/v);
});

describe('events --follow', () => {
	slowTest('survives a restart of Redis without missing an event', async () => {
		const box = await createRedisBox(redis.port, 2);
		const {child, output, errors} = follow(box, '--json');
		await eventually(() => output().includes('the pool'));
		await redis.kill();
		await eventually(() => errors().includes('Still trying'));
		await redis.restart();
		await box.run('reserve --duration 1h --note after');
		await eventually(() => output().includes('· after'));
		const ids = output().match(/"id":"[^"]+"/gv)!;
		expect(new Set(ids).size).toBe(ids.length);
		expect(errors().trim().split('\n')).toHaveLength(1);
		child.kill('SIGINT');
		const [code, signal] = (await once(child, 'exit')) as [number | undefined, string | undefined];
		expect(code ?? signal).toBe('SIGINT');
		box.remove();
	});

	slowTest('prints new events, and no event twice, after an older copy of the embedded pool was restored', async () => {
		const box = await createEmbeddedBox(2);
		onTestFinished(box.remove);
		const file = path.join(box.poolDirectory, 'pool.sqlite');
		const older = readFileSync(file);
		const {output} = follow(box, '--json');
		await eventually(() => output().includes('the pool'));
		await box.run('reserve --duration 1h --note lost');
		await box.run('release');
		await eventually(() => output().includes('"released"'));
		writeFileSync(file, older);
		await box.run('reserve --duration 1h --note after');
		await eventually(() => output().includes('· after'));
		const ids = output().match(/"id":"[^"]+"/gv)!;
		expect(new Set(ids).size).toBe(ids.length);
	});

	slowTest('exits with 0 and without a message when the reader of its output has gone', async () => {
		const box = await createRedisBox(redis.port, 2);
		const {child, output, errors} = follow(box);
		await eventually(() => output().includes('the pool'));
		child.stdout!.destroy();
		const ended = once(child, 'exit');
		await box.run('reserve --duration 1h');
		expect(await ended).toEqual([0, null]);
		expect(errors()).toBe('');
		box.remove();
	});
});

slowTest('events exits with 2 for invalid arguments and with 4 if Redis is unreachable', async () => {
	const server = await startRedis();
	const box = await createRedisBox(server.port, 1);
	expect(await box.run('events --since yesterday')).toMatchObject({
		exitCode: 2,
		stderr: expect.stringContaining('Error: --since: "yesterday" is not a time') as string,
	});
	expect(await box.run('events --since 90')).toMatchObject({exitCode: 2});
	expect(await box.run('events now')).toMatchObject({exitCode: 2});
	await server.kill();
	const answers = await Promise.all(['events', 'events --follow'].map(async (command) => box.run(command)));
	for (const answer of answers) {
		expect(answer).toMatchObject({exitCode: 4, stdout: '', stderr: expect.stringMatching(/^Error: .+/v) as string});
	}

	await server.stop();
	box.remove();
});

test('admin --force in another store records the former location of the pool', async () => {
	const box = await createEmbeddedBox(2);
	onTestFinished(box.remove);
	const elsewhere = {CANHAZGPU_STORE: 'redis', CANHAZGPU_REDIS_PORT: String(redis.port), CANHAZGPU_REDIS_DB: '3'};
	expect(await box.run('admin --gpus 2 --provider fake --force', elsewhere)).toMatchObject({exitCode: 0});
	const {stdout} = await box.run('events', elsewhere);
	expect(still(stdout)).toEqual([`created the pool, which was in ${box.poolDirectory}: 2 GPUs (fake)`]);
});

slowTest('events -n shows only the newest events, also when combined with --user or --since', async () => {
	const box = await createEmbeddedBox(2);
	onTestFinished(box.remove);
	for (const note of ['a', 'b', 'c']) {
		await box.run(['reserve', '--note', note, '--user', note === 'b' ? 'team' : 'others']);
		await box.run('release --user team');
		await box.run('release --user others');
	}

	const notes = async (words: string) => {
		const {stdout, exitCode} = await box.run(`events --json ${words}`);
		expect(exitCode).toBe(0);
		return (JSON.parse(stdout) as ReadonlyArray<{kind: string; note?: string}>).map(
			({kind, note}) => `${kind} ${note}`,
		);
	};

	expect(await notes('-n2')).toEqual(['granted c', 'released c']);
	expect(await notes('-n 1 --user team')).toEqual(['released b']);
	expect(await notes('--count 3 --since 1h')).toEqual(['released b', 'granted c', 'released c']);
	const since = new Date(Date.now() - 3_600_000).toISOString().slice(0, 16);
	expect(await notes(`-n 1 --since ${since}`)).toEqual(['released c']);
	for (const wrong of ['0', '-1', 'x', '10001']) {
		expect(await box.run(['events', '-n', wrong])).toMatchObject({
			exitCode: 2,
			stdout: '',
			stderr: `Error: --count must be a whole number from 1 to 10000, not "${wrong}"\n`,
		});
	}
});

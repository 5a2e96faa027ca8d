/** Idle reservations with real stores and processes. */
import {existsSync, readFileSync, writeFileSync} from 'node:fs';
import {userInfo} from 'node:os';
import path from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {Redis} from 'ioredis';
import {describe, expect, onTestFinished, test} from 'vitest';
import {emptyPlan} from '../../source/core/model/plan.js';
import {startRedis} from '../_helpers/store/redis-server.js';
import {redisOfFile} from '../_helpers/store/redis-of-file.js';
import {firstCase, isLong, slowTest} from '../_helpers/slow.js';
import {createBox} from '../_helpers/program/cli.js';
import {embeddedGround, redisGround} from '../_helpers/program/kill-grounds.js';
import {freshEmbeddedBox, openStoreOf, peek, recordsOf, start} from '../_helpers/program/processes.js';
import {eventually} from '../_helpers/eventually.js';
import {createIdleBox, holdIdle, outcomeOf} from './_idle-box.js';

const redis = redisOfFile();

const otherMistakes = [
	['admin --set idle.after=-1h', 'idle.after must be off, or a duration from 5m to 30d, not "-1h"'],
	['admin --set idle.after=99999d', 'idle.after must be off, or a duration from 5m to 30d, not "99999d"'],
	['admin --set idle.grace=1m', 'idle.grace must be a duration from 5m to 30d, not "1m"'],
	['admin --set idle.grace=never', 'idle.grace must be a duration from 5m to 30d, not "never"'],
	['admin --set idle.when=allways', 'idle.when must be wanted or always, not "allways"'],
	['admin --set idle.when=never', 'idle.when must be wanted or always, not "never"'],
	['admin --set idle.keep-max=1m', 'idle.keep-max must be a duration from 30m to 30d, not "1m"'],
	['reserve --keep 5', '--keep: "5" has no unit'],
	['reserve --keep -1h', '--keep: "-1h" is not a duration'],
	['reserve --keep 1h --pid 1', 'Give --keep or --pid, not both'],
];

const stores = firstCase<readonly [string, () => number | undefined]>([
	['redis', () => redis.port],
	['embedded', () => undefined],
]);

describe.each(stores)('with the %s store', (_, portOf) => {
	slowTest('several running `keep` commands together warn and reclaim only once', async () => {
		const {box} = await createIdleBox(portOf());
		const keepers = Array.from({length: isLong ? 10 : 3}, () => start(box, 'keep'));
		await Promise.all(
			keepers.map(async (keeper) =>
				eventually(() => keeper.stdout().startsWith('Owners of GPUs that are idle for 5m get a warning')),
			),
		);
		await holdIdle(box);
		await eventually(async () => (await outcomeOf(box)).kinds.includes('idle'));
		await holdIdle(box, {warned: -300, deadline: 2});
		await eventually(async () => (await outcomeOf(box)).kinds.includes('ended reclaimed'));
		for (const keeper of keepers) {
			keeper.kill('SIGTERM');
		}

		for (const {ended} of keepers) {
			expect(await ended).toMatchObject({exitCode: 0, stderr: ''});
		}

		expect(await outcomeOf(box)).toEqual({kinds: ['idle', 'ended reclaimed'], gpus: ['free', 'free']});
		expect((await recordsOf(box)).map(({gpuId, endReason}) => [gpuId, endReason])).toEqual([
			[0, 'reclaimed'],
			[1, 'reclaimed'],
		]);
	});

	slowTest('a waiting request gets idle GPUs at the deadline, even if keep does not run', async () => {
		const {box} = await createIdleBox(portOf());
		expect(await box.run('admin --set idle.when=wanted')).toMatchObject({exitCode: 0});
		const deadline = await holdIdle(box, {warned: -300, deadline: 8});
		const waiter = start(box, 'reserve --gpus 2 --duration 1h --json');
		const {exitCode, stdout} = await waiter.ended;
		expect(exitCode).toBe(0);
		const {since, gpu_ids: gpus} = JSON.parse(stdout) as {since: string; gpu_ids: number[]};
		expect(gpus).toEqual([0, 1]);
		// The start of a reservation is rounded down to whole seconds.
		const late = new Date(since).getTime() / 1000 - deadline;
		expect(late).toBeGreaterThanOrEqual(0);
		expect(late).toBeLessThanOrEqual(5);
	});

	test('keep returns no GPU that is used during the grace period', async () => {
		const {box, use} = await createIdleBox(portOf());
		await use(4, 9000);
		await holdIdle(box, {warned: -300, deadline: -1});
		const keeper = start(box, 'keep');
		await eventually(async () => (await outcomeOf(box)).kinds.length > 0);
		keeper.kill('SIGINT');
		expect((await keeper.ended).exitCode).toBe(0);
		expect(await outcomeOf(box)).toEqual({kinds: ['idle used'], gpus: ['leased', 'leased']});
	});
});

slowTest('keep continues after an outage of the store', async () => {
	const server = await startRedis({isDurable: true});
	try {
		const {box} = await createIdleBox(server.port);
		const keeper = start(box, 'keep');
		await eventually(() => keeper.stdout() !== '');
		await server.kill();
		await keeper.says(/The store cannot be reached/v);
		await sleep(1000);
		await server.restart();
		await keeper.says(/The store can be reached again/v);
		await holdIdle(box, {warned: -300, deadline: 2});
		// The idle time starts again, because no process scanned the GPUs in the meantime.
		await eventually(async () => (await outcomeOf(box)).kinds.includes('idle unknown'));
		keeper.kill('SIGTERM');
		expect((await keeper.ended).exitCode).toBe(0);
	} finally {
		await server.stop();
	}
});

test('keep waits until Redis has a pool', async () => {
	const server = await startRedis();
	const box = createBox({CANHAZGPU_REDIS_HOST: '127.0.0.1', CANHAZGPU_REDIS_PORT: String(server.port)});
	onTestFinished(async () => {
		box.remove();
		await server.stop();
	});
	const keeper = start(box, 'keep');
	await keeper.says(/Redis has no GPU pool yet\. Waiting for it\./v);
	expect(await box.run('admin --gpus 2 --provider fake')).toMatchObject({exitCode: 0});
	await eventually(() => keeper.stdout().startsWith('Idle GPUs do not go back to the pool until'));
	keeper.kill('SIGTERM');
	expect((await keeper.ended).exitCode).toBe(0);
});

test('keep exits with 4 and a hint if Redis requires a password, instead of waiting', async () => {
	const server = await startRedis({settings: ['--requirepass', 'secret']});
	const box = createBox({CANHAZGPU_REDIS_HOST: '127.0.0.1', CANHAZGPU_REDIS_PORT: String(server.port)});
	onTestFinished(async () => {
		box.remove();
		await server.stop();
	});
	for (const [password, problem, hint] of [
		['', 'requires a password', 'Set redis.password or redis.password_file.'],
		['wrong', 'refused the password', 'Check redis.password or redis.password_file, and redis.username.'],
	] as const) {
		expect(await start(box, 'keep', {CANHAZGPU_REDIS_PASSWORD: password}).ended).toMatchObject({
			exitCode: 4,
			stderr: `Error: Redis at 127.0.0.1:${server.port} ${problem}\n${hint}\n`,
		});
	}
});

test.each([
	['a changed password', [], ['<secret', '>other'], 'refused the password'],
	['a missing permission', [], ['-mget'], 'does not give this account all the permissions that canhazgpu needs'],
	['missing channels', ['resetchannels'], [], 'does not give this account all the permissions that canhazgpu needs'],
])('keep and web exit with 4 because of %s', async (_, before, after, problem) => {
	const server = await startRedis();
	const client = new Redis(server.port);
	onTestFinished(async () => {
		client.disconnect();
		await server.stop();
	});
	const {box} = await createIdleBox(server.port);
	await client.call('ACL', 'SETUSER', 'pool', 'on', '>secret', '~*', '&*', '+@all', ...before);
	const credentials = {CANHAZGPU_REDIS_USERNAME: 'pool', CANHAZGPU_REDIS_PASSWORD: 'secret'};
	const services = [start(box, 'keep', credentials), start(box, 'web --port 0', credentials)];
	if (after.length > 0) {
		await Promise.all(services.map(async (service) => eventually(() => service.stdout() !== '')));
		await client.call('ACL', 'SETUSER', 'pool', ...after);
		await client.call('CLIENT', 'KILL', 'USER', 'pool');
	}

	for (const {ended} of services) {
		const {exitCode, stderr} = await ended;
		expect(exitCode).toBe(4);
		expect(stderr).toContain(`Error: Redis at 127.0.0.1:${server.port} ${problem}\n`);
	}
});

test('keep says once that the GPUs cannot be read', async () => {
	const {box, stub} = await createIdleBox(undefined);
	await stub.answer({gpus: {exitCode: 9, stderr: 'no driver'}});
	const keeper = start(box, 'keep');
	await keeper.says(/^The GPUs cannot be read, so idle ones do not go back: .*driver/v);
	keeper.kill('SIGTERM');
	expect((await keeper.ended).exitCode).toBe(0);
});

test('keep names the damaged part of the policy', async () => {
	const {box} = await createIdleBox(undefined);
	const store = await openStoreOf(box);
	const {policy} = await store.read();
	const damaged = new Map([...policy, ['idle.grace', {value: 'banana', since: 0}]]);
	await store.commit({...emptyPlan, writes: [{kind: 'policy', policy: damaged}]});
	const keeper = start(box, 'keep');
	await eventually(() => keeper.stdout() !== '');
	keeper.kill('SIGTERM');
	const {stdout} = await keeper.ended;
	expect(stdout).toMatch(
		/^Idle GPUs do not go back to the pool, because the policy is damaged: idle\.grace: .*\n.*--set idle\.grace=VALUE\n/v,
	);
});

test('extend says that an idle reservation still goes back', async () => {
	const {box} = await createIdleBox(undefined);
	const account = userInfo().username;
	await holdIdle(box, {warned: -300, deadline: 600}, account);
	const {stdout, stderr} = await box.run('extend --duration 1h');
	expect(stdout.match(/expires in \d+h \d+m \d+s, but idle, goes back at \d\d:\d\d unless used$/gmv)).toHaveLength(2);
	expect(stderr).toBe('To keep the idle GPUs: canhazgpu extend --keep 30m\n');
	const json = JSON.parse((await box.run('extend --duration 1h --json')).stdout) as {
		extended: Array<Record<string, unknown>>;
	};
	expect(json.extended[0]).toHaveProperty('reclaim_at');
	expect(await box.run('extend --keep 1h')).toMatchObject({
		stdout: expect.not.stringContaining('goes back') as string,
		stderr: '',
	});
});

test('a reservation is not shown as kept beyond its end', async () => {
	const box = await freshEmbeddedBox(1);
	expect((await box.run('reserve -d 10m --keep 30m')).stdout).toMatch(
		/^Reserved 1 GPU\(s\): \[0\] for 0h 10m 0s, kept for all this time even if idle\n/v,
	);
	const [row] = JSON.parse((await box.run('status --json')).stdout) as Array<Record<string, string>>;
	// The end is rounded up to whole seconds.
	expect(Date.parse(row!['keep_until']!) - Date.now()).toBeLessThanOrEqual(601_000);
});

test('status --follow sends reminders', async () => {
	const box = await freshEmbeddedBox(1);
	const told = path.join(box.home, 'told');
	const program = path.join(box.home, 'tell');
	writeFileSync(program, `#!/bin/sh\ncat > '${told}'\n`, {mode: 0o755});
	writeFileSync(path.join(box.home, '.canhazgpu.json'), JSON.stringify({notify: {to: [`exec:${program}`]}}), {
		mode: 0o600,
	});
	// A reminder is due ten minutes before the end.
	expect((await box.run('reserve -d 601s')).exitCode).toBe(0);
	const follower = start(box, 'status --follow --json');
	await eventually(() => existsSync(told) && readFileSync(told, 'utf8').includes('ends in'), 20_000);
	follower.kill('SIGTERM');
	await follower.ended;
});

slowTest('keep ends after the pool was moved to another store, so that its service uses the new location', async () => {
	const {box} = await createIdleBox(undefined);
	const keeper = start(box, 'keep');
	await eventually(() => keeper.stdout() !== '');
	const move = `admin --store redis --redis-port ${redis.port} --gpus 2 --provider nvidia --force`;
	expect(await box.run(move, {CANHAZGPU_STORE: ''})).toMatchObject({exitCode: 0});
	const {exitCode, stderr} = await keeper.ended;
	expect(exitCode).toBe(4);
	expect(stderr).toMatch(/^Error: The pool that was in \S+ is in redis \S+ now\nRestart programs/v);
});

const killPoints: ReadonlyArray<readonly ['embedded' | 'redis', number]> = isLong
	? [
			...Array.from({length: 20}, (_, index) => ['embedded', 10 * index + 5] as const),
			...Array.from({length: 16}, (_, index) => ['redis', 2 * index + 1] as const),
		]
	: [['embedded', 60]];

test.each(killPoints)(
	'with the %s store, the GPUs are reclaimed once even if keep is killed at its store call %d',
	async (kind, at) => {
		const redisServer = kind === 'redis' ? await redisGround() : undefined;
		const ground = redisServer ?? embeddedGround;
		const {box} = await createIdleBox(redisServer?.port);
		await holdIdle(box, {warned: -300, deadline: -1});
		const killed = ground.startKilled(box, ['keep'], at);
		await eventually(async () => killed.child.signalCode !== null || (await outcomeOf(box)).kinds.length > 0);
		killed.kill('SIGKILL');
		await killed.ended;
		const next = start(box, 'keep');
		await eventually(async () => (await outcomeOf(box)).gpus.includes('free'));
		next.kill('SIGTERM');
		await next.ended;
		expect(await outcomeOf(box)).toEqual({kinds: ['ended reclaimed'], gpus: ['free', 'free']});
		expect(await recordsOf(box)).toHaveLength(2);
	},
);

slowTest('doctor warns if the policy has idle.after and no running command returns idle GPUs', async () => {
	const box = await freshEmbeddedBox(2);
	expect((await box.run('doctor')).stdout).not.toContain('idle');
	await box.run('admin --set idle.after=1h');
	expect((await box.run('doctor')).stdout).toContain(
		'⚠ pool        idle.after is set, but no monitor, dashboard or canhazgpu keep is watching the GPUs, so idle GPUs may not go back\n' +
			'              To watch them all the time: sudo systemctl enable --now canhazgpu-keep, or run canhazgpu keep\n',
	);
	const keeper = start(box, 'keep');
	await eventually(async () =>
		(await box.run('doctor')).stdout.includes('✓ pool        idle GPUs go back to the pool: '),
	);
	keeper.kill('SIGTERM');
	await keeper.ended;
});

test.each([
	['admin --set idle.after=1m', 'idle.after must be off, or a duration from 5m to 30d, not "1m"'],
	['reserve --keep 20h', '--keep can be at most 12h in this pool'],
	['extend --keep 0h', '--keep must be more than zero, not "0h"'],
	...(isLong ? otherMistakes : []),
])('%s exits with 2, names the mistake and changes nothing', async (words, message) => {
	const box = await freshEmbeddedBox(2);
	const before = await peek(box);
	const {exitCode, stderr, stdout} = await box.run(words);
	expect({exitCode, stdout}).toEqual({exitCode: 2, stdout: ''});
	expect(stderr).toContain(`Error: ${message}\n`);
	const after = await peek(box);
	expect([after.policy, after.gpus, after.queue]).toEqual([before.policy, before.gpus, before.queue]);
});

/** The Redis store during restarts, outages and overload of its server. */
import process from 'node:process';
import {setImmediate as nextTurn, setTimeout as sleep} from 'node:timers/promises';
import {Redis} from 'ioredis';
import {afterAll, afterEach, beforeAll, beforeEach, describe, expect, test} from 'vitest';
import type {Store} from '../../../source/core/model/ports.js';
import type {PoolEvent} from '../../../source/core/model/types.js';
import {openRedisStore} from '../../../source/store/redis/index.js';
import {eventually} from '../../_helpers/eventually.js';
import {startRedis, type RedisServer} from '../../_helpers/store/redis-server.js';
import {timed} from '../../_helpers/program/timed.js';
import {slowTest} from '../../_helpers/slow.js';
import {leaseOn, leaseWrite, plan, poolWrite, write} from '../samples.js';

const host = '127.0.0.1';
describe('the connection to Redis', () => {
	let server: RedisServer;
	let client: Redis;
	let store: Store;
	beforeAll(async () => {
		server = await startRedis({isDurable: true, settings: ['--busy-reply-threshold', '50']});
	});
	beforeEach(async () => {
		await server.restart();
		client = new Redis({host, port: server.port, retryStrategy: () => 20});
		client.on('error', () => undefined);
		await client.flushall();
		store = await openRedisStore({host, port: server.port, db: 0, keepReconnecting: true});
	});
	afterEach(async () => {
		await store.close();
		client.disconnect();
	});
	afterAll(async () => {
		await server.stop();
	});

	const listen = async () => {
		const heard: Array<PoolEvent | string | undefined> = [];
		const stop = await store.subscribe({
			changed(event) {
				heard.push(event);
			},
			lost(reason) {
				heard.push(`lost: ${reason}`);
			},
			restored() {
				heard.push('restored');
			},
		});
		return {heard, stop};
	};

	test('sends one request for a read, and one request for a commit', async () => {
		// By now the other connections have finished their own requests.
		await store.read();
		await client.config('RESETSTAT');
		const fresh = await openRedisStore({host, port: server.port, db: 0, keepReconnecting: false});
		await fresh.read({user: 'alice'});
		await write(fresh, poolWrite(1));
		await fresh.read();
		await write(fresh, poolWrite(1), leaseWrite(0));
		const statistics = await client.info('commandstats');
		const calls = (command: string) =>
			new RegExp(String.raw`^cmdstat_${command}:calls=(?<calls>\d+)`, 'mv').exec(statistics)?.groups?.['calls'];
		expect([calls('info'), calls('eval'), calls('evalsha')]).toEqual(['1', '2', '2']);
		await fresh.close();
	});

	test('does not report a bug in the program as a lost connection', async () => {
		const mistake = plan({expect: [{kind: 'queue', scope: 'whole', ids: undefined as never}]});
		await expect(store.commit(mistake)).rejects.toBeInstanceOf(TypeError);
		await expect(store.read()).resolves.toMatchObject({pool: undefined});
	});

	test("fails with an error that explains the server's limit of clients", async () => {
		await client.config('SET', 'maxclients', 2);
		const more = async () => {
			const crowded = await openRedisStore({host, port: server.port, db: 0, keepReconnecting: false});
			try {
				return await crowded.read();
			} finally {
				await crowded.close();
			}
		};

		const {ownSeconds, error} = await timed(more());
		const name = `Redis at 127.0.0.1:${server.port}`;
		expect(error).toMatchObject({code: 'store-unreachable'});
		// A server that closes the connection before it has read everything also loses its own last message. A slow server does the same.
		const said = (error as Error).message;
		expect(said === `${name} has too many clients` || said.startsWith(`Cannot reach ${name}: `), said).toBe(true);
		expect(ownSeconds).toBeLessThan(6);
	});

	test('loads its scripts again if the server has lost them', async () => {
		await write(store, poolWrite(1));
		for (let round = 0; round < 5; round++) {
			await client.script('FLUSH');
			expect(await write(store, leaseWrite(0, {note: String(round)}))).toBe('done');
			await client.script('FLUSH');
			expect(leaseOn(await store.read(), 0).note).toBe(String(round));
		}
	});

	test('is reopened for the next request after the server has closed it', async () => {
		await write(store, poolWrite(1));
		for (let round = 0; round < 5; round++) {
			await client.call('CLIENT', 'KILL', 'SKIPME', 'yes');
			expect((await store.read()).pool?.gpuCount).toBe(1);
			await client.call('CLIENT', 'KILL', 'SKIPME', 'yes');
			await sleep(20);
			expect(await write(store, leaseWrite(0, {note: String(round)}))).toBe('done');
		}
	});

	test('carries out a commit at most once if it is closed during the commit', async () => {
		await write(store, poolWrite(1), leaseWrite(0, {note: '0'}));
		for (let round = 1; round <= 30; round++) {
			const {gpus} = await store.read();
			const next = plan({
				expect: [{kind: 'gpu', index: 0, raw: gpus[0]?.raw}],
				writes: [leaseWrite(0, {note: String(round)})],
			});
			const [outcome] = await Promise.all([
				store.commit(next).catch((error: unknown) => error),
				client.call('CLIENT', 'KILL', 'SKIPME', 'yes'),
			]);
			const {note} = leaseOn(await store.read(), 0);
			if (outcome === 'done') {
				expect(note).toBe(String(round));
			} else {
				expect(outcome).toMatchObject({code: 'store-unreachable'});
				expect(note === String(round) || gpus[0]?.raw === (await store.read()).gpus[0]?.raw).toBe(true);
			}
		}

		expect(await write(store, leaseWrite(0, {note: 'last'}))).toBe('done');
		expect(leaseOn(await store.read(), 0).note).toBe('last');
	});

	test('notifies listeners that the server was lost and is back', async () => {
		await write(store, poolWrite(1), leaseWrite(0));
		const before = await store.read();
		const {heard, stop} = await listen();
		await server.restart();
		await eventually(() => heard.includes('restored'));
		expect(heard).toEqual([`lost: Cannot reach Redis at ${host}:${server.port}: the connection was cut`, 'restored']);
		const after = await store.read();
		expect(after.gpus).toEqual(before.gpus);
		expect(after.storeUptimeSeconds).toBeLessThan(5);
		await store.commit(plan({writes: [leaseWrite(0)], event: {kind: 'extended', gpus: [0]}}));
		await eventually(() => heard.length > 2);
		expect(heard[2]).toEqual({kind: 'extended', gpus: [0]});
		await stop();
	});

	test('fails commands within seconds if the server is down, and later recovers', async () => {
		await write(store, poolWrite(1));
		await server.kill();
		const first = await timed(store.read());
		expect(first.error).toMatchObject({
			code: 'store-unreachable',
			message: expect.stringContaining('refused') as string,
		});
		expect(first.ownSeconds).toBeLessThan(4.5);
		const second = await timed(write(store, poolWrite(2)));
		expect(second.error).toMatchObject({code: 'store-unreachable'});
		expect(second.ownSeconds).toBeLessThan(0.5);
		await server.restart();
		await eventually(async () => (await store.read()).pool?.gpuCount === 1);
	});

	test('is restored after a short loss, even if the process is older than the time for which commands wait', async () => {
		const hasty = await openRedisStore({host, port: server.port, db: 0, keepReconnecting: false});
		await eventually(() => performance.now() > 3100);
		await write(hasty, poolWrite(2));
		await server.restart();
		expect((await hasty.read()).pool?.gpuCount).toBe(2);
		await hasty.close();
	});

	test('fails a command within 6 s if the server stays down', async () => {
		const hasty = await openRedisStore({host, port: server.port, db: 0, keepReconnecting: false});
		await server.kill();
		const {ownSeconds, error} = await timed(hasty.read());
		expect(error).toMatchObject({code: 'store-unreachable'});
		expect(ownSeconds).toBeLessThan(6);
		await hasty.close();
	});

	test('fails commands within 6 s if the server stops responding, and later recovers', async () => {
		await write(store, poolWrite(1));
		const {heard, stop} = await listen();
		process.kill(server.pid(), 'SIGSTOP');
		try {
			const [reading, committing] = await Promise.all([timed(store.read()), timed(write(store, leaseWrite(0)))]);
			expect(reading.error).toMatchObject({
				code: 'store-unreachable',
				message: `Cannot reach Redis at 127.0.0.1:${server.port}: no answer in time`,
			});
			expect(reading.ownSeconds).toBeLessThan(6);
			expect(committing.error).toMatchObject({code: 'store-unreachable'});
			expect(committing.ownSeconds).toBeLessThan(6);
			await eventually(() => heard.includes(`lost: Cannot reach Redis at ${host}:${server.port}: no answer in time`));
		} finally {
			process.kill(server.pid(), 'SIGCONT');
		}

		await eventually(() => heard.includes('restored'));
		await eventually(async () => (await store.read()).pool?.gpuCount === 1);
		await stop();
	});

	test('is not reported as lost if the answer arrived while this process was suspended', async () => {
		await write(store, poolWrite(2));
		const heard = await listen();
		await client.call('CLIENT', 'PAUSE', '500');
		const asked = store.read();
		// The answer arrives while this process is blocked for longer than the time limit, as after Ctrl-Z or on an overloaded machine.
		await sleep(50);
		await nextTurn();
		Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3500);
		expect((await asked).pool).toMatchObject({gpuCount: 2});
		expect(heard.heard).toEqual([]);
		await heard.stop();
	});

	slowTest('waits while the server loads its data', async () => {
		await write(store, poolWrite(3));
		await client.eval('for i = 1, 4000 do redis.call("SET", "filler:" .. i, string.rep("x", 100)) end', 0);
		await client.config('SET', 'aof-use-rdb-preamble', 'yes');
		await client.bgrewriteaof();
		await eventually(async () => (await client.info('persistence')).includes('aof_rewrite_in_progress:0'));
		// Without these settings, loading would take a minute.
		await server.restart({
			settings: ['--key-load-delay', '15000', '--loading-process-events-interval-bytes', '1024'],
			isLoadingEnough: true,
		});
		const early = client.duplicate({enableReadyCheck: false});
		expect(await early.info('persistence')).toContain('loading:1');
		const late = await openRedisStore({host, port: server.port, db: 0, keepReconnecting: false});
		const reading = late.read();
		await sleep(300);
		expect(await early.info('persistence')).toContain('loading:1');
		await early.config('SET', 'key-load-delay', 0);
		expect((await reading).pool?.gpuCount).toBe(3);
		early.disconnect();
		await late.close();
	});

	test("waits while the server runs another client's script", async () => {
		await write(store, poolWrite(3));
		const other = client.duplicate();
		const endless = other.eval('while true do end', 0).catch(String);
		await eventually(async () => (await client.get('x').catch(String))?.includes('BUSY'));
		const reading = store.read();
		const committing = write(store, leaseWrite(0));
		await sleep(300);
		await client.script('KILL');
		expect((await reading).pool?.gpuCount).toBe(3);
		expect(await committing).toBe('done');
		expect(await endless).toContain('killed');
		other.disconnect();
	});
});

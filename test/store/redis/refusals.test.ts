/** Redis servers that answer but reject commands. */
import {inspect} from 'node:util';
import {Redis} from 'ioredis';
import {afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi} from 'vitest';
import {emptyPlan} from '../../../source/core/model/plan.js';
import {CanhazgpuError} from '../../../source/errors.js';
import {openRedisStore} from '../../../source/store/redis/index.js';
import {startRedis, type RedisServer} from '../../_helpers/store/redis-server.js';
import {slowTest} from '../../_helpers/slow.js';
import {collect, join, leaseWrite, plan, poolWrite, start, stateOf, usage, write} from '../samples.js';

const secret = 'very-secret-4711';

describe('a Redis server without a password', () => {
	let server: RedisServer;
	let client: Redis;
	beforeAll(async () => {
		server = await startRedis();
		client = new Redis({port: server.port});
	});
	beforeEach(async () => {
		await client.config('SET', 'maxmemory', 0);
		await client.flushall();
	});
	afterAll(async () => {
		client.disconnect();
		await server.stop();
	});

	test('that is out of memory rejects grants but accepts releases', async () => {
		const store = await openRedisStore({host: server.host, port: server.port, db: 0, keepReconnecting: false});
		const two = new Map([0, 1].map((id) => [id, {since: start}]));
		await write(store, poolWrite(4), leaseWrite(0), leaseWrite(1), join('a'), {kind: 'drains', drains: two});
		const before = stateOf(await store.read());
		const {drains: drained} = (await store.read()).stored;
		await client.config('SET', 'maxmemory-policy', 'noeviction');
		await client.config('SET', 'maxmemory', 1);
		const refused = [
			plan({writes: [{kind: 'free', index: 1, lastReleased: undefined}, leaseWrite(2), leaseWrite(3)], grants: true}),
			plan({writes: [leaseWrite(0), join('b')]}),
			plan({writes: [poolWrite(2)]}),
		];
		for (const asking of refused) {
			await expect(store.commit(asking)).rejects.toMatchObject({
				code: 'store-refused',
				message: `Redis at 127.0.0.1:${server.port} is out of memory`,
				hint: 'Raise its maxmemory, or free some. Releasing still works.',
			});
			expect(stateOf(await store.read())).toEqual(before);
		}

		const heartbeatPlan = plan({writes: [leaseWrite(0, {note: 'still here'})], event: {kind: 'heartbeat', gpus: [0]}});
		expect(await store.commit(heartbeatPlan)).toBe('done');
		const release = plan({
			writes: [
				{kind: 'free', index: 1, lastReleased: start},
				{kind: 'leave', id: 'a'},
			],
			usage: [usage({endTime: Math.floor(Date.now() / 1000)})],
		});
		expect(await store.commit(release)).toBe('done');
		// Draining another GPU needs more memory than undraining one of several.
		const drainWrite = (ids: readonly number[]) =>
			({kind: 'drains', drains: new Map(ids.map((id) => [id, {since: start}]))}) as const;
		const more = plan({expect: [{kind: 'drains', raw: drained}], writes: [drainWrite([0, 1, 2])]});
		await expect(store.commit(more)).rejects.toMatchObject({code: 'store-refused'});
		const fewer = plan({expect: [{kind: 'drains', raw: drained}], writes: [drainWrite([1])]});
		expect(await store.commit(fewer)).toBe('done');
		const {gpus, queue, drains} = await store.read();
		expect(drains.keys().toArray()).toEqual([1]);
		expect(gpus.map(({kind}) => kind)).toEqual(['leased', 'free', 'free', 'free']);
		expect(queue).toEqual([]);
		// The usage history and the audit log can still be read.
		expect(await Array.fromAsync(store.history(0, Infinity))).toHaveLength(1);
		expect(await store.audit()).toEqual([]);
		await store.close();
	});

	test.each([
		['noeviction', '100mb', false],
		['volatile-lru', '100mb', false],
		['allkeys-lru', '100mb', true],
		['allkeys-lru', '0', false],
	])('with maxmemory-policy %s and maxmemory %s: deletes reservations: %s', async (policy, limit, evicts) => {
		await client.config('SET', 'maxmemory-policy', policy);
		await client.config('SET', 'maxmemory', limit);
		const store = await openRedisStore({host: server.host, port: server.port, db: 0, keepReconnecting: false});
		expect(await store.inspect?.()).toMatchObject({evicts});
		await store.close();
		await client.config('SET', 'maxmemory-policy', 'noeviction');
	});

	test('accepts a client with a password and writes no warning to the terminal', async () => {
		const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
		onTestFinished(() => {
			warn.mockRestore();
		});
		const address = {host: server.host, port: server.port, db: 0, keepReconnecting: true};
		const store = await openRedisStore({...address, password: secret});
		onTestFinished(async () => store.close());
		await write(store, poolWrite(1));
		await client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
		expect((await store.read()).pool?.gpuCount).toBe(1);
		expect(warn).not.toHaveBeenCalled();
		expect(await store.inspect?.()).toMatchObject({isPasswordUnneeded: true});
		const own = await openRedisStore(address);
		expect(await own.inspect?.()).toMatchObject({isPasswordUnneeded: false});
		await own.close();
	});

	test('reports an error if it lacks the requested database', async () => {
		const opening = openRedisStore({host: server.host, port: server.port, db: 99, keepReconnecting: true});
		await expect(opening).rejects.toMatchObject({
			code: 'store-refused',
			message: `Redis at 127.0.0.1:${server.port} has no database 99`,
		});
		const store = await openRedisStore({host: server.host, port: server.port, db: 3, keepReconnecting: false});
		expect(store.location).toBe(`redis 127.0.0.1:${server.port}/3`);
		await write(store, poolWrite(1));
		expect(await client.dbsize()).toBe(0);
		await store.close();
	});

	test('can be reached through a socket and through a URL', async () => {
		const first = await openRedisStore({host: 'x', port: 1, db: 0, socket: server.socket, keepReconnecting: false});
		expect(first.location).toBe(`redis ${server.socket}/0`);
		await write(first, poolWrite(7));
		const url = `redis://127.0.0.1:${server.port}/0`;
		const second = await openRedisStore({host: 'x', port: 1, db: 5, url, keepReconnecting: false});
		expect(second.location).toBe(`redis 127.0.0.1:${server.port}/0`);
		expect((await second.read()).pool?.gpuCount).toBe(7);
		await Promise.all([first.close(), second.close()]);
	});

	test.each(['nonsense', 'http://x', 'redis://x/db', `redis://:${secret}%zz@x`])(
		'is not opened with the invalid URL %s, whose password is never shown',
		async (url) => {
			const error: unknown = await openRedisStore({host: 'x', port: 1, db: 0, url, keepReconnecting: false}).catch(
				(error_: unknown) => error_,
			);
			expect(error).toMatchObject({code: 'config'});
			expect(inspect(error)).not.toContain(secret);
		},
	);

	slowTest('that is a replica rejects changes until it is promoted', async () => {
		const store = await openRedisStore({host: server.host, port: server.port, db: 0, keepReconnecting: false});
		await write(store, poolWrite(1));
		await client.replicaof('127.0.0.1', 1);
		try {
			await expect(write(store, leaseWrite(0))).rejects.toMatchObject({
				code: 'store-refused',
				message: `Redis at 127.0.0.1:${server.port} is a read-only replica`,
			});
			const waiting = write(store, leaseWrite(0));
			await client.replicaof('NO', 'ONE');
			expect(await waiting).toBe('done');
		} finally {
			await client.replicaof('NO', 'ONE');
			await store.close();
		}
	});

	describe('with an account that lacks rights', () => {
		const openLimited = async (...rights: readonly string[]) => {
			await client.call('ACL', 'SETUSER', 'limited', 'reset', 'on', `>${secret}`, '~*', '&*', '+@all', ...rights);
			const address = {host: server.host, port: server.port, db: 0, keepReconnecting: false};
			const own = await openRedisStore(address);
			await write(own, poolWrite(2), leaseWrite(0));
			await own.close();
			const store = await openRedisStore({...address, username: 'limited', password: secret});
			onTestFinished(async () => store.close());
			return store;
		};

		const refused = {
			code: 'store-refused',
			message: expect.stringContaining('does not give this account all the permissions that canhazgpu needs') as string,
		};

		test('fails before any write', async () => {
			const store = await openLimited('-zadd', '-config');
			const release = plan({writes: [{kind: 'free', index: 0, lastReleased: start}], usage: [usage()]});
			await expect(store.commit(release)).rejects.toMatchObject(refused);
			expect((await store.read()).gpus[0]?.kind).toBe('leased');
			expect(await collect(store.history(0, start))).toEqual([]);
			await client.call('ACL', 'SETUSER', 'limited', '-zcount');
			await expect(collect(store.history(0, start))).rejects.toMatchObject(refused);
		});

		test.each(['set', 'del', 'zadd', 'zrem', 'zcard', 'type', 'persist'])(
			'grants nothing without %s, which a release needs',
			async (command) => {
				const store = await openLimited(`-${command}`);
				await expect(store.commit(plan({writes: [leaseWrite(1)], grants: true}))).rejects.toMatchObject(refused);
				await expect(store.commit(emptyPlan)).rejects.toMatchObject(refused);
				expect((await store.read()).gpus[1]?.kind).toBe('free');
			},
		);
	});
});

test('a Redis server with a renamed DEL rejects grants', async () => {
	const server = await startRedis({settings: ['--rename-command', 'DEL', '']});
	onTestFinished(async () => server.stop());
	const store = await openRedisStore({host: server.host, port: server.port, db: 0, keepReconnecting: false});
	for (const asking of [emptyPlan, plan({writes: [poolWrite(1)]}), plan({writes: [leaseWrite(0)], grants: true})]) {
		await expect(store.commit(asking)).rejects.toMatchObject({
			code: 'store-refused',
			message: `Redis at 127.0.0.1:${server.port} lacks a command that canhazgpu needs`,
			hint: 'Use Redis 5 or later, without rename-command in its configuration.',
		});
	}

	expect((await store.read()).pool).toBeUndefined();
	await store.close();
});

test('a node of a Redis Cluster is reported as unsupported', async () => {
	const server = await startRedis({settings: ['--cluster-enabled', 'yes']});
	onTestFinished(async () => server.stop());
	const client = new Redis(server.port);
	await client.call('CLUSTER', 'ADDSLOTS', ...Array.from({length: 16_384}, (_, slot) => slot));
	client.disconnect();
	const store = await openRedisStore({host: server.host, port: server.port, db: 0, keepReconnecting: false});
	onTestFinished(async () => store.close());
	await expect(store.read()).rejects.toMatchObject({
		code: 'store-refused',
		message: `Redis at 127.0.0.1:${server.port} belongs to a Redis Cluster, which canhazgpu does not support`,
	});
});

describe('a Redis server with a password', () => {
	let server: RedisServer;
	beforeAll(async () => {
		server = await startRedis({settings: ['--requirepass', secret]});
	});
	afterAll(async () => {
		await server.stop();
	});

	test('accepts a client with the password and never shows the password', async () => {
		const store = await openRedisStore({
			host: server.host,
			port: server.port,
			db: 2,
			password: secret,
			keepReconnecting: false,
		});
		expect(await write(store, poolWrite(1))).toBe('done');
		expect(inspect(store, {depth: 9})).not.toContain(secret);
		expect(store.location).toBe(`redis 127.0.0.1:${server.port}/2`);
		const url = `redis://:${secret}@127.0.0.1:${server.port}/2`;
		const other = await openRedisStore({host: 'x', port: 1, db: 0, url, keepReconnecting: true});
		expect((await other.read()).pool?.gpuCount).toBe(1);
		expect(other.location).toBe(store.location);
		await Promise.all([store.close(), other.close()]);
	});

	test.each([
		['a wrong password', `wrong-${secret}`, 'refused the password'],
		['no password', undefined, 'requires a password'],
	])('reports %s without showing the right password', async (_, password, problem) => {
		const output: string[] = [];
		for (const name of ['log', 'warn', 'error'] as const) {
			vi.spyOn(console, name).mockImplementation((...values: unknown[]) => {
				output.push(inspect(values));
			});
		}

		const attempt = async (keepReconnecting: boolean) => {
			const store = await openRedisStore({
				host: server.host,
				port: server.port,
				db: 0,
				password,
				keepReconnecting,
			});
			try {
				return await store.read();
			} finally {
				await store.close();
			}
		};

		for (const keepReconnecting of [false, true]) {
			const error: unknown = await attempt(keepReconnecting).catch((error_: unknown) => error_);
			expect(error).toBeInstanceOf(CanhazgpuError);
			expect(error).toMatchObject({
				code: 'store-unreachable',
				message: `Redis at 127.0.0.1:${server.port} ${problem}`,
				hint: expect.stringContaining('redis.password') as string,
			});
			expect(inspect(error, {depth: 9, showHidden: true})).not.toContain(secret);
		}

		expect(output.join('\n')).not.toContain(secret);
		vi.restoreAllMocks();
	});
});

/**
Keys that hold something of another type than they should.
*/
import {Redis} from 'ioredis';
import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest';
import type {Store} from '../../../source/core/model/ports.js';
import {openRedisStore} from '../../../source/store/redis/index.js';
import {startRedis, type RedisServer} from '../../_helpers/store/redis-server.js';
import {collect, entry, join, leaseWrite, plan, poolWrite, start, usage, write} from '../samples.js';

let server: RedisServer;
let client: Redis;
let store: Store;
beforeAll(async () => {
	server = await startRedis();
	client = new Redis({port: server.port});
	store = await openRedisStore({host: server.host, port: server.port, db: 0, keepReconnecting: false});
});
beforeEach(async () => {
	await client.flushall();
});
afterAll(async () => {
	await store.close();
	client.disconnect();
	await server.stop();
});

describe('keys of another type', () => {
	test('one GPU is garbage, and can be freed', async () => {
		await write(store, poolWrite(2), leaseWrite(1));
		await client.rpush('canhazgpu:gpu:0', 'x');
		const {gpus} = await store.read();
		expect(gpus[0]).toEqual({kind: 'garbage', index: 0, raw: undefined, problem: 'it is a list, not a string'});
		expect(gpus[1]?.kind).toBe('leased');
		const grant = plan({expect: [{kind: 'gpu', index: 0, raw: undefined}], writes: [leaseWrite(0)]});
		expect(await store.commit(grant)).toBe('conflict');
		expect(await write(store, {kind: 'free', index: 0, lastReleased: undefined})).toBe('done');
		expect((await store.read()).gpus[0]?.kind).toBe('free');
	});

	test('an entry is garbage', async () => {
		await write(store, join('q'));
		await client.del('canhazgpu:queue:entry:q');
		await client.hset('canhazgpu:queue:entry:q', 'a', 1);
		const {queue} = await store.read();
		expect(queue).toEqual([{kind: 'garbage', id: 'q', raw: undefined, problem: 'it is a hash, not a string'}]);
		expect(await write(store, {kind: 'leave', id: 'q'})).toBe('done');
	});

	test.each(['canhazgpu:gpu_count', 'canhazgpu:provider', 'canhazgpu:machine'])(
		'%s makes the pool garbage',
		async (key) => {
			await write(store, poolWrite(1));
			await client.del(key);
			await client.sadd(key, 'x');
			await expect(store.read()).rejects.toMatchObject({code: 'pool-garbage'});
			expect(await write(store, poolWrite(1))).toBe('done');
			expect((await store.read()).pool?.gpuCount).toBe(1);
		},
	);

	test('a queue that is none is an error that names it, and nothing is half done', async () => {
		await write(store, poolWrite(1));
		await client.set('canhazgpu:queue', 'x');
		const error = {
			code: 'pool-garbage',
			message: expect.stringContaining('canhazgpu:queue is a string') as string,
			hint: 'Move it out of the way: redis-cli RENAME canhazgpu:queue canhazgpu:queue.damaged',
		};
		await expect(store.read()).rejects.toMatchObject(error);
		for (const last of [join('q'), {kind: 'leave', id: 'q'}, {kind: 'entry', entry: entry('q')}] as const) {
			await expect(write(store, leaseWrite(0), last)).rejects.toMatchObject(error);
		}

		expect(await client.exists('canhazgpu:gpu:0')).toBe(0);
		expect(await write(store, leaseWrite(0))).toBe('done');
	});

	test('a history that is none stops what would be recorded, and no reading', async () => {
		await write(store, poolWrite(1), leaseWrite(0));
		await client.set('canhazgpu:usage_history_sorted', 'x');
		const snapshot = await store.read({user: 'alice'});
		expect(snapshot.lastUsed.size).toBe(0);
		const error = {code: 'pool-garbage', message: expect.stringContaining('canhazgpu:usage_history_sorted') as string};
		const release = plan({writes: [{kind: 'free', index: 0, lastReleased: start}], usage: [usage()]});
		await expect(store.commit(release)).rejects.toMatchObject(error);
		expect((await store.read()).gpus[0]?.kind).toBe('leased');
		await expect(collect(store.history(0, start))).rejects.toMatchObject(error);
	});
});

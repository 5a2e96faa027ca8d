/**
What commit.lua keeps of last uses, so that a read need not look through the history: it is believed while it is whole, and only then.
*/
import {Redis} from 'ioredis';
import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest';
import type {Store} from '../../../source/core/model/ports.js';
import {openRedisStore} from '../../../source/store/redis/index.js';
import {startRedis, type RedisServer} from '../../_helpers/store/redis-server.js';
import {plan, usage} from '../samples.js';

const lastUse = 'canhazgpu:last_use';
const history = 'canhazgpu:usage_history_sorted';
const recent = Math.floor(Date.now() / 1000) - 86_400;

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

const append = async (...records: ReadonlyArray<Parameters<typeof usage>[0]>) =>
	store.commit(plan({usage: records.map((record) => usage(record))}));

const lastUsed = async (user: string) => [...(await store.read({user})).lastUsed];

/** A GPU that no record names shows whether a read believes what is kept. */
const isBelieved = async (user: string) => {
	const field = `user ${user}`;
	const kept = await client.hget(lastUse, field);
	await client.hset(lastUse, {[field]: `77 ${recent + 10_000}`});
	const uses = await lastUsed(user);
	await (kept === null ? client.hdel(lastUse, field) : client.hset(lastUse, {[field]: kept}));
	return uses.some(([gpu]) => gpu === 77);
};

/** As the Go program adds a record: without a word to anybody. */
const appendAsPeer = async (user: string, gpu: number, second: number) => {
	const end = new Date(second * 1000).toISOString();
	const record = `{"user":"${user}","gpu_id":${gpu},"start_time":"2025-06-30T16:34:38Z","end_time":"${end}","duration_seconds":60.5,"reservation_type":"run"}`;
	await client.zadd(history, second, record);
};

describe('the last uses that are kept', () => {
	test('are believed from the first record of a pool on', async () => {
		await append({gpuId: 4, endTime: recent + 0.25});
		expect(await lastUsed('alice')).toEqual([[4, recent + 0.25]]);
		expect(await isBelieved('alice')).toBe(true);
		expect(await isBelieved('bob')).toBe(true);
		expect(await lastUsed('bob')).toEqual([]);
	});

	test('are not believed after a record of the Go program, until a hundred others came after it', async () => {
		await append({gpuId: 4, endTime: recent});
		await appendAsPeer('alice', 5, recent + 1);
		expect(await lastUsed('alice')).toEqual([
			[5, recent + 1],
			[4, recent],
		]);
		await append({gpuId: 6, endTime: recent + 2});
		expect(await isBelieved('alice')).toBe(false);
		expect(await lastUsed('alice')).toEqual([
			[6, recent + 2],
			[5, recent + 1],
			[4, recent],
		]);
		for (let second = 3; second < 101; second++) {
			await append({gpuId: 7, endTime: recent + second});
		}

		expect(await isBelieved('alice')).toBe(false);
		await append({gpuId: 7, endTime: recent + 101}, {gpuId: 7, endTime: recent + 102});
		expect(await isBelieved('alice')).toBe(true);
		// Those of the Go program are not among the newest hundred any more.
		expect(await lastUsed('alice')).toEqual([[7, recent + 102]]);
	});

	test('are not believed after records went away, or all of them came back', async () => {
		await append({gpuId: 4, endTime: recent}, {gpuId: 5, endTime: recent + 1});
		const kept = await client.zrange(history, '0', '-1', 'WITHSCORES');
		await client.zremrangebyrank(history, '1', '1');
		expect(await lastUsed('alice')).toEqual([[4, recent]]);
		await client.del(history);
		expect(await lastUsed('alice')).toEqual([]);
		await append({gpuId: 6, endTime: recent + 2});
		expect(await lastUsed('alice')).toEqual([[6, recent + 2]]);
		await client.zadd(history, kept[1]!, kept[0]!, kept[3]!, kept[2]!);
		expect(await lastUsed('alice')).toEqual([
			[6, recent + 2],
			[5, recent + 1],
			[4, recent],
		]);
	});

	test('begin again after more records at once than are looked at', async () => {
		await append(...Array.from({length: 2000}, (_, index) => ({gpuId: index, endTime: recent + index})));
		expect(await isBelieved('alice')).toBe(false);
		expect(await lastUsed('alice')).toHaveLength(100);
		expect(await client.hkeys(lastUse)).toEqual(['count', 'since']);
	});

	test('do not grow with those who come once', async () => {
		for (let index = 0; index < 1100; index++) {
			await append({user: `user ${index}`, gpuId: 0, endTime: recent + index});
		}

		expect(await client.hlen(lastUse)).toBeLessThan(1010);
		expect(await lastUsed('user 1099')).toEqual([[0, recent + 1099]]);
	});

	test('are of no account where the key holds something else', async () => {
		await client.set(lastUse, 'x');
		expect(await append({gpuId: 4, endTime: recent})).toBe('done');
		expect(await lastUsed('alice')).toEqual([[4, recent]]);
		expect(await client.get(lastUse)).toBe('x');
	});

	test('are of no account to an account that may not use hashes', async () => {
		const secret = 'a secret of twenty characters';
		await client.call('ACL', 'SETUSER', 'limited', 'on', `>${secret}`, '~*', '&*', '+@all', '-@hash', '-config');
		const address = {host: server.host, port: server.port, db: 0, keepReconnecting: false};
		const limited = await openRedisStore({...address, username: 'limited', password: secret});
		try {
			await append({gpuId: 3, endTime: recent - 1});
			expect(await limited.commit(plan({usage: [usage({gpuId: 4, endTime: recent})]}))).toBe('done');
			const {lastUsed: byLimited} = await limited.read({user: 'alice'});
			expect([...byLimited]).toEqual([
				[4, recent],
				[3, recent - 1],
			]);
			expect(await lastUsed('alice')).toEqual([...byLimited]);
		} finally {
			await limited.close();
		}
	});
});

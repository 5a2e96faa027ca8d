/**
The cache of last uses, which commit.lua keeps so that a read need not search the usage history. A read uses the cache only while it is complete.
*/
import {describe, expect, test} from 'vitest';
import {openRedisStore} from '../../../source/store/redis/index.js';
import {plan, usage} from '../samples.js';
import {emptyRedis} from './_empty-redis.js';

const lastUse = 'canhazgpu:last_use';
const history = 'canhazgpu:usage_history_sorted';
const recent = Math.floor(Date.now() / 1000) - 86_400;

const redis = emptyRedis();

const append = async (...records: ReadonlyArray<Parameters<typeof usage>[0]>) =>
	redis.store.commit(plan({usage: records.map((record) => usage(record))}));

const lastUsed = async (user: string) => [...(await redis.store.read({user})).lastUsed];

/** Whether a read uses the cache. Only the cache contains a last use of this GPU, and no usage record does. */
const isBelieved = async (user: string) => {
	const field = `user ${user}`;
	const kept = await redis.client.hget(lastUse, field);
	await redis.client.hset(lastUse, {[field]: `77 ${recent + 10_000}`});
	const uses = await lastUsed(user);
	await (kept === null ? redis.client.hdel(lastUse, field) : redis.client.hset(lastUse, {[field]: kept}));
	return uses.some(([gpu]) => gpu === 77);
};

/** Adds a usage record like the Go program, which does not update the cache. */
const appendAsPeer = async (user: string, gpu: number, second: number) => {
	const end = new Date(second * 1000).toISOString();
	const record = `{"user":"${user}","gpu_id":${gpu},"start_time":"2025-06-30T16:34:38Z","end_time":"${end}","duration_seconds":60.5,"reservation_type":"run"}`;
	await redis.client.zadd(history, second, record);
};

describe("the cache of each user's last use of each GPU", () => {
	test('is valid from the first usage record of a pool', async () => {
		await append({gpuId: 4, endTime: recent + 0.25});
		expect(await lastUsed('alice')).toEqual([[4, recent + 0.25]]);
		expect(await isBelieved('alice')).toBe(true);
		expect(await isBelieved('bob')).toBe(true);
		expect(await lastUsed('bob')).toEqual([]);
	});

	test('is not used after the Go canhazgpu has added a usage record, until a hundred newer records exist', async () => {
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
		// By now the Go program's records are not among the newest hundred.
		expect(await lastUsed('alice')).toEqual([[7, recent + 102]]);
	});

	test('is not used after usage records were removed or restored', async () => {
		await append({gpuId: 4, endTime: recent}, {gpuId: 5, endTime: recent + 1});
		const kept = await redis.client.zrange(history, '0', '-1', 'WITHSCORES');
		await redis.client.zremrangebyrank(history, '1', '1');
		expect(await lastUsed('alice')).toEqual([[4, recent]]);
		await redis.client.del(history);
		expect(await lastUsed('alice')).toEqual([]);
		await append({gpuId: 6, endTime: recent + 2});
		expect(await lastUsed('alice')).toEqual([[6, recent + 2]]);
		await redis.client.zadd(history, kept[1]!, kept[0]!, kept[3]!, kept[2]!);
		expect(await lastUsed('alice')).toEqual([
			[6, recent + 2],
			[5, recent + 1],
			[4, recent],
		]);
	});

	test('is emptied when one commit adds more usage records than a single read covers', async () => {
		await append(...Array.from({length: 2000}, (_, index) => ({gpuId: index, endTime: recent + index})));
		expect(await isBelieved('alice')).toBe(false);
		expect(await lastUsed('alice')).toHaveLength(100);
		expect(await redis.client.hkeys(lastUse)).toEqual(['count', 'since']);
	});

	test('stays bounded when many users each add one record', async () => {
		for (let index = 0; index < 1100; index++) {
			await append({user: `user ${index}`, gpuId: 0, endTime: recent + index});
		}

		expect(await redis.client.hlen(lastUse)).toBeLessThan(1010);
		expect(await lastUsed('user 1099')).toEqual([[0, recent + 1099]]);
	});

	test('is ignored if its key has the wrong type', async () => {
		await redis.client.set(lastUse, 'x');
		expect(await append({gpuId: 4, endTime: recent})).toBe('done');
		expect(await lastUsed('alice')).toEqual([[4, recent]]);
		expect(await redis.client.get(lastUse)).toBe('x');
	});

	test('is ignored for an account that may not use hashes', async () => {
		const secret = 'a secret of twenty characters';
		await redis.client.call('ACL', 'SETUSER', 'limited', 'on', `>${secret}`, '~*', '&*', '+@all', '-@hash', '-config');
		const limited = await openRedisStore({...redis.options, username: 'limited', password: secret});
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

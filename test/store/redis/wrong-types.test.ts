import {describe, expect, test} from 'vitest';
import {planLeave} from '../../../source/core/rules/queue/queue.js';
import {policyExpectations} from '../../../source/core/rules/policy/policy.js';
import {collect, entry, join, leaseWrite, plan, poolWrite, start, usage, write} from '../samples.js';
import {emptyRedis} from './_empty-redis.js';

const redis = emptyRedis();

describe('a Redis key of the wrong type', () => {
	test('makes the record of its GPU invalid', async () => {
		await write(redis.store, poolWrite(2), leaseWrite(1));
		await redis.client.rpush('canhazgpu:gpu:0', 'x');
		const {gpus} = await redis.store.read();
		expect(gpus[0]).toEqual({kind: 'garbage', index: 0, raw: undefined, problem: 'it is a list, not a string'});
		expect(gpus[1]?.kind).toBe('leased');
		const grant = plan({expect: [{kind: 'gpu', index: 0, raw: undefined}], writes: [leaseWrite(0)]});
		expect(await redis.store.commit(grant)).toBe('conflict');
		expect(await write(redis.store, {kind: 'free', index: 0, lastReleased: undefined})).toBe('done');
		expect((await redis.store.read()).gpus[0]?.kind).toBe('free');
	});

	test('makes its queue entry invalid', async () => {
		await write(redis.store, join('q'));
		await redis.client.del('canhazgpu:queue:entry:q');
		await redis.client.hset('canhazgpu:queue:entry:q', 'a', 1);
		const snapshot = await redis.store.read();
		const {queue} = snapshot;
		expect(queue).toEqual([{kind: 'garbage', id: 'q', raw: undefined, problem: 'it is a hash, not a string'}]);
		const leave = planLeave(snapshot, queue[0]!, {now: start, host: 'box', account: 'root'});
		expect(await redis.store.commit(leave)).toBe('done');
		expect((await redis.store.read()).queue).toEqual([]);
	});

	test.each(['canhazgpu:gpu_count', 'canhazgpu:provider', 'canhazgpu:machine'])(
		'makes the pool invalid: %s',
		async (key) => {
			await write(redis.store, poolWrite(1));
			await redis.client.del(key);
			await redis.client.sadd(key, 'x');
			await expect(redis.store.read()).rejects.toMatchObject({code: 'pool-garbage'});
			expect(await write(redis.store, poolWrite(1))).toBe('done');
			expect((await redis.store.read()).pool?.gpuCount).toBe(1);
		},
	);

	test('in place of the policy does not prevent a grant that depends on the policy', async () => {
		await write(redis.store, poolWrite(1));
		await redis.client.rpush('canhazgpu:policy', 'x');
		const snapshot = await redis.store.read();
		expect(snapshot.policyProblem).toBe('it is a list, not a string');
		const grant = plan({expect: policyExpectations(snapshot), writes: [leaseWrite(0)]});
		expect(await redis.store.commit(grant)).toBe('done');
	});

	test('in place of the queue leads to an error that names the key', async () => {
		await write(redis.store, poolWrite(1));
		await redis.client.set('canhazgpu:queue', 'x');
		const error = {
			code: 'pool-garbage',
			message: expect.stringContaining('canhazgpu:queue is a string') as string,
			hint: `Move it out of the way: ${redis.store.shell} RENAME canhazgpu:queue canhazgpu:queue.damaged`,
		};
		await expect(redis.store.read()).rejects.toMatchObject(error);
		for (const last of [join('q'), {kind: 'leave', id: 'q'}, {kind: 'entry', entry: entry('q')}] as const) {
			await expect(write(redis.store, leaseWrite(0), last)).rejects.toMatchObject(error);
		}

		expect(await redis.client.exists('canhazgpu:gpu:0')).toBe(0);
		expect(await write(redis.store, leaseWrite(0))).toBe('done');
	});

	test('in place of the usage history prevents commits that would add to it', async () => {
		await write(redis.store, poolWrite(1), leaseWrite(0));
		await redis.client.set('canhazgpu:usage_history_sorted', 'x');
		const snapshot = await redis.store.read({user: 'alice'});
		expect(snapshot.lastUsed.size).toBe(0);
		const error = {code: 'pool-garbage', message: expect.stringContaining('canhazgpu:usage_history_sorted') as string};
		const release = plan({writes: [{kind: 'free', index: 0, lastReleased: start}], usage: [usage()]});
		await expect(redis.store.commit(release)).rejects.toMatchObject(error);
		expect((await redis.store.read()).gpus[0]?.kind).toBe('leased');
		await expect(collect(redis.store.history(0, start))).rejects.toMatchObject(error);
	});
});

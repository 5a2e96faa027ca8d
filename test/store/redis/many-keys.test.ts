/** Commits with more keys than Lua can pass to one function, as when thousands of outdated jobs are deleted together. */
import {expect, test} from 'vitest';
import {plan, poolWrite, write} from '../samples.js';
import {emptyRedis} from './_empty-redis.js';

const redis = emptyRedis();

test('a commit can expect 20,000 records, and the absence of as many', async () => {
	await write(redis.store, poolWrite(1));
	const numbers = Array.from({length: 20_000}, (_, index) => index + 1);
	const pipeline = redis.client.pipeline();
	for (const number of numbers) {
		pipeline.set(`canhazgpu:job:${number}`, `job ${number}`);
	}

	await pipeline.exec();
	const present = numbers.map((number) => ({kind: 'job', number, raw: `job ${number}`}) as const);
	const absent = numbers.map((number) => ({kind: 'job', number: number + 100_000, raw: undefined}) as const);
	const large = plan({expect: [...present, ...absent], writes: [poolWrite(2)]});
	expect(await redis.store.commit(large)).toBe('done');
	expect((await redis.store.read()).pool?.gpuCount).toBe(2);
	await redis.client.set('canhazgpu:job:15000', 'another');
	expect(await redis.store.commit(large)).toBe('conflict');
	await redis.client.set('canhazgpu:job:15000', 'job 15000');
	await redis.client.set('canhazgpu:job:119999', 'new');
	expect(await redis.store.commit(large)).toBe('conflict');
});

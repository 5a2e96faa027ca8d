/** Many users each request a share of a GPU. The shares always fit, and all requests are served in order. */
import {afterAll, beforeAll, expect, test} from 'vitest';
import {startRedis, type RedisServer} from '../../_helpers/store/redis-server.js';
import {firstCase, slowTest} from '../../_helpers/slow.js';
import {shareAll} from '../../_helpers/store/sharers.js';
import {crowdOnFile, crowdOnRedis} from './_waiters.js';

let server: RedisServer;
beforeAll(async () => {
	server = await startRedis();
});
afterAll(async () => {
	await server.stop();
});

const stores = [
	['Redis', async () => crowdOnRedis(server)],
	['SQLite', async () => crowdOnFile()],
] as const;

/** Checks that all are served and that at least `leastOnOneGpu` shared one GPU at some time. */
async function expectShared(enter: (typeof stores)[number][1], people: number, leastOnOneGpu: number): Promise<void> {
	const crowd = await enter();
	const {served, mostOnOneGpu} = await shareAll(crowd, people);
	expect(crowd.overcommits).toEqual([]);
	expect(crowd.overtakings).toEqual([]);
	expect(served).toBe(people);
	expect(mostOnOneGpu).toBeGreaterThanOrEqual(leastOnOneGpu);
	const reader = await crowd.enter();
	expect((await reader.world.store.read()).gpus.every(({kind}) => kind === 'free')).toBe(true);
}

test.each(firstCase(stores))('30 requests for shares of 8 GPUs on %s are granted in order', async (_, enter) => {
	await expectShared(enter, 30, 2);
});

slowTest.each(stores)(
	'200 requests for shares of 8 GPUs on %s are granted in order',
	{timeout: 600_000},
	async (_, enter) => {
		await expectShared(enter, 200, 3);
	},
);

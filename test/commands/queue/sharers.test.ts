/** Many who want a part of a GPU each, at once: it fits at every commit, nobody is overtaken, and all are served. */
import {afterAll, beforeAll, expect, test} from 'vitest';
import {startRedis, type RedisServer} from '../../_helpers/store/redis-server.js';
import {shareAll} from '../../_helpers/store/sharers.js';
import {crowdOnFile, crowdOnRedis} from './_waiters.js';

let server: RedisServer;
beforeAll(async () => {
	server = await startRedis();
});
afterAll(async () => {
	await server.stop();
});

test.each([
	['Redis', async () => crowdOnRedis(server)],
	['a file', async () => crowdOnFile()],
])('30 people share 8 GPUs on %s', {timeout: 60_000}, async (_, enter) => {
	const crowd = await enter();
	const {served, mostOnOneGpu} = await shareAll(crowd, 30);
	expect(crowd.overcommits).toEqual([]);
	expect(crowd.overtakings).toEqual([]);
	expect(served).toBe(30);
	expect(mostOnOneGpu).toBeGreaterThan(1);
	const reader = await crowd.enter();
	expect((await reader.world.store.read()).gpus.every(({kind}) => kind === 'free')).toBe(true);
});

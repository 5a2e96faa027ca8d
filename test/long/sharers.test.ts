/** 200 who want a part of a GPU each, at once: it fits at every commit, nobody is overtaken, and all are served. */
import {afterAll, beforeAll, expect, test} from 'vitest';
import {crowdOnFile, crowdOnRedis} from '../commands/queue/_waiters.js';
import {startRedis, type RedisServer} from '../_helpers/store/redis-server.js';
import {shareAll} from '../_helpers/store/sharers.js';

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
])('200 people share 8 GPUs on %s', {timeout: 600_000}, async (_, enter) => {
	const crowd = await enter();
	const {served, mostOnOneGpu} = await shareAll(crowd, 200);
	expect(crowd.overcommits).toEqual([]);
	expect(crowd.overtakings).toEqual([]);
	expect(served).toBe(200);
	expect(mostOnOneGpu).toBeGreaterThan(2);
	const reader = await crowd.enter();
	expect((await reader.world.store.read()).gpus.every(({kind}) => kind === 'free')).toBe(true);
});

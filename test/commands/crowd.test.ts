import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {createEmbeddedBox, createRedisBox} from '../_helpers/cli.js';
import {startRedis, type RedisServer} from '../_helpers/redis-server.js';

let redis: RedisServer;

beforeAll(async () => {
	redis = await startRedis();
});

afterAll(async () => {
	await redis.stop();
});

describe.each([
	['redis', async () => createRedisBox(redis.port, 64)],
	['embedded', async () => createEmbeddedBox(64)],
])('on %s', (_, create) => {
	test(
		'of 100 processes at once that want one of 64 GPUs, exactly 64 get one, each its own',
		{timeout: 120_000},
		async () => {
			const box = await create();
			const ran = await Promise.all(Array.from({length: 100}, async () => box.run('reserve --nonblock --short')));
			const granted = ran.filter(({exitCode}) => exitCode === 0).map(({stdout}) => Number(stdout));
			expect(granted.toSorted((a, b) => a - b)).toEqual(Array.from({length: 64}, (__, index) => index));
			const refused = ran.filter(({exitCode}) => exitCode !== 0);
			expect(refused.map(({exitCode}) => exitCode)).toEqual(Array.from({length: 36}, () => 3));
			expect(
				refused.every(({stdout, stderr}) => stdout === '' && stderr.startsWith('Error: Not enough GPUs available.')),
			).toBe(true);
			box.remove();
		},
	);
});

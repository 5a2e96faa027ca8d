/** Where `admin` makes the pool, everybody on the machine finds it. */
import {expect, onTestFinished, test} from 'vitest';
import {createBox} from '../../_helpers/program/cli.js';
import {redisOfFile} from '../../_helpers/store/redis-of-file.js';

const redis = redisOfFile();

test.each([
	['an address', () => ({CANHAZGPU_REDIS_URL: `redis://127.0.0.1:${redis.port}/3`})],
	['a socket', () => ({CANHAZGPU_REDIS_SOCKET: redis.socket, CANHAZGPU_REDIS_DB: '4'})],
	['host and port', () => ({CANHAZGPU_REDIS_PORT: String(redis.port), CANHAZGPU_REDIS_DB: '5'})],
])('in a Redis given by %s', async (_, setting) => {
	const box = createBox();
	onTestFinished(box.remove);
	expect(await box.run('admin --gpus 3 --provider fake', setting())).toMatchObject({exitCode: 0, stderr: ''});
	// Somebody else, who has configured nothing.
	const {stdout} = await box.run('status --json');
	expect(JSON.parse(stdout)).toHaveLength(3);
	// At a location that is given in words.
	const elsewhere = await box.run('admin --gpus 3 --provider fake --store embedded');
	expect(elsewhere.exitCode).toBe(1);
	expect(elsewhere.stderr).toMatch(/^Error: This machine's GPU pool is somewhere else already: in redis \S+\/[345]\n/v);
});

/** `report` imports the history that the Go program kept in one key per record, and leaves those keys in place. */
import {Redis} from 'ioredis';
import {afterAll, beforeAll, beforeEach, expect, test} from 'vitest';
import {slowTest} from '../../_helpers/slow.js';
import {createRedisBox, type Box} from '../../_helpers/program/cli.js';
import {eventually} from '../../_helpers/eventually.js';
import {start} from '../../_helpers/program/processes.js';
import {startRedis, type RedisServer} from '../../_helpers/store/redis-server.js';

const history = 'canhazgpu:usage_history_sorted';
const hour = 3600;

let redis: RedisServer;
let client: Redis;
let box: Box;

beforeAll(async () => {
	redis = await startRedis();
	client = new Redis(redis.port);
	box = await createRedisBox(redis.port, 4);
});

beforeEach(async () => {
	const old = await client.keys('canhazgpu:usage_history:*');
	await client.del(history, 'canhazgpu:old_history_moved', ...old);
});

afterAll(async () => {
	client.disconnect();
	box.remove();
	await redis.stop();
});

const now = Math.floor(Date.now() / 1000);

/** A record in the first format of the Go program. */
const record = (index: number, endTime: number | string = now - hour - index) =>
	JSON.stringify({
		user: index % 2 === 0 ? 'alice' : 'bob <b>',
		gpu_id: index % 4,
		start_time: new Date((now - 2 * hour - index) * 1000).toISOString(),
		end_time: typeof endTime === 'string' ? endTime : new Date(endTime * 1000).toISOString(),
		duration_seconds: hour,
		reservation_type: 'run',
	});

const keyOf = (index: number) => `canhazgpu:usage_history:${now - index}:alice:${index}`;

async function keep(count: number): Promise<void> {
	for (let first = 0; first < count; first += 1000) {
		const places = Array.from({length: Math.min(1000, count - first)}, (_, offset) => first + offset);
		await client.mset(...places.flatMap((index) => [keyOf(index), record(index)]));
	}
}

const reported = async () => {
	const {stdout, stderr} = await box.run('report --json --days 2');
	expect(stderr).toBe('');
	return JSON.parse(stdout) as {total_reservations: number; total_gpu_hours: number};
};

test('report counts records in the old format and adds them to the history', async () => {
	await keep(250);
	await client.zadd(history, now - hour, record(0));
	expect(await reported()).toMatchObject({total_reservations: 250, total_gpu_hours: 250});
	// The keys belong to the Go program, so nothing deletes them.
	expect(await client.keys('canhazgpu:usage_history:*')).toHaveLength(250);
	expect(await client.zcard(history)).toBe(250);
	expect(await client.zscore(history, record(7))).toBe(String(now - hour - 7));
	expect(await reported()).toMatchObject({total_reservations: 250});
});

test('report ignores invalid records in the old format and changes no other keys', async () => {
	await client.set(keyOf(1), 'garbage');
	await client.set(keyOf(2), record(2, 'yesterday'));
	await client.hset(keyOf(3), 'user', 'alice');
	await client.set('canhazgpu:usage_history', record(4));
	await client.set(keyOf(5), record(5));
	expect(await reported()).toMatchObject({total_reservations: 1});
	expect((await client.keys('canhazgpu:usage_history*')).toSorted()).toEqual(
		[keyOf(1), keyOf(2), keyOf(3), keyOf(5), 'canhazgpu:usage_history', history].toSorted(),
	);
	await client.del('canhazgpu:usage_history');
});

slowTest('killing report during the import neither loses nor duplicates a record', async () => {
	const count = 30_000;
	await keep(count);
	const copied = async () => client.zcard(history);
	for (const share of [0.05, 0.4, 0.7]) {
		const {child, ended} = start(box, 'report --days 2');
		await eventually(async () => (await copied()) > count * share);
		child.kill('SIGKILL');
		expect(await ended).toMatchObject({signal: 'SIGKILL'});
		expect(await client.exists('canhazgpu:old_history_moved')).toBe(0);
		expect(await client.keys('canhazgpu:usage_history:*')).toHaveLength(count);
		expect(await client.zcard(history)).toBeLessThanOrEqual(count);
		await client.del(history);
	}

	// Two imports at once do not conflict.
	const both = await Promise.all([reported(), reported()]);
	expect(both.map(({total_reservations: total}) => total)).toContain(count);
	expect(await reported()).toMatchObject({total_reservations: count, total_gpu_hours: count});
	expect(await client.keys('canhazgpu:usage_history:*')).toHaveLength(count);
	expect(await client.zcard(history)).toBe(count);
});

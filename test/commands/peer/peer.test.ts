/** Shares one Redis with the Go program, whose records are written by hand and without events. */
import {randomUUID} from 'node:crypto';
import process from 'node:process';
import {Redis} from 'ioredis';
import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest';
import type {Store} from '../../../source/core/model/ports.js';
import {readCurrent} from '../../../source/core/operations/transact.js';
import type {Box} from '../../_helpers/program/cli.js';
import {eventually} from '../../_helpers/eventually.js';
import {freshRedisBox, holders, openStoreOf, peek, recordsOf, start} from '../../_helpers/program/processes.js';
import {startRedis, type RedisServer} from '../../_helpers/store/redis-server.js';
import {createTestWorld} from '../../_helpers/world.js';
import {startSleeper} from '../run/_sleeper.js';
import {queueRows} from '../../../source/core/rules/queue/queue-rows.js';
import {slowTest} from '../../_helpers/slow.js';

let redis: RedisServer;
let client: Redis;
let box: Box;

beforeAll(async () => {
	redis = await startRedis();
	client = new Redis(redis.port);
});

beforeEach(async () => {
	box = await freshRedisBox(redis.port, 2);
});

afterAll(async () => {
	client.disconnect();
	await redis.stop();
});

/** Formats a time like Go on a machine that is not in UTC. */
const goTime = (seconds: number): string =>
	new Date((seconds + 7200) * 1000).toISOString().replace('Z', '000000+02:00');

type Changes = Readonly<Record<string, unknown>>;

/** Adds an entry of the Go program at the end of the queue. */
async function joinAsPeer(changes: Changes = {}): Promise<string> {
	const id = randomUUID();
	const now = Date.now() / 1000;
	const entry = {
		id,
		user: 'peer',
		actual_user: 'peer',
		requested_count: 1,
		allocated_gpus: null,
		reservation_type: 'run',
		enqueue_time: goTime(now),
		last_heartbeat: goTime(now),
		...changes,
	};
	await client
		.multi()
		.zadd('canhazgpu:queue', String(now * 1e9), id)
		.set(`canhazgpu:queue:entry:${id}`, JSON.stringify(entry))
		.exec();
	return id;
}

const leaveAsPeer = async (id: string) =>
	client.multi().zrem('canhazgpu:queue', id).del(`canhazgpu:queue:entry:${id}`).exec();

const read = async (key: string) =>
	JSON.parse((await client.get(`canhazgpu:${key}`)) ?? 'null') as Record<string, unknown>;

/** Rewrites our record like the Go program: with its fields and time format, and null for unset values. */
async function rewriteAsPeer(index: number): Promise<void> {
	const {user, actual_user, start_time, last_heartbeat, type, expiry_time, note, partial_queue_id} = await read(
		`gpu:${index}`,
	);
	const time = (value: unknown) => (typeof value === 'number' ? goTime(value) : null);
	const rewritten = {
		user,
		actual_user,
		start_time: time(start_time),
		last_heartbeat: time(last_heartbeat),
		type,
		expiry_time: time(expiry_time),
		last_released: null,
		note,
		partial_queue_id,
	};
	await client.set(`canhazgpu:gpu:${index}`, JSON.stringify(rewritten));
}

/** Returns a store that reports a long uptime, because a missing heartbeat counts only then. */
async function longUp(): Promise<Store> {
	const store = await openStoreOf(box);
	return {...store, read: async (options) => ({...(await store.read(options)), storeUptimeSeconds: Infinity})};
}

describe('a queue shared with the Go canhazgpu', () => {
	test('keeps a free GPU for an earlier request of the Go canhazgpu', async () => {
		const id = await joinAsPeer();
		expect(await box.run('reserve --nonblock')).toMatchObject({exitCode: 3, stdout: ''});
		const waiter = start(box, 'reserve --short');
		await waiter.says(/^Waiting for 1 GPU: position 2 of 2/v);
		// The Go waiter takes its GPU and leaves without an event.
		await client.set(
			'canhazgpu:gpu:0',
			JSON.stringify({user: 'peer', actual_user: 'peer', start_time: Date.now() / 1000, type: 'manual'}),
		);
		await leaveAsPeer(id);
		expect(await waiter.ended).toMatchObject({exitCode: 0, stdout: '1\n'});
	});

	slowTest('keeps GPU 0 for a request of the Go canhazgpu without delaying a request for GPU 1', async () => {
		await box.run('reserve --gpus 2');
		const waiter = start(box, 'reserve --gpu-ids 1 --short');
		await waiter.says(/position 1 of 1/v);
		await joinAsPeer({requested_ids: [0]});
		await box.run('release');
		expect(await waiter.ended).toMatchObject({exitCode: 0, stdout: '1\n'});
		expect(await box.run('reserve --nonblock')).toMatchObject({exitCode: 3});
		expect((await box.run('queue')).stdout).toMatch(/│ peer +│ GPU 0 +│ 0\/1 +│ RUN/v);
	});

	test('skips impossible entries, entries of crashed programs and ids without an entry', async () => {
		await joinAsPeer({requested_count: 99});
		await joinAsPeer({requested_count: 0});
		await joinAsPeer({requested_ids: [7], requested_count: 1});
		await joinAsPeer({requested_ids: [0, 0], requested_count: 2});
		await client.zadd('canhazgpu:queue', '1', 'nobody');
		expect((await box.run('queue')).stdout).toContain('never: impossible in this pool');
		expect(await box.run('reserve --nonblock --short')).toMatchObject({exitCode: 0, stdout: '0\n'});
		expect(await client.zscore('canhazgpu:queue', 'nobody')).toBe(null);

		const old = goTime(Date.now() / 1000 - 200);
		const crashed = await joinAsPeer({last_heartbeat: old, enqueue_time: old, allocated_gpus: [1], user: 'gone'});
		await client.set(
			'canhazgpu:gpu:1',
			JSON.stringify({user: 'gone', type: 'run', start_time: old, expiry_time: null, partial_queue_id: crashed}),
		);
		// A store that has just started has heard no heartbeat, so the entry stays.
		expect(queueRows(await peek(box)).some((row) => row.id === crashed)).toBe(true);
		const world = await createTestWorld();
		const {pool} = await peek(box);
		const viewer = {...world, store: await longUp(), host: {...world.host, machineId: pool!.machine!.id}};
		// The first reader starts watching, and a reader more than one heartbeat later drops the entry.
		expect((await readCurrent(viewer)).queue.map((record) => record.id)).toContain(crashed);
		world.pass(40);
		const {queue, gpus} = await readCurrent(viewer);
		expect(queue.map((record) => record.id)).not.toContain(crashed);
		expect(gpus[1]!.kind).toBe('free');
		expect(await recordsOf(box)).toMatchObject([{gpuId: 1, user: 'gone', endReason: 'queue-left'}]);
	});

	slowTest('stores entries in the format of the Go canhazgpu', async () => {
		await box.run('reserve --gpus 2');
		const ours = [
			start(box, ['reserve', '--duration', '90m', '--wait', '2h', '--note', 'why']),
			start(box, 'run --gpu-ids 0,1 --timeout 1h -- true'),
		];
		for (const waiter of ours) {
			await waiter.says(/position \d/v);
		}

		const ids = await client.zrange('canhazgpu:queue', '0', '-1');
		const entries = await Promise.all(ids.map(async (id) => read(`queue:entry:${id}`)));
		const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/v) as unknown;
		const manual = entries.find((entry) => entry['reservation_type'] === 'manual')!;
		const run = entries.find((entry) => entry['reservation_type'] === 'run')!;
		expect(manual).toMatchObject({
			requested_count: 1,
			requested_ids: [],
			allocated_gpus: [],
			expiry_duration: 5_400_000_000_000,
			enqueue_time: time,
			last_heartbeat: time,
			wait_timeout: time,
			note: 'why',
		});
		const waited = Date.parse(manual['wait_timeout'] as string) - Date.parse(manual['enqueue_time'] as string);
		expect(waited).toBe(7_200_000);
		expect(run).toMatchObject({requested_count: 2, requested_ids: [0, 1], allocated_gpus: [], last_heartbeat: time});
		expect(Object.keys(run)).not.toEqual(expect.arrayContaining(['expiry_duration']));
		expect(Object.values({...manual, ...run})).not.toContain(null);
		const scores = await client.zrange('canhazgpu:queue', '0', '-1', 'WITHSCORES');
		expect(
			scores.filter((_, at) => at % 2 === 1).map((score) => Math.abs(Number(score) / 1e9 - Date.now() / 1000) < 60),
		).toEqual([true, true]);
	});
});

describe('a reservation record that the Go canhazgpu has rewritten', () => {
	slowTest('is recognized by run, which writes the lease id and the pid again', async () => {
		const {wrapper, pid} = await startSleeper(box, ['--note', 'mine']);
		const {lease_id: leaseId, pid: holder} = await read('gpu:0');
		expect(leaseId).toEqual(expect.any(String));
		await rewriteAsPeer(0);
		expect(await holders(box)).toBe('0:RUN 1:-');
		await eventually(async () => (await read('gpu:0'))['lease_id'] === leaseId);
		const stamped = await read('gpu:0');
		expect(stamped).toMatchObject({pid: holder, job_pid: pid, note: 'mine', start_time: expect.any(Number) as unknown});
		expect(Object.values(stamped)).not.toContain(null);
		process.kill(pid, 'SIGTERM');
		expect(await wrapper.ended).toMatchObject({exitCode: 143, stderr: ''});
		expect(await recordsOf(box)).toMatchObject([{leaseId, endReason: 'signalled'}]);
	});

	test('is released when run ends, even if run ends directly after the rewrite', async () => {
		const {wrapper, pid} = await startSleeper(box);
		const {lease_id: leaseId} = await read('gpu:0');
		await rewriteAsPeer(0);
		process.kill(pid, 'SIGTERM');
		expect(await wrapper.ended).toMatchObject({exitCode: 143, stderr: ''});
		expect(await holders(box)).toBe('0:- 1:-');
		expect(await recordsOf(box)).toMatchObject([{leaseId, endReason: 'signalled'}]);
	});

	slowTest('still belongs to the waiting request that holds the GPU', async () => {
		await box.run('reserve --gpu-ids 0');
		const waiter = start(box, 'reserve --gpus 2 --short');
		await waiter.says(/got 1\/2 \[1\]/v);
		await rewriteAsPeer(1);
		await box.run('release');
		expect(await waiter.ended).toMatchObject({exitCode: 0, stdout: '0,1\n'});
		expect(await read('gpu:1')).not.toHaveProperty('partial_queue_id');
		expect((await box.run('release')).stdout).toBe('Released 2 GPU(s): [0 1]\n');
	});

	slowTest('can still be extended and released', async () => {
		await box.run('reserve --gpus 2');
		await rewriteAsPeer(0);
		expect((await box.run('extend --duration 1h')).stdout).toContain('Extended 2 GPU(s): [0 1]');
		await rewriteAsPeer(1);
		expect((await box.run('release')).stdout).toBe('Released 2 GPU(s): [0 1]\n');
		const left = await read('gpu:0');
		// The Go program ignores unknown fields.
		expect(left).toEqual({
			last_released: expect.stringMatching(/^\d{4}-.*Z$/v) as unknown,
			ended: {reason: 'released'},
		});
	});
});

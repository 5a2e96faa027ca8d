/** The lock of the Go program while it grants GPUs. */
import {Redis} from 'ioredis';
import {expect, onTestFinished, test} from 'vitest';
import {freshRedisBox, holders, peek, start} from '../../_helpers/program/processes.js';
import {reserve} from '../../../source/core/operations/reservations.js';
import {createTestWorld, person} from '../../_helpers/world.js';
import {startRedis} from '../../_helpers/store/redis-server.js';

test('reserve explains how to remove the allocation lock of a crashed Go canhazgpu', async () => {
	const world = await createTestWorld({
		gpuCount: 1,
		wrap: (store) => ({...store, shell: 'redis-cli -p 7000', commit: async () => 'locked'}),
	});
	await expect(reserve(world, {requester: person('alice'), count: 1, durationSeconds: 60})).rejects.toMatchObject({
		code: 'busy',
		message: 'The GPU pool is too busy: its lock canhazgpu:allocation_lock was held for 10 seconds',
		hint: expect.stringContaining(
			'If no Go program is running, delete the lock: redis-cli -p 7000 del canhazgpu:allocation_lock',
		) as unknown,
	});
});

test('the allocation lock of the Go canhazgpu delays grants, but not extend, release or joining the queue', async () => {
	const redis = await startRedis();
	const client = new Redis(redis.port);
	onTestFinished(async () => {
		client.disconnect();
		await redis.stop();
	});
	const box = await freshRedisBox(redis.port, 2);
	await box.run('reserve --gpus 2 --duration 1h');
	await client.set('canhazgpu:allocation_lock', 'somebody', 'EX', 60);
	expect(await box.run('extend --duration 1h')).toMatchObject({exitCode: 0});
	const waiter = start(box, 'reserve --gpus 2 --short');
	await waiter.says(/position 1 of 1/v);
	expect((await box.run('release')).stdout).toBe('Released 2 GPU(s): [0 1]\n');
	// The waiter retries at once. Other work takes longer than a grant.
	expect(await holders(box)).toBe('0:- 1:-');
	expect((await peek(box)).queue).toHaveLength(1);
	expect(waiter.stdout()).toBe('');
	await client.del('canhazgpu:allocation_lock');
	expect(await waiter.ended).toMatchObject({exitCode: 0, stdout: '0,1\n'});
	await box.run('release');

	await client.set('canhazgpu:allocation_lock', 'somebody', 'PX', 300);
	expect(await box.run('reserve --nonblock --short')).toMatchObject({exitCode: 0, stdout: '0\n'});
	expect(await client.exists('canhazgpu:allocation_lock')).toBe(0);
});

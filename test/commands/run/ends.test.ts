/** `run` releases its GPUs however it ends, and reports a lost lease. */
import process from 'node:process';
import {Redis} from 'ioredis';
import {describe, expect, test} from 'vitest';
import {eventually} from '../../_helpers/eventually.js';
import {freshEmbeddedBox, freshRedisBox, holders, isAlive, peek, recordsOf} from '../../_helpers/program/processes.js';
import {redisOfFile} from '../../_helpers/store/redis-of-file.js';
import {firstCase} from '../../_helpers/slow.js';
import {startSleeper} from './_sleeper.js';

const redis = redisOfFile();

describe.each(
	firstCase([
		['embedded', async () => freshEmbeddedBox(2)],
		['redis', async () => freshRedisBox(redis.port, 2)],
	]),
)('with the %s store', (_, create) => {
	test('the GPU is free at the next read after run and its job are killed', async () => {
		const box = await create();
		const {wrapper, pid} = await startSleeper(box);
		expect(await holders(box)).toBe('0:RUN 1:-');
		wrapper.kill('SIGKILL');
		process.kill(pid, 'SIGKILL');
		await wrapper.ended;
		await eventually(() => !isAlive(pid));
		expect(await holders(box)).toBe('0:- 1:-');
		expect(await recordsOf(box)).toMatchObject([{gpuId: 0, endReason: 'holder-died'}]);
	});

	test('if only the run process is killed, the job keeps its lease until the job ends', async () => {
		const box = await create();
		const {wrapper, pid} = await startSleeper(box);
		wrapper.kill('SIGKILL');
		expect(await wrapper.ended).toMatchObject({signal: 'SIGKILL'});
		expect(isAlive(pid)).toBe(true);
		expect(await holders(box)).toBe('0:RUN 1:-');
		process.kill(pid, 'SIGKILL');
		await eventually(() => !isAlive(pid));
		expect(await holders(box)).toBe('0:- 1:-');
		expect(await recordsOf(box)).toMatchObject([{gpuId: 0, endReason: 'holder-died'}]);
	});

	test('run releases the GPUs and exits with 137 if only its job is killed', async () => {
		const box = await create();
		const {wrapper, pid} = await startSleeper(box);
		process.kill(pid, 'SIGKILL');
		expect(await wrapper.ended).toMatchObject({exitCode: 137, stderr: ''});
		expect((await peek(box)).gpus.map(({kind}) => kind)).toEqual(['free', 'free']);
		expect(await recordsOf(box)).toMatchObject([{endReason: 'signalled'}]);
	});

	test.each<[NodeJS.Signals, number]>([
		['SIGTERM', 143],
		['SIGHUP', 129],
		['SIGINT', 130],
	])('run forwards %s to its job and releases the GPU', async (signal, exitCode) => {
		const box = await create();
		const {wrapper} = await startSleeper(box);
		wrapper.kill(signal);
		expect(await wrapper.ended).toMatchObject({exitCode, stderr: ''});
		expect(await holders(box)).toBe('0:- 1:-');
	});

	test('run warns at once if one of its two GPUs is released, and keeps the other GPU', async () => {
		const box = await create();
		const {wrapper, pid} = await startSleeper(box, ['--gpus', '2']);
		expect((await box.run('release')).stdout).toBe('No manually reserved GPUs found for current user\n');
		expect((await box.run('release --gpu-ids 1')).stdout).toBe('Released 1 GPU(s): [1]\n');
		// The next heartbeat would come only after a minute.
		await wrapper.says(
			/^canhazgpu: WARNING: the command continues without its reservation: GPU 1 was released\n$/v,
			20_000,
		);
		expect(await holders(box)).toBe('0:RUN 1:-');
		process.kill(pid, 'SIGTERM');
		await wrapper.ended;
		expect(await recordsOf(box)).toMatchObject([
			{gpuId: 1, endReason: 'released'},
			{gpuId: 0, endReason: 'signalled'},
		]);
	});
});

describe('a lost lease', () => {
	test('is reported by run within seconds even if no Redis event announces it', async () => {
		const box = await freshRedisBox(redis.port, 2);
		const {wrapper, pid} = await startSleeper(box);
		const client = new Redis(redis.port);
		const now = Math.floor(Date.now() / 1000);
		await client.set(
			'canhazgpu:gpu:0',
			JSON.stringify({user: 'mallory', start_time: now, last_heartbeat: now, type: 'manual', expiry_time: now + 60}),
		);
		client.disconnect();
		await wrapper.says(/the command continues without its reservation: GPU 0 now belongs to mallory\n$/v);
		process.kill(pid, 'SIGTERM');
		expect(await wrapper.ended).toMatchObject({exitCode: 143});
		// A GPU that now belongs to somebody else is not released.
		expect((await peek(box)).gpus[0]).toMatchObject({kind: 'leased', lease: {user: 'mallory'}});
	});
});

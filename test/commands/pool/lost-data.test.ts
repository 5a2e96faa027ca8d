/** A store that crashes and comes back empty or with older data, while jobs run and requests wait. */
import {existsSync, renameSync, rmSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {Redis} from 'ioredis';
import {describe, expect, onTestFinished} from 'vitest';
import {slowTest} from '../../_helpers/slow.js';
import type {Box} from '../../_helpers/program/cli.js';
import {eventually} from '../../_helpers/eventually.js';
import {
	freshEmbeddedBox,
	freshRedisBox,
	holders,
	openStoreOf,
	peek,
	recordsOf,
	start,
	stopBetween,
	type Started,
} from '../../_helpers/program/processes.js';
import {startRedis, type RedisServer} from '../../_helpers/store/redis-server.js';
import {startSleeper} from '../run/_sleeper.js';

const waiterCount = 5;

const contentOf = async (box: Box) => {
	const {pool, gpus, queue, drains} = await peek(box);
	return {
		pool,
		leases: gpus.map((record) =>
			record.kind === 'leased' ? [record.lease.leaseId, record.lease.expiryTime] : undefined,
		),
		queue: queue.map(({id}) => id),
		drains: drains
			.entries()
			.map(([gpu, {reason}]) => [gpu, reason])
			.toArray(),
	};
};

/** Sets up a job on GPU 0, a reservation of GPU 1, GPU 2 out of service, and five queue entries. */
async function fill(box: Box) {
	const job = await startSleeper(box, ['--gpu-ids', '0']);
	expect(await box.run('reserve --gpu-ids 1 --duration 8h')).toMatchObject({exitCode: 0});
	expect(await box.run(['admin', '--drain', '2', '--reason', 'fan is dead'])).toMatchObject({exitCode: 0});
	const waiters: Started[] = [];
	for (let index = 1; index <= waiterCount; index++) {
		const waiter = start(box, 'reserve --short --duration 1h');
		await waiter.says(new RegExp(`position ${index} of ${index}`, 'v'));
		waiters.push(waiter);
	}

	// Every remaining process has read the state by now.
	const seen = await contentOf(box);
	return {job, waiters, seen};
}

const lossPattern =
	/The store lost its data\. It was restored at \d\d:\d\d:\d\d from a copy made at \d\d:\d\d:\d\d, so everything reserved, released or changed after \d\d:\d\d:\d\d is lost/v;

/** Checks that everything is back, in order, and that every interface reports the loss. */
async function expectRestored(box: Box, {job, waiters, seen}: Awaited<ReturnType<typeof fill>>): Promise<void> {
	await eventually(async () => {
		expect(await contentOf(box)).toEqual(seen);
		return true;
	});
	expect((await box.run('status')).stderr).toMatch(lossPattern);
	const queue = await box.run('queue');
	expect(queue.stderr).toMatch(lossPattern);
	expect((await box.run('doctor')).stdout).toMatch(/The store lost its data\. It was restored at/v);
	const events = await box.run('events');
	expect(events.stdout).toMatch(/restored the pool after the store had lost it: 3 GPUs \(fake\), as it was at/v);
	expect(events.stdout).toMatch(/got GPU 1 back(?: for \S+)? after the store had lost it/v);

	for (const [index, waiter] of waiters.entries()) {
		await box.run('release --gpu-ids 1');
		expect(await waiter.ended).toMatchObject({exitCode: 0, stdout: '1\n'});
		expect(waiters.slice(index + 1).map(({stdout}) => stdout())).toEqual(waiters.slice(index + 1).map(() => ''));
	}

	process.kill(job.pid, 'SIGTERM');
	expect(await job.wrapper.ended).toMatchObject({exitCode: 143, stderr: ''});
	const records = await recordsOf(box);
	expect(records.filter(({endReason}) => endReason === 'signalled')).toMatchObject([{gpuId: 0}]);
}

describe('data lost by Redis', () => {
	const atServer = async () => {
		const server = await startRedis();
		onTestFinished(async () => server.stop());
		return {server, box: await freshRedisBox(server.port, 3)};
	};

	const save = async ({port}: RedisServer): Promise<void> => {
		const client = new Redis(port);
		await client.save();
		client.disconnect();
	};

	slowTest('is fully restored after a restart without data', async () => {
		const {server, box} = await atServer();
		const scene = await fill(box);
		await server.restart();
		await expectRestored(box, scene);
	});

	slowTest('is fully restored after a restart with an older snapshot', async () => {
		const {server, box} = await atServer();
		await box.run('run --gpu-ids 0 -- true');
		await box.run('reserve --gpu-ids 1 --duration 2h');
		await box.run(['admin', '--drain', '0', '--reason', 'a test']);
		const gone = start(box, 'reserve --gpu-ids 1');
		await gone.says(/position 1 of 1/v);
		await save(server);
		gone.kill('SIGINT');
		await gone.ended;
		await box.run('admin --undrain 0');
		await box.run('release --gpu-ids 1');
		const scene = await fill(box);
		await server.restart();
		await expectRestored(box, scene);
	});

	slowTest("is restored for a running job even if the older snapshot shows the job's GPU as free", async () => {
		const {server, box} = await atServer();
		await box.run('run --gpu-ids 0 -- true');
		await save(server);
		const {wrapper, pid} = await startSleeper(box, ['--gpu-ids', '0']);
		const before = await contentOf(box);
		await server.restart();
		await eventually(async () => {
			expect((await contentOf(box)).leases).toEqual(before.leases);
			return true;
		});
		expect(await box.run('reserve --gpus 3 --nonblock')).toMatchObject({exitCode: 3});
		process.kill(pid, 'SIGTERM');
		expect(await wrapper.ended).toMatchObject({exitCode: 143, stderr: ''});
	});

	slowTest('is restored in at most two commits if only the size of the pool is missing', async () => {
		const {server, box} = await atServer();
		const {wrapper, pid} = await startSleeper(box, ['--gpu-ids', '0']);
		const client = new Redis(server.port);
		onTestFinished(() => {
			client.disconnect();
		});
		await eventually(async () => (await peek(box)).gpus[0]?.raw?.includes('job_pid') === true);
		const before = await peek(box);
		await stopBetween(box, wrapper);
		await client.del('canhazgpu:gpu_count');
		expect(await box.run('status')).toMatchObject({
			exitCode: 4,
			stderr: expect.stringContaining(
				'Its reservations are still there. Set the number again, without --force',
			) as unknown,
		});
		wrapper.kill('SIGCONT');
		await eventually(async () => (await client.get('canhazgpu:gpu_count')) === '3');
		const after = await peek(box);
		expect(after.gpus).toEqual(before.gpus);
		expect(after.revision.count - before.revision.count).toBeLessThanOrEqual(2);
		process.kill(pid, 'SIGTERM');
		expect(await wrapper.ended).toMatchObject({exitCode: 143, stderr: ''});
	});

	slowTest('is restored by run if a record wrongly says that the job has ended', async () => {
		const {server, box} = await atServer();
		const {wrapper, pid} = await startSleeper(box, ['--gpu-ids', '0']);
		const [record] = (await peek(box)).gpus;
		const leaseId = record?.kind === 'leased' ? record.lease.leaseId : undefined;
		const client = new Redis(server.port);
		const released = new Date().toISOString();
		await client.set(
			'canhazgpu:gpu:0',
			JSON.stringify({last_released: released, ended: {reason: 'reboot', lease_id: leaseId}}),
		);
		client.disconnect();
		await wrapper.says(
			/^canhazgpu: GPU 0 was no longer reserved \(the recorded reason: the machine was restarted\)\. Nobody had released it/mv,
		);
		expect(await holders(box)).toBe('0:RUN 1:- 2:-');
		expect((await box.run('events')).stdout).toMatch(/got GPU 0 back, which was still in use/v);
		process.kill(pid, 'SIGTERM');
		const {stderr} = await wrapper.ended;
		expect(stderr.match(/was no longer reserved/gv)).toHaveLength(1);
		expect(stderr).not.toContain('WARNING');
	});

	slowTest('is not restored, but run prints a warning, if the user had released the GPU of the job', async () => {
		const {box} = await atServer();
		const {wrapper, pid} = await startSleeper(box, ['--gpu-ids', '0']);
		await box.run('release --gpu-ids 0');
		await wrapper.says(/WARNING: the command continues without its reservation: GPU 0 was released/v);
		expect(await holders(box)).toBe('0:- 1:- 2:-');
		process.kill(pid, 'SIGTERM');
		await wrapper.ended;
	});
});

describe('the embedded store', () => {
	const databaseOf = (box: Box, suffix = ''): string => path.join(box.poolDirectory, `pool.sqlite${suffix}`);

	slowTest('is fully restored after its file was moved away and recreated', async () => {
		const box = await freshEmbeddedBox(3);
		const scene = await fill(box);
		for (const suffix of ['', '-wal', '-shm']) {
			if (existsSync(databaseOf(box, suffix))) {
				renameSync(databaseOf(box, suffix), databaseOf(box, `${suffix}.damaged`));
			}
		}

		expect(await box.run('admin --store embedded --gpus 3 --provider fake')).toMatchObject({exitCode: 0});
		await expectRestored(box, scene);
	});

	slowTest('makes run warn if the GPU of the job was reserved again after the file was recreated', async () => {
		const box = await freshEmbeddedBox(3);
		const {wrapper, pid} = await startSleeper(box, ['--gpu-ids', '0']);
		await eventually(async () => (await peek(box)).gpus[0]?.raw?.includes('job_pid') === true);
		await stopBetween(box, wrapper);
		for (const suffix of ['', '-wal', '-shm']) {
			if (existsSync(databaseOf(box, suffix))) {
				renameSync(databaseOf(box, suffix), databaseOf(box, `${suffix}.damaged`));
			}
		}

		expect(await box.run('admin --store embedded --gpus 3 --provider fake')).toMatchObject({exitCode: 0});
		expect(await box.run('reserve --gpu-ids 0 --force')).toMatchObject({exitCode: 0});
		wrapper.kill('SIGCONT');
		await wrapper.says(/WARNING: the command continues without its reservation: GPU 0 now belongs to/v);
		process.kill(pid, 'SIGTERM');
		await wrapper.ended;
	});

	slowTest('loses nothing and grants no GPU twice when its journal files are deleted', async () => {
		const box = await freshEmbeddedBox(3);
		const {job, seen} = await fill(box);
		for (const suffix of ['-wal', '-shm']) {
			rmSync(databaseOf(box, suffix), {force: true});
		}

		expect(await box.run('reserve --gpus 3 --nonblock')).toMatchObject({exitCode: 3});
		expect(await contentOf(box)).toEqual(seen);
		process.kill(job.pid, 'SIGTERM');
		expect(await job.wrapper.ended).toMatchObject({exitCode: 143, stderr: ''});
	});
});

slowTest('web restores reservations and drained GPUs after Redis has lost its data', async () => {
	const server = await startRedis();
	onTestFinished(async () => server.stop());
	const box = await freshRedisBox(server.port, 3);
	await box.run('reserve --gpu-ids 1 --duration 8h');
	await box.run(['admin', '--drain', '2', '--reason', 'fan is dead']);
	const web = start(box, 'web --port 0');
	await eventually(() => /http:\S+/v.test(web.stdout() + web.stderr()));
	const [address] = /http:\S+/v.exec(web.stdout() + web.stderr())!;
	const before = await contentOf(box);
	const store = await openStoreOf(box);
	const {revision} = await store.read();
	expect(revision.count).toBeGreaterThan(0);
	await eventually(async () => (await fetch(new URL('/api/status', address))).ok);
	await server.restart();
	await eventually(async () => {
		expect(await contentOf(box)).toEqual(before);
		return true;
	});
	web.kill('SIGTERM');
	await web.ended;
});

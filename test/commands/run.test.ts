/**
`run` with real processes: what it exits with, what the job is told, and that its GPUs come back on every path out.
*/
import {mkdirSync, rmdirSync, rmSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {Redis} from 'ioredis';
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {type Box} from '../_helpers/cli.js';
import {eventually} from '../_helpers/eventually.js';
import {
	fileIn,
	freshEmbeddedBox,
	freshRedisBox,
	holders,
	isAlive,
	peek,
	recordsOf,
	start,
} from '../_helpers/processes.js';
import {startRedis, type RedisServer} from '../_helpers/redis-server.js';

let redis: RedisServer;

beforeAll(async () => {
	redis = await startRedis();
});

afterAll(async () => {
	await redis.stop();
});

/** A job that says its pid and then lives until it is ended. */
const sleeper = ['sh', '-c', 'echo $$ > pid; exec sleep 600'];

/** Starts it under `run`; tells its pid once it runs and the lease bears it. */
async function startSleeper(box: Box, flags: readonly string[] = [], job: readonly string[] = sleeper) {
	rmSync(path.join(box.home, 'pid'), {force: true});
	const wrapper = start(box, ['run', ...flags, '--', ...job]);
	const pid = Number(await fileIn(box, 'pid'));
	onTestFinished(() => {
		if (isAlive(pid)) {
			process.kill(pid, 'SIGKILL');
		}
	});
	await eventually(async () => {
		const {gpus} = await peek(box);
		return gpus.some((record) => record.kind === 'leased' && record.lease.job?.pid === pid);
	});
	return {wrapper, pid};
}

describe.each([
	['redis', async () => freshRedisBox(redis.port, 2)],
	['embedded', async () => freshEmbeddedBox(2)],
])('on %s', (_, create) => {
	test.each<[name: string, words: readonly string[], exitCode: number, reason: string]>([
		['a command that succeeds', ['run', '--', 'true'], 0, 'exited'],
		['a command that fails', ['run', '--', 'sh', '-c', 'exit 3'], 3, 'exited'],
		['a command that says 137 by itself', ['run', '--', 'sh', '-c', 'exit 137'], 137, 'exited'],
		['one that SIGINT ends', ['run', '--', 'sh', '-c', 'kill -INT $$'], 130, 'signalled'],
		['one that SIGKILL ends', ['run', '--', 'sh', '-c', 'kill -KILL $$'], 137, 'signalled'],
		['one that SIGTERM ends', ['run', '--', 'sh', '-c', 'kill -TERM $$'], 143, 'signalled'],
		['one whose time is over', ['run', '--timeout', '0.3s', '--', 'sleep', '600'], 124, 'timeout'],
	])('%s: its exit code, and a record of its end', async (__, words, exitCode, reason) => {
		const box = await create();
		const ran = await box.run(words);
		expect(ran).toMatchObject({exitCode, stdout: ''});
		expect(ran.stderr).toBe(
			reason === 'timeout' ? 'canhazgpu: the time limit of 0h 0m 0s is over: stopping the command\n' : '',
		);
		expect(await holders(box)).toBe('0:- 1:-');
		expect(await recordsOf(box)).toMatchObject([{gpuId: 0, reservationType: 'run', endReason: reason}]);
	});

	test('the job is told its GPUs, whatever it would have inherited', async () => {
		const box = await create();
		const job = 'echo "$CUDA_VISIBLE_DEVICES $CUDA_DEVICE_ORDER $NVIDIA_VISIBLE_DEVICES $HIP_VISIBLE_DEVICES$KEPT"';
		const ran = await box.run(['run', '--gpu-ids', '1,0', '--', 'sh', '-c', job], {
			CUDA_VISIBLE_DEVICES: '7',
			CUDA_DEVICE_ORDER: 'FASTEST_FIRST',
			NVIDIA_VISIBLE_DEVICES: 'all',
			KEPT: 'kept',
		});
		expect(ran).toEqual({exitCode: 0, stderr: '', stdout: '0,1 PCI_BUS_ID 0,1 kept\n'});
	});

	test('when job and wrapper are killed, the GPU is free at the next look', async () => {
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

	test('when the wrapper alone is killed, the lease stays with the job until that ends', async () => {
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

	test('when the job alone is killed, the wrapper gives back and exits 137', async () => {
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
	])('%s to the wrapper is passed on to the job', async (signal, exitCode) => {
		const box = await create();
		const {wrapper} = await startSleeper(box);
		wrapper.kill(signal);
		expect(await wrapper.ended).toMatchObject({exitCode, stderr: ''});
		expect(await holders(box)).toBe('0:- 1:-');
	});

	test('a release of one of its own GPUs is said at once; the rest stays', async () => {
		const box = await create();
		const {wrapper, pid} = await startSleeper(box, ['--gpus', '2']);
		expect((await box.run('release')).stdout).toBe('No manually reserved GPUs found for current user\n');
		expect((await box.run('release --gpu-ids 1')).stdout).toBe('Released 1 GPU(s): [1]\n');
		await wrapper.says(
			/^canhazgpu: WARNING: the command goes on without its reservation: GPU 1 was released\n$/v,
			2000,
		);
		expect(await holders(box)).toBe('0:RUN 1:-');
		process.kill(pid, 'SIGTERM');
		await wrapper.ended;
		expect(await recordsOf(box)).toMatchObject([
			{gpuId: 1, endReason: 'released'},
			{gpuId: 0, endReason: 'signalled'},
		]);
	});

	test('a directory of PATH that may not be searched is passed over', async () => {
		const box = await create();
		const closed = path.join(box.home, 'closed');
		mkdirSync(closed, {mode: 0o000});
		const environment = {PATH: `${closed}/inside:${closed}:${box.environment['PATH'] ?? ''}`};
		expect(await box.run('run -- true', environment)).toMatchObject({exitCode: 0, stderr: ''});
		expect(await box.run('run -- no-such-command', environment)).toMatchObject({exitCode: 127});
		rmdirSync(closed);
	});

	test('wrong input is told at once, and takes and queues nothing', async () => {
		const box = await create();
		await box.run('reserve --gpus 2');
		const script = path.join(box.home, 'script');
		writeFileSync(script, 'true');
		mkdirSync(path.join(box.home, 'folder'));
		for (const [words, exitCode, error] of [
			[['run'], 2, 'run needs a command to run\nFor example: canhazgpu run --gpus 2 -- python train.py'],
			[['run', '--gpus', '1', '--'], 2, 'run needs a command to run'],
			[['run', '--', ''], 2, 'run needs a command to run'],
			[
				['run', 'python', 'a b.py'],
				2,
				'run needs -- before the command "python"\nWrite: canhazgpu run -- python \'a b.py\'',
			],
			[['run', 'python', '--', 'x'], 2, 'run does not know what to do with "python" before the --'],
			[['run', '--', 'no-such-command'], 127, ''],
			[['run', '--', './nothing-here'], 127, ''],
			[['run', '--', './script'], 126, ''],
			[['run', '--', './folder'], 126, ''],
			[['run', '--gpus', '3', '--', 'true'], 2, 'Cannot reserve 3 GPUs: the pool has 2'],
			[['run', '--gpus', '0', '--', 'true'], 2, '--gpus must be a whole number'],
			[['run', '--gpu-ids', '2', '--', 'true'], 2, 'No GPU 2 in this pool'],
			[['run', '--gpu-ids', '1,1', '--', 'true'], 2, 'GPU 1 is named twice in 1,1'],
			[['run', '--timeout', '90', '--', 'true'], 2, '--timeout must be a duration'],
			[['run', '--timeout', '0s', '--', 'true'], 2, '--timeout must be a duration'],
			[['run', '--wait', 'soon', '--', 'true'], 2, '--wait must be a duration'],
			[['run', '--nonblock', '--wait', '1m', '--', 'true'], 2, '--nonblock does not wait, and --wait does'],
			[['run', '--nonblock', '--', 'true'], 3, 'Not enough GPUs available. Requested: 1, Available: 0'],
		] as const) {
			const ran = await box.run(words);
			expect(ran, words.join(' ')).toMatchObject({exitCode, stdout: ''});
			expect(ran.stderr).toContain(`Error: ${error}`);
			expect(ran.stderr).not.toMatch(/\n *at |in line/v);
		}

		expect((await peek(box)).queue).toEqual([]);
		expect(await holders(box)).toBe('0:MANUAL 1:MANUAL');
	});
});

describe('a lease that is lost', () => {
	test('to somebody who writes straight into Redis and tells nobody is seen within seconds', async () => {
		const box = await freshRedisBox(redis.port, 2);
		const {wrapper, pid} = await startSleeper(box);
		const client = new Redis(redis.port);
		const now = Math.floor(Date.now() / 1000);
		await client.set(
			'canhazgpu:gpu:0',
			JSON.stringify({user: 'mallory', start_time: now, last_heartbeat: now, type: 'manual', expiry_time: now + 60}),
		);
		client.disconnect();
		await wrapper.says(/the command goes on without its reservation: GPU 0 now belongs to mallory\n$/v);
		process.kill(pid, 'SIGTERM');
		expect(await wrapper.ended).toMatchObject({exitCode: 143});
		// What is somebody else's now is not given back.
		expect((await peek(box)).gpus[0]).toMatchObject({kind: 'leased', lease: {user: 'mallory'}});
	});
});

describe('a store that goes away', () => {
	const atServer = async (options: Parameters<typeof startRedis>[0] = {}) => {
		const server = await startRedis(options);
		onTestFinished(async () => server.stop());
		return {server, box: await freshRedisBox(server.port, 2)};
	};

	test('the job goes on, and the wrapper exits with its code in bounded time', async () => {
		const {server, box} = await atServer();
		const {wrapper, pid} = await startSleeper(
			box,
			[],
			['sh', '-c', 'echo $$ > pid; trap "exit 5" TERM; while :; do sleep 0.05; done'],
		);
		await server.kill();
		expect(isAlive(pid)).toBe(true);
		process.kill(pid, 'SIGTERM');
		const asked = performance.now();
		const ran = await wrapper.ended;
		expect(ran).toMatchObject({exitCode: 5});
		expect(ran.stderr).toContain(
			"canhazgpu: the GPUs could not be given back now, they will be at anybody's next look",
		);
		expect(performance.now() - asked).toBeLessThan(20_000);
	});

	test('with its data: the lease is there again, and is given back at the end', async () => {
		const {server, box} = await atServer({isDurable: true});
		const {wrapper, pid} = await startSleeper(box);
		await server.restart();
		expect(await holders(box)).toBe('0:RUN 1:-');
		process.kill(pid, 'SIGTERM');
		expect(await wrapper.ended).toMatchObject({exitCode: 143, stderr: ''});
		expect(await holders(box)).toBe('0:- 1:-');
	});

	test('without its data: every wrapper puts its lease back, and the pool with it', async () => {
		const {server, box} = await atServer();
		const first = await startSleeper(box, ['--gpu-ids', '1']);
		const second = await startSleeper(box);
		await server.restart();
		await eventually(async () => (await peek(box)).gpus.filter(({kind}) => kind === 'leased').length === 2);
		expect(await holders(box)).toBe('0:RUN 1:RUN');
		for (const {wrapper, pid} of [first, second]) {
			process.kill(pid, 'SIGTERM');
			expect(await wrapper.ended).toMatchObject({exitCode: 143, stderr: ''});
		}

		expect(await holders(box)).toBe('0:- 1:-');
	});
});

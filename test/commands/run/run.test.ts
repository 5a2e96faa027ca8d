/** `run` with real processes: exit codes, variables and wrong input. */
import {mkdirSync, rmdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, test} from 'vitest';
import {freshEmbeddedBox, freshRedisBox, holders, peek, recordsOf} from '../../_helpers/program/processes.js';
import {redisOfFile} from '../../_helpers/store/redis-of-file.js';
import {firstCase, slowTest} from '../../_helpers/slow.js';

const redis = redisOfFile();

describe.each(
	firstCase([
		['redis', async () => freshRedisBox(redis.port, 2)],
		['embedded', async () => freshEmbeddedBox(2)],
	]),
)('with the %s store', (_, create) => {
	test.each<[name: string, words: readonly string[], exitCode: number, reason: string]>([
		['a command that succeeds', ['run', '--', 'true'], 0, 'exited'],
		['a command that fails', ['run', '--', 'sh', '-c', 'exit 3'], 3, 'exited'],
		['a command that itself exits with 137', ['run', '--', 'sh', '-c', 'exit 137'], 137, 'exited'],
		['a command that SIGINT ends', ['run', '--', 'sh', '-c', 'kill -INT $$'], 130, 'signalled'],
		['a command that SIGKILL ends', ['run', '--', 'sh', '-c', 'kill -KILL $$'], 137, 'signalled'],
		['a command that SIGTERM ends', ['run', '--', 'sh', '-c', 'kill -TERM $$'], 143, 'signalled'],
		['a command that exceeds its time limit', ['run', '--timeout', '0.3s', '--', 'sleep', '600'], 124, 'timeout'],
	])('run exits with the usual code for %s, and records how the job ended', async (__, words, exitCode, reason) => {
		const box = await create();
		const ran = await box.run(words);
		expect(ran).toMatchObject({exitCode, stdout: ''});
		expect(ran.stderr).toBe(
			reason === 'timeout' ? 'canhazgpu: the time limit of 0h 0m 0.3s has passed: stopping the command\n' : '',
		);
		expect(await holders(box)).toBe('0:- 1:-');
		expect(await recordsOf(box)).toMatchObject([{gpuId: 0, reservationType: 'run', endReason: reason}]);
	});

	test('run replaces inherited GPU variables with the variables of the granted GPUs', async () => {
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
});

test('run skips a directory in PATH that cannot be searched', async () => {
	const box = await freshEmbeddedBox(2);
	const closed = path.join(box.home, 'closed');
	mkdirSync(closed, {mode: 0o000});
	const environment = {PATH: `${closed}/inside:${closed}:${box.environment['PATH'] ?? ''}`};
	expect(await box.run('run -- true', environment)).toMatchObject({exitCode: 0, stderr: ''});
	expect(await box.run('run -- no-such-command', environment)).toMatchObject({exitCode: 127});
	rmdirSync(closed);
});

slowTest('run fails at once for invalid input, without a reservation or a queue entry', async () => {
	const box = await freshEmbeddedBox(2);
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
		[['run', 'python', '--', 'x'], 2, 'run does not take the argument "python" before the --'],
		[['run', '--', 'no-such-command'], 127, ''],
		[['run', '--', './nothing-here'], 127, ''],
		[['run', '--', './script'], 126, ''],
		[['run', '--', './folder'], 126, ''],
		[['run', '--gpus', '3', '--', 'true'], 2, 'Cannot reserve 3 GPUs: the pool has 2'],
		[['run', '--gpus', '0', '--', 'true'], 2, '--gpus must be a whole number'],
		[['run', '--gpu-ids', '2', '--', 'true'], 2, 'GPU 2 is out of range'],
		[['run', '--gpu-ids', '1,1', '--', 'true'], 2, 'GPU 1 is named twice in 1,1'],
		[['run', '--timeout', '90', '--', 'true'], 2, '--timeout must be a duration'],
		[['run', '--timeout', '0s', '--', 'true'], 2, '--timeout must be a duration'],
		[['run', '--wait', 'soon', '--', 'true'], 2, '--wait must be a duration'],
		[['run', '--nonblock', '--wait', '1m', '--', 'true'], 3, 'Not enough GPUs available. Requested: 1, Available: 0'],
		[['run', '--nonblock', '--', 'true'], 3, 'Not enough GPUs available. Requested: 1, Available: 0'],
	] as const) {
		const ran = await box.run(words);
		expect(ran, words.join(' ')).toMatchObject({exitCode, stdout: ''});
		expect(ran.stderr).toContain(`Error: ${error}`);
		expect(ran.stderr).not.toMatch(/\n *at |position \d/v);
	}

	expect((await peek(box)).queue).toEqual([]);
	expect(await holders(box)).toBe('0:MANUAL 1:MANUAL');
});

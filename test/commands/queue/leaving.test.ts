/** A waiting command that ends for any reason leaves no queue entry and no GPU behind. */
import {describe, expect, test} from 'vitest';
import type {Box} from '../../_helpers/program/cli.js';
import {eventually} from '../../_helpers/eventually.js';
import {freshEmbeddedBox, freshRedisBox, peek, recordsOf, start} from '../../_helpers/program/processes.js';
import {redisOfFile} from '../../_helpers/store/redis-of-file.js';
import {openShell} from '../../_helpers/machine/shell.js';
import {firstCase} from '../../_helpers/slow.js';

const redis = redisOfFile();

const held = async (box: Box): Promise<number> =>
	(await peek(box)).gpus.filter((record) => record.kind === 'leased' && record.lease.partialQueueId !== undefined)
		.length;

describe.each(
	firstCase([
		['redis', async () => freshRedisBox(redis.port, 2)],
		['embedded', async () => freshEmbeddedBox(2)],
	]),
)('with the %s store', (_, create) => {
	test.each(
		firstCase([
			['SIGINT', 130],
			['SIGTERM', 143],
			['SIGHUP', 129],
		]),
	)('%s makes a waiting run leave the queue and free the GPU it already holds', async (signal, exitCode) => {
		const box = await create();
		await box.run('reserve --gpu-ids 0');
		const waiter = start(box, 'run --gpus 2 -- true');
		await waiter.says(/got 1\/2 \[1\]/v);
		expect(await held(box)).toBe(1);
		waiter.kill(signal);
		const ran = await waiter.ended;
		expect(ran).toMatchObject({exitCode, stdout: ''});
		expect(ran.stderr).toMatch(/\nLeft the queue\n$/v);
		const {queue, gpus} = await peek(box);
		expect(queue).toEqual([]);
		expect(gpus.map(({kind}) => kind)).toEqual(['leased', 'free']);
		expect(await recordsOf(box)).toMatchObject([{gpuId: 1, endReason: 'queue-left'}]);
	});

	test('closing the terminal of a waiting reserve removes its request from the queue', async () => {
		const box = await create();
		await box.run('reserve --gpu-ids 0');
		const shell = await openShell(box);
		shell.write('canhazgpu reserve --gpus 2\r');
		await shell.waitFor(/got 1\/2 \[1\]/v);
		shell.hangUp();
		await eventually(async () => (await peek(box)).queue.length === 0);
		expect((await peek(box)).gpus.map(({kind}) => kind)).toEqual(['leased', 'free']);
		expect(await recordsOf(box)).toMatchObject([{gpuId: 1, endReason: 'queue-left'}]);
	});

	test('reserve exits with 3 when its --wait expires, and leaves no queue entry', async () => {
		const box = await create();
		await box.run('reserve --gpu-ids 0');
		const ran = await start(box, 'reserve --gpus 2 --wait 2s').ended;
		expect(ran).toMatchObject({exitCode: 3, stdout: ''});
		expect(ran.stderr).toMatch(/\nError: The GPUs did not become free in time\n/v);
		const {queue, gpus} = await peek(box);
		expect(queue).toEqual([]);
		expect(gpus.map(({kind}) => kind)).toEqual(['leased', 'free']);
	});

	test('the next command removes the queue entry of a killed reserve and frees its GPUs', async () => {
		const box = await create();
		await box.run('reserve --gpu-ids 0');
		const waiter = start(box, 'reserve --gpus 2');
		await waiter.says(/got 1\/2 \[1\]/v);
		waiter.kill('SIGKILL');
		await waiter.ended;
		expect(await box.run('reserve --nonblock --short')).toEqual({exitCode: 0, stdout: '1\n', stderr: ''});
		expect((await peek(box)).queue).toEqual([]);
		expect(await recordsOf(box)).toMatchObject([{gpuId: 1, endReason: 'queue-left'}]);
	});
});

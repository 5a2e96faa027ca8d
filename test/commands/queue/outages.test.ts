/** Waiting in the queue while Redis is away. */
import {describe, expect, onTestFinished, test} from 'vitest';
import {eventually} from '../../_helpers/eventually.js';
import {freshRedisBox, peek, start} from '../../_helpers/program/processes.js';
import {startRedis} from '../../_helpers/store/redis-server.js';

describe('while Redis is away', () => {
	const atServer = async (isDurable: boolean) => {
		const server = await startRedis({isDurable});
		onTestFinished(async () => server.stop());
		return {server, box: await freshRedisBox(server.port, 2)};
	};

	test('the position in the queue is kept when it comes back with its data', async () => {
		const {server, box} = await atServer(true);
		await box.run('reserve --gpus 2');
		const first = start(box, 'reserve --short');
		await first.says(/position 1 of 1/v);
		const second = start(box, 'reserve --short');
		await second.says(/position 2 of 2/v);
		const [before] = (await peek(box)).queue;
		await server.kill();
		await first.says(/\nStill waiting at the same position in the queue: /v);
		await server.restart();
		await first.says(/is kept[\s\S]*\nWaiting for 1 GPU: position 1 of 2/v, 15_000);
		expect((await peek(box)).queue[0]!.id).toBe(before!.id);
		// Two ways of hearing of the loss, one line or two, and not one a try.
		expect(first.stderr().split('\n').length).toBeLessThan(6);
		await box.run('release --gpu-ids 1');
		expect(await first.ended).toMatchObject({exitCode: 0, stdout: '1\n'});
		expect(second.stdout()).toBe('');
		await box.run('release --gpu-ids 0');
		expect(await second.ended).toMatchObject({exitCode: 0, stdout: '0\n'});
	});

	test('without its data a waiter puts back what was read: the pool, who held it, and its position in the queue', async () => {
		const {server, box} = await atServer(false);
		await box.run('reserve --gpus 2');
		const waiter = start(box, 'reserve --gpus 2 --short');
		await waiter.says(/position 1 of 1/v);
		const [before] = (await peek(box)).queue;
		await server.restart();
		await eventually(async () => (await peek(box)).pool !== undefined, 15_000);
		const {queue, gpus} = await peek(box);
		expect(queue.map(({id}) => id)).toEqual([before!.id]);
		expect(gpus.map(({kind}) => kind)).toEqual(['leased', 'leased']);
		await box.run('release');
		expect(await waiter.ended).toMatchObject({exitCode: 0, stdout: '0,1\n'});
		expect((await peek(box)).queue).toEqual([]);
	});

	test('Ctrl-C ends the waiting all the same', async () => {
		const {server, box} = await atServer(true);
		await box.run('reserve --gpus 2');
		const waiter = start(box, 'run -- true');
		await waiter.says(/position 1 of 1/v);
		await server.kill();
		await waiter.says(/position in the queue is kept/v);
		waiter.kill('SIGINT');
		const asked = performance.now();
		expect(await waiter.ended).toMatchObject({exitCode: 130});
		expect(performance.now() - asked).toBeLessThan(10_000);
		await server.restart();
		// Its entry is still there, and its process is not.
		expect(await box.run('queue')).toMatchObject({exitCode: 0, stdout: 'Nobody waits\n'});
	});
});

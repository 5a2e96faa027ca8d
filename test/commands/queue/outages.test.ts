/** A wait in the queue during an outage of Redis. */
import {describe, expect, onTestFinished, test} from 'vitest';
import {eventually} from '../../_helpers/eventually.js';
import {freshRedisBox, peek, start} from '../../_helpers/program/processes.js';
import {startRedis} from '../../_helpers/store/redis-server.js';
import {slowTest} from '../../_helpers/slow.js';

describe('while Redis is unreachable', () => {
	const atServer = async (isDurable: boolean) => {
		const server = await startRedis({isDurable});
		onTestFinished(async () => server.stop());
		return {server, box: await freshRedisBox(server.port, 2)};
	};

	slowTest('a waiting request keeps its queue position if Redis returns with all data', async () => {
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
		await first.says(/at the same position[\s\S]*\nWaiting for 1 GPU: position 1 of 2/v);
		expect((await peek(box)).queue[0]!.id).toBe(before!.id);
		// The loss may be noticed in two ways, so one or two lines, but not one per retry.
		expect(first.stderr().split('\n').length).toBeLessThan(6);
		await box.run('release --gpu-ids 1');
		expect(await first.ended).toMatchObject({exitCode: 0, stdout: '1\n'});
		expect(second.stdout()).toBe('');
		await box.run('release --gpu-ids 0');
		expect(await second.ended).toMatchObject({exitCode: 0, stdout: '0\n'});
	});

	test('a waiting request restores the pool and its queue position if Redis returns empty', async () => {
		const {server, box} = await atServer(false);
		await box.run('reserve --gpus 2');
		const waiter = start(box, 'reserve --gpus 2 --short');
		await waiter.says(/position 1 of 1/v);
		const [before] = (await peek(box)).queue;
		await server.restart();
		await eventually(async () => (await peek(box)).pool !== undefined);
		const {queue, gpus} = await peek(box);
		expect(queue.map(({id}) => id)).toEqual([before!.id]);
		expect(gpus.map(({kind}) => kind)).toEqual(['leased', 'leased']);
		await box.run('release');
		expect(await waiter.ended).toMatchObject({exitCode: 0, stdout: '0,1\n'});
		expect((await peek(box)).queue).toEqual([]);
	});

	slowTest('Ctrl-C still ends the wait', async () => {
		const {server, box} = await atServer(true);
		await box.run('reserve --gpus 2');
		const waiter = start(box, 'run -- true');
		await waiter.says(/position 1 of 1/v);
		await server.kill();
		await waiter.says(/same position in the queue/v);
		waiter.kill('SIGINT');
		expect(await waiter.ended).toMatchObject({exitCode: 130});
		await server.restart();
		// The queue entry of the ended process is removed at the next read.
		expect(await box.run('queue')).toMatchObject({exitCode: 0, stdout: 'Nobody waits\n'});
	});
});

/** An agent on a machine with an nvidia-smi that reports a process without a reservation. */
import {expect, test} from 'vitest';
import {fixture} from '../gpu/fixture.js';
import {createUsedBox} from '../_helpers/program/used-box.js';
import {connect, expectError} from './_client.js';

test('gpu_reserve never returns a GPU that is in use without a reservation, and names its process', async () => {
	const {box, stub, job} = await createUsedBox();
	const agent = await connect(box);
	const status = await agent.call('gpu_status');
	expect(status.words).toMatch(/GPU 0 .* is AVAILABLE/v);
	expect(status.words).toMatch(new RegExp(`GPU 1 .* is UNRESERVED.*PID ${job.pid}`, 'v'));
	expectError(await agent.call('gpu_reserve', {count: 2}), /^Not enough GPUs available\. Requested: 2, Available: 1 /v);
	expect((await agent.call('gpu_reserve', {count: 1})).json).toMatchObject({gpu_ids: [0]});
	expectError(await agent.call('gpu_reserve', {gpu_ids: [1]}), /GPU 1 is used without a reservation by /v);

	// An answer with an error word is unknown, and unknown is not free.
	expect((await agent.call('gpu_release')).isError).toBe(false);
	await stub.answer({gpus: {stdout: fixture('gpus/two.csv').replace(', 4, 0, 31,', ', [Unknown Error], 0, 31,')}});
	expectError(await agent.call('gpu_reserve', {count: 1}), /^Not enough GPUs available\. Requested: 1, Available: 0 /v);
});

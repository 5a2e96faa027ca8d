/** A request for all GPUs does not block the other requests while one GPU is broken. */
import {writeFileSync} from 'node:fs';
import {expect} from 'vitest';
import type {Box} from '../../_helpers/program/cli.js';
import {eventually} from '../../_helpers/eventually.js';
import {freshEmbeddedBox, freshRedisBox, holders, peek, start} from '../../_helpers/program/processes.js';
import {redisOfFile} from '../../_helpers/store/redis-of-file.js';
import {slowTest} from '../../_helpers/slow.js';

const redis = redisOfFile();

const stores: ReadonlyArray<readonly [string, () => Promise<Box>]> = [
	['redis', async () => freshRedisBox(redis.port, 3)],
	['embedded', async () => freshEmbeddedBox(3)],
];

slowTest.each(stores)(
	'with the %s store, a request that waits for a broken GPU blocks no other request',
	async (_, fresh) => {
		const box = await fresh();
		const scenario = `${box.home}/scenario.yaml`;
		const environment = {CANHAZGPU_SIMULATED_SCENARIO: scenario};
		const broken = 'failures: [{gpu: 2, words: GPU has fallen off the bus}]';
		writeFileSync(scenario, broken);
		const forAll = start(box, 'run --gpus 3 -- printenv CUDA_VISIBLE_DEVICES', environment);
		await forAll.says(/position 1 of 1/v);
		await eventually(async () => {
			const [place] = (await peek(box)).queue;
			return place?.kind === 'entry' && place.entry.unavailable !== undefined;
		});

		expect(await box.run('run --gpus 1 -- printenv CUDA_VISIBLE_DEVICES', environment)).toMatchObject({
			exitCode: 0,
			stdout: '0\n',
		});
		expect(await box.run('reserve --gpus 2 --nonblock --short', environment)).toMatchObject({
			exitCode: 0,
			stdout: '0,1\n',
		});
		const {stdout} = await box.run('queue', environment);
		expect(stdout).toContain(
			'#1 waits for GPU 2, which is out of service: GPU has fallen off the bus; others can use its GPUs in the meantime\n',
		);
		expect(JSON.parse((await box.run('queue --json', environment)).stdout)).toMatchObject({
			entries: [
				{
					allocated_gpus: [],
					out_of_service: [2],
					waits_for: [{gpu_id: 2, kind: 'broken', reason: 'GPU has fallen off the bus'}],
				},
			],
		});

		// A process reads the scenario at its start, so the waiter is restarted and joins at the end.
		forAll.kill('SIGINT');
		await forAll.ended;
		writeFileSync(scenario, '{}');
		const again = start(box, 'run --gpus 3 -- printenv CUDA_VISIBLE_DEVICES', environment);
		await again.says(/got 1\/3 \[2\]/v);
		expect((await box.run('reserve --gpus 1 --nonblock', environment)).exitCode).toBe(3);
		await box.run('release', environment);
		expect(await again.ended).toMatchObject({exitCode: 0, stdout: '0,1,2\n'});
		expect(await holders(box)).toBe('0:- 1:- 2:-');
	},
);

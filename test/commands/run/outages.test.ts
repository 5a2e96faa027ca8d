/** `run` while its store is unreachable, or after the store lost its data. */
import process from 'node:process';
import {describe, expect, onTestFinished, test} from 'vitest';
import {slowTest} from '../../_helpers/slow.js';
import {eventually} from '../../_helpers/eventually.js';
import {freshRedisBox, holders, isAlive, peek} from '../../_helpers/program/processes.js';
import {startRedis} from '../../_helpers/store/redis-server.js';
import {startSleeper} from './_sleeper.js';

describe('run during an outage of Redis', () => {
	const atServer = async (options: Parameters<typeof startRedis>[0] = {}) => {
		const server = await startRedis(options);
		onTestFinished(async () => server.stop());
		return {server, box: await freshRedisBox(server.port, 2)};
	};

	slowTest('keeps its job alive and exits with the exit code of the job within 20 s', async () => {
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
			'canhazgpu: the GPUs could not be released. They will be released once the store can be written again.',
		);
		expect(performance.now() - asked).toBeLessThan(20_000);
	});

	test('keeps its lease if Redis keeps its data, and releases the lease at the end', async () => {
		const {server, box} = await atServer({isDurable: true});
		const {wrapper, pid} = await startSleeper(box);
		await server.restart();
		expect(await holders(box)).toBe('0:RUN 1:-');
		process.kill(pid, 'SIGTERM');
		expect(await wrapper.ended).toMatchObject({exitCode: 143, stderr: ''});
		expect(await holders(box)).toBe('0:- 1:-');
	});

	test('restores the pool and the leases of all jobs if Redis loses its data', async () => {
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

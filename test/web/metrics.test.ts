/** What Prometheus is told of GPUs that are out of the ordinary, and of reservations that ended. */
import {writeFileSync} from 'node:fs';
import path from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {createEmbeddedBox} from '../_helpers/program/cli.js';
import {eventually} from '../_helpers/eventually.js';
import {ask, startWeb} from './_server.js';

const scenario = String.raw`
processes:
  - {gpu: 0, user: mallory, command: python eval.py, memory: 9000}
  - {gpu: 1, user: "nobody\"", command: python run.py, memory: 9000}
hidden: [{gpu: 2}]
mig: [{gpu: 3, profiles: [3g.40gb, 1g.10gb]}]
`;

test('unreserved use and squatters by name, drained apart from broken, MIG, and each way to end', async () => {
	const box = await createEmbeddedBox(6);
	onTestFinished(box.remove);
	const file = path.join(box.home, 'scenario.yaml');
	writeFileSync(file, scenario);
	const environment = {CANHAZGPU_SIMULATED_SCENARIO: file};
	await box.run('admin --drain 4', environment);
	const web = await startWeb(box, [], environment);
	onTestFinished(async () => {
		await web.end('SIGKILL');
	});
	const linesOf = async () => (await ask(web.port, '/metrics')).body.split('\n');
	await eventually(async () => (await linesOf()).includes('canhazgpu_scan_up 1'));
	await box.run('reserve --gpu-ids 0 --force --duration 1h', environment);
	await box.run('reserve --gpu-ids 2 --force --duration 1h', environment);
	await box.run('run --gpu-ids 5 -- true', environment);
	await box.run('reserve --gpu-ids 3,5 --duration 1h', environment);
	await box.run('release --gpu-ids 3', environment);
	await eventually(async () => {
		const lines = await linesOf();
		expect(lines).toEqual(
			expect.arrayContaining([
				String.raw`canhazgpu_gpu_unreserved_info{gpu="1",user="nobody\""} 1`,
				'canhazgpu_gpu_squatter_processes{gpu="0"} 1',
				'canhazgpu_gpu_state{gpu="4",state="drained"} 1',
				'canhazgpu_gpu_state{gpu="4",state="error"} 0',
				'canhazgpu_gpu_drained{gpu="4"} 1',
				'canhazgpu_gpu_mig_instances{gpu="3"} 2',
				'canhazgpu_ends_total 1',
				'canhazgpu_releases_total 1',
				'canhazgpu_expiries_total 0',
				'canhazgpu_queue_oldest_wait_seconds 0',
				// Two reservations, one job, one reservation of two GPUs: none had to wait.
				'canhazgpu_grant_wait_seconds_bucket{le="1"} 4',
				'canhazgpu_grant_wait_seconds_sum 0',
				'canhazgpu_grant_wait_seconds_count 4',
			]),
		);
		return true;
	});
	const lines = await linesOf();
	// Unknown is left out, and never zero.
	expect(lines.filter((line) => line.startsWith('canhazgpu_gpu_squatter_processes{gpu="2"}'))).toEqual([]);
	const seconds = (name: string) =>
		Number(
			lines.find((line) => line.startsWith(`canhazgpu_gpu_lease_${name}_timestamp_seconds{gpu="0"}`))!.split(' ', 2)[1],
		);
	// Stored in whole seconds.
	expect(Math.abs(seconds('expiry') - seconds('start') - 3600)).toBeLessThanOrEqual(1);
	expect(lines.filter((line) => line.startsWith('canhazgpu_build_info{version="'))).toHaveLength(1);
});

test('a wait in the queue is counted with its length when it is over', async () => {
	const box = await createEmbeddedBox(1);
	onTestFinished(box.remove);
	const web = await startWeb(box);
	onTestFinished(async () => {
		await web.end('SIGKILL');
	});
	const figure = async (name: string) =>
		Number(
			(await ask(web.port, '/metrics')).body
				.split('\n')
				.find((line) => line.startsWith(`canhazgpu_${name} `))!
				.split(' ', 2)[1],
		);
	await box.run('reserve --duration 1h');
	const waiting = box.run('reserve --wait 5m --duration 1h');
	await eventually(async () => (await figure('queue_length')) === 1);
	await eventually(async () => (await figure('queue_oldest_wait_seconds')) > 1);
	await box.run('release --gpu-ids 0');
	await waiting;
	await eventually(async () => (await figure('grant_wait_seconds_count')) === 2);
	expect(await figure('grant_wait_seconds_bucket{le="1"}')).toBe(1);
	expect(await figure('grant_wait_seconds_bucket{le="60"}')).toBe(2);
	expect(await figure('grant_wait_seconds_sum')).toBeGreaterThan(1);
});

/** Ended jobs from a real slurmdbd and MariaDB in `report` and `events`, also while the database is down. */
import {expect, test} from 'vitest';
import {eventually} from '../../_helpers/eventually.js';
import {clusterOfFile, type Row} from './_cluster.js';

const {slurm, box} = clusterOfFile({hasAccounts: true});

const endedJobs = (): number =>
	slurm()
		.run('sacct', '--allocations', '--noheader', '--parsable2', '--format=State')
		.split('\n')
		.filter((state) => ['COMPLETED', 'FAILED'].includes(state)).length;

test('report on Slurm counts the GPU hours of ended jobs', async () => {
	expect((await box().run('report --json')).stdout).toContain('"total_gpu_hours": 0,');
	expect((await box().run('run -g 3 -- sleep 4')).exitCode).toBe(0);
	slurm().run('srun', '--gres=gpu:1', '--job-name=plain', 'true');
	expect((await box().run('run -- false')).exitCode).toBe(1);
	slurm().run('srun', 'true');
	await eventually(() => endedJobs() === 4);

	const {users, ...report} = JSON.parse((await box().run('report --days 1 --json')).stdout) as Row & {
		readonly users: readonly Row[];
	};
	// A job without GPUs is not counted. Each GPU is one reservation, as in a local pool.
	expect(report).toMatchObject({by: 'user', total_reservations: 5, unique_users: 1});
	expect(users).toMatchObject([{name: 'root', percentage: 100, run_count: 5, manual_count: 0}]);
	const hours = Number(report['total_gpu_hours']);
	expect([hours >= (3 * 4) / 3600, hours < (3 * 12) / 3600]).toEqual([true, true]);
	expect((await box().run('report --days 1')).stdout).toMatch(/ root │ +0\.\d\d │ 100\.0% │ +5 │ +0\n/v);
	const byGpu = JSON.parse((await box().run('report --by gpu --json')).stdout) as {readonly gpus: readonly Row[]};
	expect(byGpu.gpus).toMatchObject([{name: 'unknown'}]);

	const events = (await box().run('events')).stdout.split('\n').map((line) => line.slice('00:00:00 '.length));
	expect(events).toEqual(
		expect.arrayContaining([
			'root got 3 GPUs',
			'root no longer has 3 GPUs: the job ended',
			'root no longer has 1 GPU: the job ended',
		]),
	);
});

test('report on Slurm exits with 4 while the database is down, and other commands still work', async () => {
	await slurm().kill('slurmdbd');
	const {exitCode, stdout, stderr} = await box().run('report');
	const events = await box().run('events');
	const status = await box().run('status --json');
	const run = await box().run('run -g 2 -- printenv CUDA_VISIBLE_DEVICES');
	await slurm().start('slurmdbd');
	expect([exitCode, stdout, stderr]).toEqual([
		4,
		'',
		'Error: The database of Slurm does not answer\nSee whether slurmdbd runs: sacctmgr show cluster\n',
	]);
	expect([events.exitCode, events.stdout.includes('root got 3 GPUs')]).toEqual([0, true]);
	expect([status.exitCode, run.exitCode, run.stdout]).toEqual([0, 0, '0,1\n']);
	// Jobs that ended meanwhile are reported when the database is back.
	await eventually(async () => {
		const {stdout: json} = await box().run('report --days 1 --json');
		return json.includes('"total_reservations": 7');
	});
});

/**
`run` on a real Slurm beside srun of the same command, in turns: printenv on two GPUs. Of what is added, the start of the runtime is told alone.
*/
import {spawnSync} from 'node:child_process';
import process from 'node:process';
import {isSlurmInstalled, startSlurm} from '../_helpers/machine/slurm-cluster.js';
import {createBox, program} from '../_helpers/program/cli.js';
import {median, report, printFigure} from './_helpers/measure.js';

const rounds = 20;
const command = ['printenv', 'CUDA_VISIBLE_DEVICES'];

if (isSlurmInstalled()) {
	const slurm = await startSlurm();
	const box = createBox({...slurm.environment, CANHAZGPU_ENGINE: 'slurm'});

	/** Milliseconds from the start of a process to its end. */
	const run = (expected: string, file: string, ...args: readonly string[]): number => {
		const started = performance.now();
		const {status, stdout, stderr} = spawnSync(file, args, {env: {...box.environment}, encoding: 'utf8'});
		const took = performance.now() - started;
		if (status !== 0 || stdout !== expected) {
			throw new Error(`${file} failed: ${stderr}`);
		}

		return took;
	};

	try {
		const figures = {bare: [] as number[], srun: [] as number[], ours: [] as number[]};
		for (let round = -2; round < rounds; round++) {
			const bare = run('', process.execPath, '-e', '0');
			const srun = run('0,1\n', 'srun', '--gres=gpu:2', ...command);
			const ours = run('0,1\n', process.execPath, program, 'run', '--gpus', '2', '--', ...command);
			if (!(round >= 0)) {
				continue;
			}

			figures.bare.push(bare);
			figures.srun.push(srun);
			figures.ours.push(ours);
		}

		const [bare, srun, ours] = [median(figures.bare), median(figures.srun), median(figures.ours)];
		printFigure('bare start of the runtime, median', bare, 'ms');
		printFigure('srun, median', srun, 'ms');
		printFigure('run on Slurm, median', ours, 'ms');
		printFigure('srun after a bare start of the runtime', (bare + srun) / srun, 'of srun');
		report('run on Slurm', ours / srun, {limit: 3, unit: 'of srun'});
	} finally {
		box.remove();
		await slurm.stop();
	}
} else {
	process.stdout.write(
		'      run on Slurm: left out, since there is no Slurm here (slurmctld slurmd slurm-client munge)\n',
	);
}

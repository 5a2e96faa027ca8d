/**
`run` on a real Slurm beside srun of the same command, in turns: printenv on two GPUs, by Node and by the single binary. Of what is added, the
start of Node is told alone.
*/
import {spawnSync} from 'node:child_process';
import path from 'node:path';
import process from 'node:process';
import {isSlurmInstalled, startSlurm} from '../_helpers/machine/slurm-cluster.js';
import {createBox, program} from '../_helpers/program/cli.js';
import {median, report, printFigure} from './_helpers/measure.js';

const rounds = 20;
const command = ['printenv', 'CUDA_VISIBLE_DEVICES'];
const binary = path.join(path.dirname(program), `canhazgpu-${process.platform}-${process.arch}`);
/** A build takes it away. */
const hasBinary =
	spawnSync(process.execPath, [path.join(path.dirname(program), '../.config/make-binary.js')]).status === 0;

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
		const asked = ['run', '--gpus', '2', '--', ...command];
		const all: Array<Readonly<Record<'bare' | 'srun' | 'node' | 'binary', number>>> = [];
		for (let round = -2; round < rounds; round++) {
			const figures = {
				bare: run('', process.execPath, '-e', '0'),
				srun: run('0,1\n', 'srun', '--gres=gpu:2', ...command),
				node: run('0,1\n', process.execPath, program, ...asked),
				binary: hasBinary ? run('0,1\n', binary, ...asked) : 0,
			};
			if (round >= 0) {
				all.push(figures);
			}
		}

		const medianOf = (name: 'bare' | 'srun' | 'node' | 'binary'): number => median(all.map((each) => each[name]));
		const [bare, srun] = [medianOf('bare'), medianOf('srun')];
		printFigure('bare start of Node, median', bare, 'ms');
		printFigure('srun, median', srun, 'ms');
		printFigure('srun after a bare start of Node', (bare + srun) / srun, 'of srun');
		printFigure('run on Slurm by Node, median', medianOf('node'), 'ms');
		report('run on Slurm by Node', medianOf('node') / srun, {limit: 3, unit: 'of srun'});
		if (hasBinary) {
			printFigure('run on Slurm by the binary, median', medianOf('binary'), 'ms');
			report('run on Slurm by the binary', medianOf('binary') / srun, {limit: 2, unit: 'of srun'});
		} else {
			process.stdout.write(
				'      run on Slurm by the binary: left out, since it cannot be made (npm run binary says why)\n',
			);
		}
	} finally {
		box.remove();
		await slurm.stop();
	}
} else {
	process.stdout.write(
		'      run on Slurm: left out, since there is no Slurm here (slurmctld slurmd slurm-client munge)\n',
	);
}

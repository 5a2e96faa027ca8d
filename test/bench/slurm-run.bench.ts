/**
`run` on a real Slurm compared with srun: printenv on two GPUs, by Node and by the single binary, alternating. Node's start is reported separately,
and so is the minimum for a binary: a program that only starts srun and exits with its code.
*/
import {execFileSync, spawnSync} from 'node:child_process';
import {globSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {isSlurmInstalled, startSlurm} from '../_helpers/machine/slurm-cluster.js';
import {createBox, program} from '../_helpers/program/cli.js';
import {median, report, printFigure} from './_helpers/measure.js';

type Measured = 'bare' | 'srun' | 'node' | 'floor' | 'binary';

const rounds = 30;
const command = ['printenv', 'CUDA_VISIBLE_DEVICES'];
const binary = path.join(path.dirname(program), `canhazgpu-${process.platform}-${process.arch}`);
/** Builds the binary, because building the program deletes it. */
const hasBinary =
	spawnSync(process.execPath, [path.join(path.dirname(program), '../.config/make-binary.js')]).status === 0;

/** Builds the minimal program. */
function makeFloor(directory: string): string {
	const [bun] = globSync(path.join(path.dirname(program), '../node_modules/.cache/bun/*/package/bin/bun'));
	const source = path.join(directory, 'floor.mjs');
	const file = path.join(directory, 'floor');
	writeFileSync(
		source,
		"Bun.spawn(['srun', ...process.argv.slice(2)], {stdio: ['inherit', 'inherit', 'inherit'], onExit: (_, code) => process.exit(code)});\n",
	);
	execFileSync(bun!, ['build', '--compile', '--bytecode', '--minify', '--format=esm', `--outfile=${file}`, source], {
		stdio: 'ignore',
	});
	return file;
}

if (isSlurmInstalled()) {
	const slurm = await startSlurm();
	const box = createBox({...slurm.environment, CANHAZGPU_ENGINE: 'slurm'});

	/** Milliseconds from the start of a process to its exit. */
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
		const floor = hasBinary ? makeFloor(box.home) : '';
		const asked = ['run', '--gpus', '2', '--', ...command];
		const all: Array<Readonly<Record<Measured, number>>> = [];
		for (let round = -2; round < rounds; round++) {
			const figures = {
				bare: run('', process.execPath, '-e', '0'),
				srun: run('0,1\n', 'srun', '--gres=gpu:2', ...command),
				node: run('0,1\n', process.execPath, program, ...asked),
				floor: hasBinary ? run('0,1\n', floor, '--gres=gpu:2', ...command) : 0,
				binary: hasBinary ? run('0,1\n', binary, ...asked) : 0,
			};
			if (round >= 0) {
				all.push(figures);
			}
		}

		const medianOf = (name: Measured): number => median(all.map((each) => each[name]));
		const [bare, srun] = [medianOf('bare'), medianOf('srun')];
		printFigure('bare start of Node, median', bare, 'ms');
		printFigure('srun, median', srun, 'ms');
		printFigure('srun after a bare start of Node', (bare + srun) / srun, 'of srun');
		printFigure('run on Slurm by Node, median', medianOf('node'), 'ms');
		report('run on Slurm by Node', medianOf('node') / srun, {limit: 3, unit: 'of srun'});
		if (hasBinary) {
			printFigure('a binary that only starts srun', medianOf('floor') / srun, 'of srun');
			printFigure('run on Slurm by the binary, median', medianOf('binary'), 'ms');
			report('run on Slurm by the binary', medianOf('binary') / srun, {limit: 1.7, unit: 'of srun'});
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

/** A real Slurm for the tests of one file, and the program that uses it. */
import {chmodSync} from 'node:fs';
import {afterAll, afterEach, beforeAll} from 'vitest';
import {startSlurm, type SlurmCluster} from '../../_helpers/machine/slurm-cluster.js';
import {createBox, type Box} from '../../_helpers/program/cli.js';

export type Row = Readonly<Record<string, unknown>>;

/** Shared by the tests of a file, and available from the first test on. */
export type ClusterOfFile = {
	readonly slurm: () => SlurmCluster;
	readonly box: () => Box;
	/** The rows of `status --json`. */
	readonly rows: () => Promise<readonly Row[]>;
};

/** Starts the cluster before the first test, cancels its jobs after each test, and stops it after the last. */
export function clusterOfFile(options?: Parameters<typeof startSlurm>[0]): ClusterOfFile {
	let slurm: SlurmCluster;
	let box: Box;
	beforeAll(async () => {
		slurm = await startSlurm(options);
		box = createBox({...slurm.environment, CANHAZGPU_ENGINE: 'slurm'});
		chmodSync(box.home, 0o755);
		// Slurm is downloaded if it is not installed.
	});

	afterEach(async () => {
		await slurm.clear();
	});

	afterAll(async () => {
		await slurm.stop();
		box.remove();
	});

	return {
		slurm: () => slurm,
		box: () => box,
		rows: async () => JSON.parse((await box.run('status --json')).stdout) as Row[],
	};
}

/** A real Slurm for the tests of one file, with the program that speaks to it. */
import {chmodSync} from 'node:fs';
import {afterAll, afterEach, beforeAll} from 'vitest';
import {startSlurm, type SlurmCluster} from '../../_helpers/machine/slurm-cluster.js';
import {createBox, type Box} from '../../_helpers/program/cli.js';

export type Row = Readonly<Record<string, unknown>>;

/** What the tests of a file share; there from the first test on. */
export type ClusterOfFile = {
	readonly slurm: () => SlurmCluster;
	readonly box: () => Box;
	/** What `status --json` shows. */
	readonly rows: () => Promise<readonly Row[]>;
};

/** Starts the cluster before the first test, takes its jobs away after each, and ends it after the last. */
export function clusterOfFile(options?: Parameters<typeof startSlurm>[0]): ClusterOfFile {
	let slurm: SlurmCluster;
	let box: Box;
	beforeAll(async () => {
		slurm = await startSlurm(options);
		box = createBox({...slurm.environment, CANHAZGPU_ENGINE: 'slurm'});
		chmodSync(box.home, 0o755);
		// What is not here yet is fetched.
	}, 300_000);

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

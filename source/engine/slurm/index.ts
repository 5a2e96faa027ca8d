/** Slurm as an engine and as a read-only store. Slurm's commands are run only on demand. */
import type {Clock, GpuProvider, Store} from '../../core/model/ports.js';
import type {Engine} from '../../core/operations/engine.js';
import {createCluster} from './cluster.js';
import {createSlurmEngine} from './engine.js';
import {createSlurmGpus, createSlurmStore} from './store.js';

export function openSlurm(
	clock: Clock,
	shardMiB: number | undefined,
): {readonly engine: Engine; readonly store: Store; readonly gpus: GpuProvider} {
	const cluster = createCluster(() => clock.monotonicMs());
	return {
		engine: createSlurmEngine(cluster, clock, shardMiB),
		store: createSlurmStore(cluster, clock),
		gpus: createSlurmGpus(cluster, clock),
	};
}

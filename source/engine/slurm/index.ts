/** Slurm as an engine: what acts, and what shows. Nothing is run before it is asked for. */
import type {Clock, GpuProvider, Store} from '../../core/model/ports.js';
import type {Engine} from '../../core/operations/engine.js';
import {createCluster} from './cluster.js';
import {createSlurmEngine} from './engine.js';
import {createSlurmGpus, createSlurmStore} from './store.js';

/** @param shardMiB - How much memory a shard of a GPU stands for, where the configuration says so. */
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

/** Shows the queue and the GPUs of a cluster as a read-only store. */
import {CanhazgpuError, hasCode} from '../../errors.js';
import type {Clock, GpuProvider, Store} from '../../core/model/ports.js';
import type {AuditQuery} from '../../core/model/types.js';
import {accountedUsage, countsGpus, endedJobs, type EndedJob} from './accounting.js';
import {clusterText, type Cluster} from './cluster.js';
import {createEventOrder, recentEvents} from './events.js';
import {observationOf, providerName, snapshotOf} from './snapshot.js';

/** Slurm reports no changes, so it is polled at this interval while an interface follows them. */
const pollMs = 1000;

/** A read of the jobs within this time is used again, because an interface that shows GPUs has just read the jobs. */
const sameMomentMs = 500;

const readOnly = (): CanhazgpuError =>
	new CanhazgpuError('failed', "Slurm manages this cluster, and canhazgpu changes it only through Slurm's commands", {
		hint: 'See what can be done: canhazgpu help slurm',
	});

const usualPastSeconds = 86_400;

/** Returns ended jobs that the controller has forgotten. Empty without an answer of the database, or if only new events are wanted (`afterId`). */
async function forgottenJobs(cluster: Cluster, {afterId, fromTime}: AuditQuery): Promise<readonly EndedJob[]> {
	if (afterId !== undefined || !countsGpus(await cluster.config())) {
		return [];
	}

	try {
		return await endedJobs(cluster, fromTime ?? Date.now() / 1000 - usualPastSeconds);
	} catch (error) {
		if (hasCode(error, 'store-unreachable')) {
			return [];
		}

		throw error;
	}
}

export function createSlurmStore(cluster: Cluster, clock: Clock): Store {
	const subscriptions = new Set<AbortController>();
	const order = createEventOrder();
	return {
		kind: 'slurm',
		get location() {
			return clusterText(cluster.knownConfig());
		},
		shell: 'scontrol',
		async read() {
			const [state] = await Promise.all([cluster.read(), cluster.config()]);
			return snapshotOf(state);
		},
		async readEntry() {
			return undefined;
		},
		async readJobs() {
			throw readOnly();
		},
		async commit() {
			throw readOnly();
		},
		async subscribe({changed}) {
			const ended = new AbortController();
			subscriptions.add(ended);
			void (async () => {
				while (!ended.signal.aborted) {
					await clock.sleep(pollMs, ended.signal).catch(() => undefined);
					if (!ended.signal.aborted) {
						changed(undefined);
					}
				}
			})();

			return async () => {
				ended.abort();
				subscriptions.delete(ended);
			};
		},
		history: (fromTime, toTime) => accountedUsage(cluster, fromTime, toTime),
		async audit(query = {}) {
			const [{jobs, nodes}, forgotten] = await Promise.all([
				cluster.readSince(sameMomentMs),
				forgottenJobs(cluster, query),
			]);
			const known = new Set(jobs.map(({id}) => id));
			return recentEvents([...jobs, ...forgotten.filter(({id}) => !known.has(id))], nodes, query, order);
		},
		// The load of GPUs is neither read nor stored.
		loads: {append: async () => undefined, read: async () => new Map()},
		scans: {
			claim: async () => false,
			resign: async () => undefined,
			post: async () => false,
			latest: async () => undefined,
			subscribe: async () => async () => undefined,
		},
		async close() {
			for (const ended of subscriptions) {
				ended.abort();
			}
		},
	};
}

export const createSlurmGpus = (cluster: Cluster, clock: Clock): GpuProvider => ({
	name: providerName,
	simulated: false,
	async count() {
		return observationOf(await cluster.read()).gpus.length;
	},
	async observe() {
		try {
			return observationOf(await cluster.readSince(sameMomentMs));
		} catch (error) {
			if (!(error instanceof CanhazgpuError)) {
				throw error;
			}

			return {
				provider: providerName,
				takenAtMs: clock.monotonicMs(),
				simulated: false,
				gpus: [],
				failure: {message: error.message, hint: error.hint},
				warnings: [],
			};
		}
	},
});

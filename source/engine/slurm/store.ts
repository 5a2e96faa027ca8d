/** The queue and the GPUs of a cluster, as a store that is only read: Slurm alone keeps them. */
import {CanhazgpuError} from '../../errors.js';
import type {Clock, GpuProvider, Store, UsageHistory} from '../../core/model/ports.js';
import type {UsageRecord} from '../../core/model/types.js';
import {clusterWords, type Cluster} from './cluster.js';
import {recentEvents} from './events.js';
import {observationOf, providerName, snapshotOf} from './picture.js';

/** Nobody tells of changes: it is asked this often while somebody watches. */
const pollMs = 1000;

/** Who shows the GPUs has just read the jobs, or is about to. */
const sameMomentMs = 500;

const readOnly = (): CanhazgpuError =>
	new CanhazgpuError('failed', 'Slurm keeps this cluster, and canhazgpu changes nothing there but by its commands', {
		hint: 'See what can be done: canhazgpu help slurm',
	});

/** Slurm keeps what was, and nothing is counted from it here. */
function noHistory(): UsageHistory {
	// eslint-disable-next-line require-yield -- there is nothing to give
	async function* refuse(): AsyncGenerator<never> {
		throw new CanhazgpuError(
			'failed',
			'Slurm keeps the records of its jobs itself, and canhazgpu makes no report of them',
			{
				hint: 'With accounting: sreport cluster AccountUtilizationByUser -T gres/gpu, or sacct. Without: the file of JobCompLoc',
			},
		);
	}

	return {
		pages: (): AsyncIterable<readonly UsageRecord[]> => refuse(),
		[Symbol.asyncIterator]: (): AsyncIterator<UsageRecord> => refuse(),
	};
}

export function createSlurmStore(cluster: Cluster, clock: Clock): Store {
	const subscriptions = new Set<AbortController>();
	return {
		kind: 'slurm',
		get location() {
			return clusterWords(cluster.knownConfig());
		},
		async read() {
			const [state] = await Promise.all([cluster.read(), cluster.config()]);
			return snapshotOf(state);
		},
		async readEntry() {
			return undefined;
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
		history: noHistory,
		async audit(query = {}) {
			const {queue, nodes} = await cluster.readSince(sameMomentMs);
			return recentEvents(queue.jobs, nodes, query);
		},
		// No load is read, and none is kept.
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

/** The GPUs as Slurm tells of them. */
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

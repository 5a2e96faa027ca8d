/** A world for tests of the core: the reference store, and a clock, GPUs and processes that the test controls. */
import {setImmediate as nextTurn} from 'node:timers/promises';
import type {Clock, GpuProvider, Store, World} from '../../source/core/model/ports.js';
import {createPool} from '../../source/core/operations/pool/create-pool.js';
import type {
	EntryRecord,
	GpuReading,
	Liveness,
	Observation,
	QueueEntry,
	Requester,
	Revision,
	Snapshot,
} from '../../source/core/model/types.js';
import {createMemoryStore, type MemoryStore} from '../../source/store/memory/index.js';
import {testHost} from './machine/host.js';
import {fenced} from './store/fenced.js';

export const startTime = 1_800_000_000;

export const person = (account: string, label = account, uid = 1000): Requester => ({account, uid, label});

export const idleReading = (index: number): GpuReading => ({
	index,
	uuid: `GPU-${index}`,
	name: 'Test GPU',
	memoryUsedMiB: 3,
	memoryTotalMiB: 81_559,
	utilizationPercent: 0,
	processes: [],
	unknown: {},
});

export const observationOf = (gpus: readonly GpuReading[], changes: Partial<Observation> = {}): Observation => ({
	provider: 'fake',
	takenAtMs: 0,
	simulated: false,
	gpus,
	warnings: [],
	...changes,
});

/** The revision of a store that was never written to. */
export const noRevision: Revision = {count: 0, base: 0, run: '', since: undefined, raw: undefined};

/** Returns a snapshot of a pool with these GPUs, without a store. The uptime of the store is infinite. */
export const snapshotWith = (changes: Partial<Snapshot> = {}): Snapshot => ({
	now: 100_000,
	storeUptimeSeconds: Infinity,
	pool: {gpuCount: changes.gpus?.length ?? 1, provider: 'fake'},
	gpus: [],
	queue: [],
	drains: new Map(),
	policy: new Map(),
	baselines: new Map(),
	overuse: [],
	alerts: [],
	stored: {machine: undefined, drains: undefined, alerts: undefined, policy: undefined},
	revision: noRevision,
	lastUsed: new Map(),
	...changes,
});

/** Returns an entry as read from the queue. By default it requests any GPU. */
export const entryRecord = (id: string, wants: Partial<QueueEntry> = {}): EntryRecord => ({
	kind: 'entry',
	id,
	raw: '{}',
	entry: {
		id,
		user: id,
		requestedCount: 1,
		requestedIds: [],
		allocatedGpus: [],
		reservationType: 'manual',
		enqueueTime: 0,
		lastHeartbeat: 0,
		...wants,
	},
});

export type TestWorld = World & {
	readonly memory: MemoryStore;
	/** Advances the time. */
	readonly pass: (seconds: number) => void;
	/** Sets the store's clock forward or back, without advancing the time. */
	readonly jump: (seconds: number) => void;
	readonly now: () => number;
	/** Sets the result of all following scans. By default every GPU is idle. */
	readonly see: (observe: () => Observation) => void;
	readonly scans: () => number;
	/** Liveness by pid. By default every process is alive. */
	readonly processes: Map<number, Liveness>;
};

type Options = {
	readonly gpuCount?: number;
	/** Wraps the store, for example to make it fail. */
	readonly wrap?: (store: Store) => Store;
	readonly seed?: number;
};

/** Returns the Park–Miller generator with this seed, so that failures can be reproduced. */
export function randomFrom(seed: number): () => number {
	let state = seed;
	return () => {
		state = (state * 48_271) % 2_147_483_647;
		return state / 2_147_483_647;
	};
}

export async function createTestWorld({
	gpuCount = 4,
	wrap = (store) => store,
	seed = 1,
}: Options = {}): Promise<TestWorld> {
	let seconds = startTime;
	let milliseconds = 0;
	let ids = 0;
	let scans = 0;
	let observe = () => observationOf(Array.from({length: gpuCount}, (_, index) => idleReading(index)));
	const processes = new Map<number, Liveness>();
	const memory = createMemoryStore({now: () => seconds});
	const clock: Clock = {
		monotonicMs: () => milliseconds,
		async sleep(wait, signal) {
			// Pending work runs first, because it can make this sleep unnecessary.
			await nextTurn();
			if (signal?.aborted === true) {
				return;
			}

			milliseconds += wait;
			seconds += wait / 1000;
		},
		random: randomFrom(seed),
		uuid: () => `id-${++ids}`,
	};
	const host = testHost({
		monotonic: {id: 'boot-1', seconds: () => milliseconds / 1000},
		uptimeSeconds: () => 86_400 + milliseconds / 1000,
		liveness: (list) => list.map(({pid}) => processes.get(pid) ?? 'alive'),
	});
	const gpus: GpuProvider = {
		name: 'fake',
		simulated: false,
		count: async () => gpuCount,
		async observe() {
			scans++;
			return {...observe(), takenAtMs: milliseconds};
		},
	};
	await createPool({store: memory, host, clock}, {gpuCount, provider: 'fake', force: false});
	return {
		store: fenced(wrap(memory), () => seconds),
		memory,
		gpus,
		host,
		clock,
		memoryThresholdMiB: 1024,
		pass(more) {
			seconds += more;
			milliseconds += more * 1000;
		},
		jump(more) {
			seconds += more;
		},
		now: () => seconds,
		see(next) {
			observe = next;
		},
		scans: () => scans,
		processes,
	};
}

export async function historyOf(store: Store) {
	const records = await Array.fromAsync(store.history(0, 4_000_000_000));

	return records;
}

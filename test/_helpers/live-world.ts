/** A world in real time for tests of waiting: the reference store, a real clock, and GPUs that are idle by default. */
import {createPool} from '../../source/core/operations/pool/create-pool.js';
import type {Host, World} from '../../source/core/model/ports.js';
import type {Liveness, Observation, ProcessIdentity} from '../../source/core/model/types.js';
import type {LiveViewOptions} from '../../source/core/live/live-view.js';
import {createClock} from '../../source/host/clock.js';
import {createMemoryStore, type MemoryStore} from '../../source/store/memory/index.js';
import {testHost} from './machine/host.js';
import {fenced} from './store/fenced.js';
import {idleReading, observationOf} from './world.js';

export type LiveWorld = World & {
	readonly memory: MemoryStore;
	/** Liveness by pid. By default every process is alive. */
	readonly processes: Map<number, Liveness>;
	/** Returns the same pool as another process sees it. */
	readonly as: (pid: number) => World;
	readonly see: (observe: () => Observation) => void;
	readonly scans: () => number;
};

/** The options with which the web server opens a live view. */
export const liveViewOptions = (broken: LiveViewOptions['broken']): LiveViewOptions => ({
	intervals: {watchedMs: 2000, unwatchedMs: 10_000},
	mostEvents: 200,
	recordsAlerts: true,
	broken,
});

export async function createLiveWorld(gpuCount = 4): Promise<LiveWorld> {
	const memory = createMemoryStore();
	const clock = createClock();
	const processes = new Map<number, Liveness>();
	let scans = 0;
	let observe = (): Observation => observationOf(Array.from({length: gpuCount}, (_, index) => idleReading(index)));
	const hostOf = (self: ProcessIdentity): Host =>
		testHost({self, liveness: (list) => list.map(({pid}) => processes.get(pid) ?? 'alive')});
	const world: World = {
		store: fenced(memory, () => Date.now() / 1000),
		clock,
		host: hostOf({pid: 1}),
		memoryThresholdMiB: 1024,
		gpus: {
			name: 'fake',
			simulated: false,
			count: async () => gpuCount,
			async observe() {
				scans++;
				return {...observe(), takenAtMs: clock.monotonicMs()};
			},
		},
	};
	await createPool(world, {gpuCount, provider: 'fake', force: false});
	return {
		...world,
		memory,
		processes,
		as: (pid) => ({...world, host: hostOf({pid})}),
		see(next) {
			observe = next;
		},
		scans: () => scans,
	};
}

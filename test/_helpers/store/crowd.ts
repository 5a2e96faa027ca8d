/** Simulates many people in one process. Each has a connection to a real store and can be killed. The GPUs are those of the mixed box. */
import {createPool} from '../../../source/core/operations/pool/create-pool.js';
import {couldUse} from '../../../source/core/rules/queue/eligible.js';
import type {Plan} from '../../../source/core/model/plan.js';
import type {Host, Store, World} from '../../../source/core/model/ports.js';
import type {Liveness, QueueEntry} from '../../../source/core/model/types.js';
import {createClock} from '../../../source/host/clock.js';
import {testHost} from '../machine/host.js';
import {mixedReading} from '../mixed-box.js';
import {observationOf} from '../world.js';

export type Person = {
	readonly world: World;
	/** Simulates SIGKILL. Nothing of this person runs any more, and everybody else sees the process as dead. */
	readonly kill: () => void;
	/** The times of this person's reads, in milliseconds of the monotonic clock. */
	readonly reads: readonly number[];
};

export type Crowd = {
	readonly enter: () => Promise<Person>;
	readonly scans: () => number;
	readonly commits: () => number;
	/** Grants that overtook an earlier queue entry which could have used the GPU. Must stay empty. */
	readonly overtakings: readonly string[];
	/** Commits that granted more memory than a GPU has. Must stay empty. */
	readonly overcommits: readonly string[];
	readonly close: () => Promise<void>;
};

type Options = {
	readonly open: () => Promise<Store>;
	readonly gpuCount: number;
	readonly random?: () => number;
};

/** A promise that never settles, so that a killed process never continues. */
const {promise: silence} = Promise.withResolvers<never>();

export async function createCrowd({open, gpuCount, random}: Options): Promise<Crowd> {
	const real = createClock();
	const clock = {...real, random: random ?? real.random};
	const stores: Store[] = [];
	const states = new Map<number, Liveness>();
	const entries = new Map<string, QueueEntry>();
	const overtakings: string[] = [];
	const overcommits: string[] = [];
	let scans = 0;
	let commits = 0;
	const hostOf = (pid: number): Host =>
		testHost({
			self: {pid},
			account: {name: `user${pid}`, uid: 1000 + pid},
			liveness: (list) => list.map((process) => states.get(process.pid) ?? 'alive'),
		});
	const gpus = {
		name: 'fake',
		simulated: false,
		count: async () => gpuCount,
		async observe() {
			scans++;
			return observationOf(
				Array.from({length: gpuCount}, (_, index) => mixedReading(index)),
				{takenAtMs: clock.monotonicMs()},
			);
		},
	} as const;

	/** The store has just checked that the queue is as the plan expects, so `expect` shows which entries were in it. */
	const judge = ({expect, writes, grants}: Plan): void => {
		for (const write of writes) {
			const asked = write.kind === 'shares' ? write.shares.reduce((sum, {memoryMiB = 0}) => sum + memoryMiB, 0) : 0;
			if (write.kind === 'shares' && !(asked <= (mixedReading(write.index).memoryTotalMiB ?? 0))) {
				overcommits.push(`GPU ${write.index}: ${asked} MiB`);
			}
		}

		const taken = writes.filter((write) => write.kind === 'lease' || write.kind === 'shares').map(({index}) => index);
		const line = expect.find((expectation) => expectation.kind === 'queue');
		if (!grants || taken.length === 0) {
			return;
		}

		if (line === undefined) {
			overtakings.push('a grant that minds no line');
			return;
		}

		const before = line.scope === 'prefix' ? line.ids.slice(0, -1) : line.ids;
		for (const entry of before.map((id) => entries.get(id)!)) {
			if (couldUse(entry, taken, gpuCount)) {
				overtakings.push(`${entry.user} was overtaken on ${taken.join(',')}`);
			}
		}
	};

	let pids = 0;
	const enter = async (): Promise<Person> => {
		const store = await open();
		stores.push(store);
		const pid = ++pids;
		const reads: number[] = [];
		const isKilled = (): boolean => states.get(pid) === 'dead';
		const person: World = {
			clock,
			gpus,
			host: hostOf(pid),
			memoryThresholdMiB: 1024,
			store: {
				...store,
				async read(options) {
					reads.push(clock.monotonicMs());
					const snapshot = await (isKilled() ? silence : store.read(options));
					return isKilled() ? silence : snapshot;
				},
				async commit(plan) {
					for (const write of plan.writes) {
						if (write.kind === 'join') {
							entries.set(write.entry.id, write.entry);
						}
					}

					commits++;
					const outcome = await (isKilled() ? silence : store.commit(plan));
					if (outcome === 'done') {
						judge(plan);
					}

					return isKilled() ? silence : outcome;
				},
			},
		};
		return {
			world: person,
			kill() {
				states.set(pid, 'dead');
			},
			reads,
		};
	};

	const {world} = await enter();
	await createPool(world, {gpuCount, provider: 'fake', force: true});
	return {
		enter,
		scans: () => scans,
		commits: () => commits,
		overtakings,
		overcommits,
		async close() {
			await Promise.all(stores.map(async (store) => store.close()));
		},
	};
}

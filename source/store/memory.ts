/**
The reference store: what the others must do, in the plainest form. It keeps the stored strings, so that everything passes
through the codec as it does elsewhere. For tests and demonstrations.
*/
import {Buffer} from 'node:buffer';
import type {Expectation} from '../core/plan.js';
import type {Store, StoreListener} from '../core/ports.js';
import {decodeEvent, mostGpus, type RawPool} from './codec.js';
import {decodeHistory} from './decode-history.js';
import {
	encodePlan,
	historySeconds,
	recentCount,
	trimCount,
	type RawPlan,
	type RawUsage,
	type RawWrite,
} from './raw-plan.js';
import {decodeSnapshot} from './raw-snapshot.js';

type State = {
	pool: RawPool;
	readonly gpus: Map<number, string>;
	/**
	In the order of the line.
	*/
	readonly line: string[];
	readonly entries: Map<string, string>;
	/**
	Oldest first.
	*/
	readonly history: Array<Pick<RawUsage, 'endSecond' | 'raw'>>;
};

export type MemoryStore = Store & {
	/**
	The stored strings themselves, for tests that spoil them.
	*/
	readonly state: State;
	/**
	Stands in for the lock that the Go peer takes in Redis.
	*/
	readonly setAllocationLock: (isLocked: boolean) => void;
};

const noPool: RawPool = {gpuCount: undefined, provider: undefined, machine: undefined};

const compareUsage = (a: Pick<RawUsage, 'endSecond' | 'raw'>, b: Pick<RawUsage, 'endSecond' | 'raw'>): number =>
	a.endSecond === b.endSecond ? Buffer.compare(Buffer.from(a.raw), Buffer.from(b.raw)) : a.endSecond - b.endSecond;

function holds(state: State, expectation: Expectation): boolean {
	switch (expectation.kind) {
		case 'gpu': {
			return state.gpus.get(expectation.index) === expectation.raw;
		}

		case 'entry': {
			return state.entries.get(expectation.id) === expectation.raw;
		}

		case 'queue': {
			const {ids, extent} = expectation;
			const isLongEnough = extent === 'whole' ? state.line.length === ids.length : state.line.length >= ids.length;
			return isLongEnough && ids.every((id, place) => state.line[place] === id);
		}

		case 'pool': {
			const {gpuCount} = expectation;
			return state.pool.gpuCount === (gpuCount === undefined ? undefined : String(gpuCount));
		}
	}
}

/** Joining twice would move somebody to the end; an entry without a place would never be found again. */
function isPossible({line}: State, write: RawWrite): boolean {
	return (write.kind !== 'join' && write.kind !== 'entry') || line.includes(write.id) === (write.kind === 'entry');
}

function carryOut(state: State, write: RawWrite): void {
	switch (write.kind) {
		case 'gpu': {
			if (write.raw === undefined) {
				state.gpus.delete(write.index);
			} else {
				state.gpus.set(write.index, write.raw);
			}

			break;
		}

		case 'pool': {
			state.pool = write.pool;
			break;
		}

		case 'join': {
			state.line.push(write.id);
			state.entries.set(write.id, write.raw);
			break;
		}

		case 'entry': {
			state.entries.set(write.id, write.raw);
			break;
		}

		case 'leave': {
			const place = state.line.indexOf(write.id);
			if (place !== -1) {
				state.line.splice(place, 1);
			}

			state.entries.delete(write.id);
		}
	}
}

function appendUsage(state: State, usage: RawPlan['usage'], now: number): void {
	const {history} = state;
	history.push(
		...usage.filter(({raw}) => history.every((kept) => kept.raw !== raw)).map(({endSecond, raw}) => ({endSecond, raw})),
	);
	history.sort(compareUsage);
	const oldest = Math.floor(now) - historySeconds;
	const oldCount = history.filter(({endSecond}) => endSecond < oldest).length;
	history.splice(0, Math.min(oldCount, trimCount));
}

type Options = {
	/**
	The store's clock, in seconds; the clock of this machine when absent.
	*/
	readonly now?: () => number;
};

/** Makes an empty store that lives as long as this process. */
export function createMemoryStore({now = () => Date.now() / 1000}: Options = {}): MemoryStore {
	const listeners = new Set<StoreListener>();
	const state: State = {pool: noPool, gpus: new Map(), line: [], entries: new Map(), history: []};
	let isLocked = false;

	return {
		kind: 'memory',
		location: 'memory',
		state,
		setAllocationLock(value) {
			isLocked = value;
		},
		async read({user} = {}) {
			const {pool, gpus, line, entries, history} = state;
			return decodeSnapshot(
				{
					now: now(),
					storeUptimeSeconds: Infinity,
					pool,
					gpus: Array.from({length: Math.min(Number(pool.gpuCount ?? 0), mostGpus)}, (_, index) => gpus.get(index)),
					queue: line.map((id) => [id, entries.get(id)]),
					recentUsage: history
						.slice(-recentCount)
						.map(({raw}) => raw)
						.toReversed(),
				},
				user,
			);
		},
		async commit(plan) {
			const {expect, writes, usage, event, grants} = encodePlan(plan);
			if (grants && isLocked) {
				return 'locked';
			}

			if (expect.some((item) => !holds(state, item)) || writes.some((write) => !isPossible(state, write))) {
				return 'conflict';
			}

			for (const write of writes) {
				carryOut(state, write);
			}

			if (usage.length > 0) {
				appendUsage(state, usage, now());
			}

			if (event !== undefined) {
				queueMicrotask(() => {
					for (const listener of listeners) {
						listener.changed(decodeEvent(event));
					}
				});
			}

			return 'done';
		},
		async subscribe(listener) {
			// A copy: one listener may subscribe twice, and each subscription ends apart.
			const subscription = {...listener};
			listeners.add(subscription);
			return async () => {
				listeners.delete(subscription);
			};
		},
		history(fromTime, toTime) {
			return decodeHistory([state.history.map(({raw}) => raw)], fromTime, toTime);
		},
		async close() {
			listeners.clear();
		},
	};
}

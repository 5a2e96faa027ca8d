/**
The reference store: what the others must do, in the plainest form. It keeps the stored strings, so that everything passes
through the codec as it does elsewhere. For tests and demonstrations.
*/
import type {Store, StoreListener} from '../../core/model/ports.js';
import {decodeEvent, mostGpus} from '../records/index.js';
import {decodeAuditRows, rowAfter} from '../decode-audit.js';
import {decodeHistory} from '../decode-history.js';
import {encodePlan, recentCount} from '../raw-plan.js';
import {decodeEntry, decodeSnapshot} from '../raw-snapshot.js';
import {applyToState, emptyState, type State} from './state.js';
import {createMemoryLoadHistory, type MemoryLoadHistory} from './load-history.js';
import {createMemoryScanBoard, type MemoryScanBoard} from './scan-board.js';

export type MemoryStore = Store & {
	/** The stored strings themselves, for tests that spoil them. */
	readonly state: State;
	readonly scans: MemoryScanBoard;
	readonly loads: MemoryLoadHistory;
	/** Stands in for the lock that the Go peer takes in Redis. */
	readonly setAllocationLock: (isLocked: boolean) => void;
};

type Options = {
	/** The store's clock, in seconds; the clock of this machine when absent. */
	readonly now?: () => number;
};

/** Makes an empty store that lives as long as this process. */
export function createMemoryStore({now = () => Date.now() / 1000}: Options = {}): MemoryStore {
	const listeners = new Set<StoreListener>();
	const state = emptyState();
	let isLocked = false;

	return {
		kind: 'memory',
		location: 'memory',
		state,
		setAllocationLock(value) {
			isLocked = value;
		},
		async read({user, change, withoutQueue} = {}) {
			const {pool, gpus, queue, entries, history, drains, alerts, policy, revision, run, changes} = state;
			return decodeSnapshot(
				{
					now: now(),
					storeUptimeSeconds: Infinity,
					pool,
					gpus: Array.from({length: Math.min(Number(pool.gpuCount ?? 0), mostGpus)}, (_, index) => gpus.get(index)),
					queue: withoutQueue === true ? [] : queue.map((id) => [id, entries.get(id)]),
					drains,
					alerts,
					policy,
					revision,
					run,
					recentUsage: history
						.slice(-recentCount)
						.map(({raw}) => raw)
						.toReversed(),
					attemptDone: change === undefined ? undefined : changes.get(change)?.toString(),
				},
				user,
			);
		},
		async readEntry(id) {
			return decodeEntry(id, state.queue.includes(id) ? state.entries.get(id) : undefined);
		},
		async commit(plan) {
			const raw = encodePlan(plan);
			if (raw.grants && isLocked) {
				return 'locked';
			}

			if (!applyToState(state, raw, now())) {
				return 'conflict';
			}

			const {event} = raw;
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
			return decodeHistory(() => [state.history.map(({raw}) => raw)], fromTime, toTime);
		},
		async audit(query = {}) {
			const after = rowAfter(query.afterId);
			return decodeAuditRows(
				state.auditLog.filter(({id}) => Number(id) > after),
				query,
			);
		},
		scans: createMemoryScanBoard(now),
		loads: createMemoryLoadHistory(),
		async close() {
			listeners.clear();
		},
	};
}

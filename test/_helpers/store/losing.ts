/** A reference store that crashes and comes back empty or in an earlier state. */
import type {MemoryStore} from '../../../source/store/memory/index.js';
import {emptyState, type State} from '../../../source/store/memory/state.js';

let runs = 1;

/** Returns a copy of the store's data, as it would be on a disk. */
export const saved = ({state}: MemoryStore): State => structuredClone(state);

/** Crashes the store, and restarts it with the saved data, or empty if there is none. A copied database file keeps its `run`. */
export function crash({state}: MemoryStore, disk: State = emptyState(), run = `run-${++runs}`): void {
	const back = structuredClone(disk);
	const refill = <Key, Value>(map: Map<Key, Value>, from: ReadonlyMap<Key, Value>): void => {
		map.clear();
		for (const [key, value] of from) {
			map.set(key, value);
		}
	};

	refill(state.gpus, back.gpus);
	refill(state.entries, back.entries);
	refill(state.scores, back.scores);
	state.queue.splice(0, Infinity, ...back.queue);
	state.history.splice(0, Infinity, ...back.history);
	state.auditLog.splice(0, Infinity, ...back.auditLog);
	state.pool = back.pool;
	state.drains = back.drains;
	state.alerts = back.alerts;
	state.policy = back.policy;
	state.revision = back.revision;
	state.run = run;
}

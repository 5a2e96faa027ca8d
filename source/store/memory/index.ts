/** A store in memory, for tests and demonstrations, and the reference for other stores. Encodes all values like other stores. */
import {
	type Store,
	type StoreListener,
	longestLoadHour,
	type LoadHistory,
	type ScanBoard,
	type ScannerRole,
} from '../../core/model/ports.js';
import {decodeEvent, decodeJobIndex, mostGpus} from '../records/index.js';
import {readNumberedRows} from '../decode-audit.js';
import {decodeHistory} from '../decode-history.js';
import {encodePlan, recentCount} from '../raw-plan.js';
import {decodeEntry, decodeJobs, decodeSnapshot} from '../raw-snapshot.js';
import {hoursBetween, isLoadText, oldestLoadHour} from '../load-hours.js';
import {postedScan} from '../posted-scan.js';
import {applyToState, emptyState, type State} from './state.js';

export type MemoryStore = Store & {
	readonly state: State;
	readonly scans: ScanBoard & {
		/** Replaces the posted scan with any text, for tests. */
		readonly spoil: (text: string) => void;
		readonly clear: () => void;
	};
	readonly loads: LoadHistory & {
		readonly hours: Map<number, string>;
	};
	/** Simulates the lock that the Go program takes in Redis. */
	readonly setAllocationLock: (isLocked: boolean) => void;
};

type Options = {
	readonly now?: () => number;
	/** Store time since which the store has lost no data. Defaults to the first commit. */
	readonly since?: number;
};

function createMemoryLoadHistory(): MemoryStore['loads'] {
	const hours = new Map<number, string>();
	return {
		hours,
		async append(hour, line) {
			for (const known of hours.keys()) {
				if (known < oldestLoadHour(hour)) {
					hours.delete(known);
				}
			}

			const text = `${hours.get(hour) ?? ''}${line}\n`;
			if (text.length <= longestLoadHour) {
				hours.set(hour, text);
			}
		},
		async read(fromHour, toHour) {
			return new Map(
				hoursBetween(fromHour, toHour).flatMap((hour) => {
					const text = hours.get(hour);
					return isLoadText(text) ? [[hour, text] as const] : [];
				}),
			);
		},
	};
}

function createMemoryScanBoard(now: () => number): MemoryStore['scans'] {
	const listeners = new Set<{readonly posted: () => void}>();
	let role: (ScannerRole & {readonly until: number}) | undefined;
	let scan: {readonly time: number; readonly text: string} | undefined;
	return {
		async claim({owner, intervalMs}, seconds) {
			if (role !== undefined && role.until > now() && role.owner !== owner && role.intervalMs <= intervalMs) {
				return false;
			}

			role = {owner, intervalMs, until: now() + seconds};
			return true;
		},
		async resign(owner) {
			role = role?.owner === owner ? undefined : role;
		},
		async post(owner, text) {
			if (role?.owner !== owner || role.until <= now()) {
				return false;
			}

			scan = {time: now(), text};
			queueMicrotask(() => {
				for (const {posted} of listeners) {
					posted();
				}
			});
			return true;
		},
		latest: async () => scan && postedScan(scan.time, scan.text, now()),
		async subscribe(posted) {
			const subscription = {posted};
			listeners.add(subscription);
			return async () => {
				listeners.delete(subscription);
			};
		},
		spoil(text) {
			scan = {time: now(), text};
		},
		clear() {
			role = undefined;
			scan = undefined;
		},
	};
}

export function createMemoryStore({now = () => Date.now() / 1000, since}: Options = {}): MemoryStore {
	const listeners = new Set<StoreListener>();
	const state = emptyState();
	state.revision = since === undefined ? undefined : `0 0 ${Math.floor(since)} ${state.run}`;
	let isLocked = false;

	return {
		kind: 'memory',
		location: 'memory',
		shell: '',
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
		async readJobs(numbers = decodeJobIndex(state.jobs).numbers) {
			return decodeJobs(
				now(),
				state.jobs,
				numbers.map((number) => [number, state.jobRecords.get(number)] as const),
			);
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
			return readNumberedRows((number) => state.auditLog.filter(({id}) => id >= number), query);
		},
		scans: createMemoryScanBoard(now),
		loads: createMemoryLoadHistory(),
		async close() {
			listeners.clear();
		},
	};
}

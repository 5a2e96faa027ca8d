/** The live view of the pool: snapshots of the store, scans and audit entries. The monitor and the web server show it. */
import {CanhazgpuError} from '../../errors.js';
import type {World} from '../model/ports.js';
import type {AuditEntry, AuditKind, Observation, Snapshot} from '../model/types.js';
import {createAlertRecorder} from '../operations/record-alerts.js';
import {readForDisplay} from '../operations/transact.js';
import {holdingsOn} from '../rules/leases/holdings.js';
import {saysMoved} from '../rules/pool/pool.js';
import {statusRows, type StatusRow} from '../rules/pool/status.js';
import {queueRows, type QueueRow} from '../rules/queue/queue-rows.js';
import {followAuditLog} from './audit-feed.js';
import {createReclaimLoop} from './reclaim-loop.js';
import {startScanLoop, type ScanIntervals, type Watched} from './scan-loop.js';
import {startStoreFeed} from './store-feed.js';

/** The state of the pool. The snapshot is undefined until the first read, and the readings are undefined until the first scan. */
export type LiveState = {
	readonly revision: number;
	readonly snapshot: Snapshot | undefined;
	/** Store time, in seconds, at which this state was made. */
	readonly now: number;
	/** The last successful scan. Undefined if it is too old to be shown. */
	readonly observation: Observation | undefined;
	readonly lastScan: Observation | undefined;
	readonly rows: readonly StatusRow[];
	readonly queue: readonly QueueRow[];
	readonly events: readonly AuditEntry[];
	readonly eventsProblem: string | undefined;
	/** Set while the store cannot be reached. `since` is the time of the shown snapshot. */
	readonly lost: {readonly reason: string; readonly since: number} | undefined;
	/** Set while the GPUs cannot be read. The shown readings are older than `since`. */
	readonly blind: {readonly reason: string; readonly hint?: string; readonly since: number} | undefined;
};

/** The part of the state that changed. `store-lost` is reported again after each failed attempt to reach the store. */
export type LiveChange = 'snapshot' | 'store-lost' | 'scan' | 'events';

export type LiveView = {
	readonly current: () => LiveState;
	/** Returns the current store time in seconds. May be later than `current().now`, the time of the last state. */
	readonly now: () => number;
	readonly counts: ReadonlyMap<AuditKind, number>;
	/** Reads the store and waits for recent readings. Rejects with a CanhazgpuError while the store cannot be reached. */
	readonly fresh: () => Promise<LiveState>;
	readonly subscribe: (changed: (state: LiveState, change: LiveChange) => void) => () => void;
	readonly subscribeToGrants: (granted: (waitSeconds: number) => void) => void;
	/** Scans the GPUs more often until the returned function is called. */
	readonly watch: () => () => void;
	readonly refresh: () => void;
	readonly stop: () => void;
};

export type LiveViewOptions = {
	readonly watched?: Watched;
	readonly intervals: ScanIntervals;
	readonly mostEvents: number;
	/** Whether this view records the findings of scans in the audit log and returns idle GPUs to the pool. False for read-only interfaces. */
	readonly recordsAlerts: boolean;
	/** The provider that scans the GPUs for this process alone. Defaults to the provider of the world. */
	readonly ownGpus?: World['gpus'] | undefined;
	/**
	Whether `broken` gets errors that waiting does not end: the pool has moved to another store, or the store refuses the password or lacks a
	permission. True for services, which use the new location and settings when they are started again.
	*/
	readonly endsOnLastingError?: boolean;
	readonly broken: (error: unknown) => void;
};

/** Lets callers share reads. Each caller gets the result of a read that began after the call, and only one read runs at a time. */
export function createNextRead<Value>(read: () => Promise<Value>): () => Promise<Value> {
	let running: Promise<unknown> = Promise.resolve();
	let next: Promise<Value> | undefined;

	const begin = async (): Promise<Value> => {
		const before = running;
		// A failure of the previous read is ignored here, because the callers of that read handle it.
		await before.catch(() => undefined);
		next = undefined;
		const own = read();
		running = own;
		return own;
	};

	return async () => {
		next ??= begin();
		return next;
	};
}

/** How long the last successful scan is still shown if later scans fail. */
const oldReadingsMs = 30_000;
const patienceMs = 5000;

/** Returns a key that changes when a GPU gets another holder, but not with every heartbeat. */
const holdersOf = (snapshot: Snapshot | undefined): string =>
	(snapshot?.gpus ?? [])
		.map((record) => {
			const holdings = holdingsOn(record);
			return holdings.length === 0
				? record.kind
				: holdings.map(({lease: {leaseId, startTime}}) => leaseId ?? startTime).join('+');
		})
		.join(' ');

type Known = Omit<LiveState, 'rows' | 'queue' | 'now' | 'observation'>;

/** Creates a state. Its rows are computed when they are used for the first time. */
function stateOf(
	known: Known,
	now: number,
	observation: Observation | undefined,
	memoryThresholdMiB: number,
): LiveState {
	const {snapshot} = known;
	let rows: readonly StatusRow[] | undefined;
	let queue: readonly QueueRow[] | undefined;
	return {
		...known,
		now,
		observation,
		get rows() {
			rows ??=
				snapshot === undefined || observation === undefined
					? []
					: statusRows(snapshot, observation, memoryThresholdMiB);
			return rows;
		},
		get queue() {
			queue ??= snapshot === undefined ? [] : queueRows(snapshot);
			return queue;
		},
	};
}

export function startLiveView(
	world: World,
	{
		watched = world,
		intervals,
		mostEvents,
		recordsAlerts,
		ownGpus = world.gpus,
		endsOnLastingError = false,
		broken,
	}: LiveViewOptions,
): LiveView {
	const {clock, memoryThresholdMiB} = world;
	const listeners = new Set<(state: LiveState, change: LiveChange) => void>();
	let readings: Observation | undefined;
	let known: Known = {
		revision: 0,
		snapshot: undefined,
		lastScan: undefined,
		events: [],
		eventsProblem: undefined,
		lost: undefined,
		blind: undefined,
	};
	/** Store time, in seconds, at which the monotonic clock was zero. Only an estimate until the first read. */
	let storeZero = Date.now() / 1000 - clock.monotonicMs() / 1000;
	const storeNow = (): number => storeZero + clock.monotonicMs() / 1000;

	const shownScan = (): Observation | undefined =>
		readings !== undefined && clock.monotonicMs() - readings.takenAtMs < oldReadingsMs ? readings : known.lastScan;
	const made = (from: Known): LiveState => stateOf(from, storeNow(), shownScan(), memoryThresholdMiB);
	let state = made(known);

	function change(kind: LiveChange, update: Partial<Omit<Known, 'revision'>>): void {
		known = {...known, ...update, revision: known.revision + 1};
		state = made(known);
		for (const listener of listeners) {
			listener(state, kind);
		}
	}

	const recordAlerts = createAlertRecorder(world);
	const readNext = createNextRead(async () => readForDisplay(world));
	const scanLoop = startScanLoop(
		watched,
		intervals,
		(observation) => {
			const {failure} = observation;
			if (recordsAlerts) {
				reclaiming.scanned({...known, now: storeNow()}, observation);
			}

			if (failure === undefined) {
				readings = observation;
				const {snapshot, lost} = known;
				if (recordsAlerts && snapshot !== undefined && lost === undefined) {
					recordAlerts({...snapshot, now: storeNow()}, observation).catch(broken);
				}
			}

			change('scan', {
				lastScan: observation,
				blind:
					failure === undefined
						? undefined
						: {reason: failure.message, hint: failure.hint, since: known.blind?.since ?? storeNow()},
			});
		},
		broken,
	);
	const reclaiming = createReclaimLoop({...world, gpus: ownGpus}, {poke: scanLoop.poke, broken});
	const grantListeners = new Set<(waitSeconds: number) => void>();
	const auditLog = followAuditLog(world, mostEvents, {
		granted(waitSeconds) {
			for (const listener of grantListeners) {
				listener(waitSeconds);
			}
		},
		arrived(events) {
			change('events', {events, eventsProblem: undefined});
		},
		lost(eventsProblem) {
			change('events', {eventsProblem});
		},
		broken,
	});
	const feed = startStoreFeed(world, {
		arrived(snapshot) {
			storeZero = snapshot.now - clock.monotonicMs() / 1000;
			const {snapshot: before, lost} = known;
			const isMoved = before !== undefined && holdersOf(snapshot) !== holdersOf(before);
			change('snapshot', {snapshot, lost: undefined});
			if (before === undefined && readings !== undefined && recordsAlerts) {
				// The first scan ended before the first read, so its findings have not been used yet.
				reclaiming.scanned({...known, now: storeNow()}, readings);
			}

			if (lost === undefined) {
				auditLog.refresh();
			} else {
				auditLog.restart();
			}

			if (isMoved) {
				scanLoop.poke();
			}
		},
		lost(reason, sinceMs, error) {
			if (endsOnLastingError && (saysMoved(error) || error?.needsCorrection === true)) {
				broken(error);
				return;
			}

			change('store-lost', {lost: {reason, since: known.lost?.since ?? storeZero + sinceMs / 1000}});
		},
		broken,
	});

	return {
		current: () => state,
		now: storeNow,
		counts: auditLog.counts,
		async fresh() {
			const enough = new AbortController();
			// The first read finds problems of the store without waiting for the scan.
			await Promise.all([
				readNext(),
				Promise.race([scanLoop.fresh(), clock.sleep(patienceMs, enough.signal).catch(() => undefined)]),
			]);
			enough.abort();
			const snapshot = await readNext();
			if (shownScan() === undefined) {
				throw new CanhazgpuError('busy', 'The GPUs have not been read yet', {hint: 'Try again in a few seconds.'});
			}

			return made({...known, snapshot, lost: undefined});
		},
		subscribe(changed) {
			listeners.add(changed);
			return () => {
				listeners.delete(changed);
			};
		},
		subscribeToGrants(granted) {
			grantListeners.add(granted);
		},
		watch: () => scanLoop.watch(),
		refresh() {
			feed.refresh();
			scanLoop.poke();
		},
		stop() {
			listeners.clear();
			grantListeners.clear();
			feed.stop();
			auditLog.stop();
			scanLoop.stop();
			reclaiming.stop();
		},
	};
}

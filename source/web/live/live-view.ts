/**
The one live picture of the pool that every browser and every request is shown: one subscription to the store, one scan at a time.
*/
import {CanhazgpuError} from '../../errors.js';
import {isLeased} from '../../core/rules/leases/lease-changes.js';
import {createAlertRecorder} from '../../core/operations/record-alerts.js';
import type {World} from '../../core/model/ports.js';
import {statusRows, type StatusRow} from '../../core/rules/pool/status.js';
import type {AuditEntry, AuditKind, Observation, Snapshot} from '../../core/model/types.js';
import {readForDisplay} from '../../core/operations/transact.js';
import {startStoreFeed} from '../../core/live/store-feed.js';
import {queueRows, type QueueRow} from '../../core/rules/queue/queue-rows.js';
import {startScanning} from './scanning.js';
import {createNextRead} from './next-read.js';
import {followAuditLog} from './audit-feed.js';

/** Until the store and the GPUs were read for the first time there is nothing to show. */
export type LiveState = {
	/** Grows with every change. */
	readonly revision: number;
	readonly snapshot: Snapshot | undefined;
	/** On the store's clock, when the picture was made. */
	readonly now: number;
	readonly observation: Observation | undefined;
	readonly rows: readonly StatusRow[];
	readonly line: readonly QueueRow[];
	/** The newest, oldest first. */
	readonly events: readonly AuditEntry[];
	/** Set while the store cannot be reached: then everything here is as old as `since`. */
	readonly lost: {readonly reason: string; readonly since: number} | undefined;
	/** Set while the GPUs cannot be read: then the readings are older than `since`. */
	readonly blind: {readonly reason: string; readonly hint?: string; readonly since: number} | undefined;
};

export type LiveView = {
	readonly current: () => LiveState;
	/** How many events of each kind there were since the start. */
	readonly counts: ReadonlyMap<AuditKind, number>;
	/** As the store has it now, with readings that are not old. Rejects with a CanhazgpuError while the store is away. */
	readonly fresh: () => Promise<LiveState>;
	readonly subscribe: (changed: (liveView: LiveState) => void) => () => void;
	/** Somebody watches until the returned function is called: the GPUs are scanned more often. */
	readonly watch: () => () => void;
	readonly stop: () => void;
};

/** A failed scan takes nothing away for so long; then what it says stands. */
const oldReadingsMs = 30_000;
/** A request waits so long for a scan. */
const patienceMs = 5000;

const systemSeconds = (): number => Date.now() / 1000;

const holdersOf = (snapshot: Snapshot | undefined): string =>
	(snapshot?.gpus ?? [])
		.map((record) => (isLeased(record) ? (record.lease.leaseId ?? record.lease.user) : ''))
		.join(' ');

/**
@param broken - Told of a bug in what runs in the background.
*/
export function startLiveView(world: World, broken: (error: unknown) => void): LiveView {
	const listeners = new Set<(liveView: LiveState) => void>();
	/** The last that succeeded, and the last. */
	let readings: Observation | undefined;
	let lastScan: Observation | undefined;
	/** The store's clock may differ from ours. */
	let aheadSeconds = 0;
	let liveView: LiveState = {
		revision: 0,
		snapshot: undefined,
		now: systemSeconds(),
		observation: undefined,
		rows: [],
		line: [],
		events: [],
		lost: undefined,
		blind: undefined,
	};

	const shownScan = (): Observation | undefined =>
		readings !== undefined && world.clock.monotonicMs() - readings.takenAtMs < oldReadingsMs ? readings : lastScan;

	/** What follows from what was read and seen. */
	function draw(known: LiveState): LiveState {
		const observation = shownScan();
		const {snapshot} = known;
		return {
			...known,
			now: systemSeconds() + aheadSeconds,
			observation,
			rows:
				snapshot === undefined || observation === undefined
					? []
					: statusRows(snapshot, observation, world.memoryThresholdMiB),
			line: snapshot === undefined ? [] : queueRows(snapshot),
		};
	}

	function change(news: Partial<Pick<LiveState, 'snapshot' | 'events' | 'lost' | 'blind'>>): void {
		liveView = draw({...liveView, ...news, revision: liveView.revision + 1});
		for (const listener of listeners) {
			listener(liveView);
		}
	}

	const tellNotices = createAlertRecorder(world);
	const readNext = createNextRead(async () => readForDisplay(world));
	const scanning = startScanning(
		world,
		(observation) => {
			lastScan = observation;
			const {failure} = observation;
			if (failure === undefined) {
				readings = observation;
				const {snapshot, lost} = liveView;
				if (snapshot !== undefined && lost === undefined) {
					tellNotices({...snapshot, now: systemSeconds() + aheadSeconds}, observation).catch(broken);
				}
			}

			change({
				blind:
					failure === undefined
						? undefined
						: {
								reason: failure.message,
								hint: failure.hint,
								since: liveView.blind?.since ?? systemSeconds() + aheadSeconds,
							},
			});
		},
		broken,
	);
	const trail = followAuditLog(
		world,
		(events) => {
			change({events});
		},
		broken,
	);
	const feed = startStoreFeed(world, {
		arrived(snapshot) {
			aheadSeconds = snapshot.now - systemSeconds();
			const isMoved = holdersOf(snapshot) !== holdersOf(liveView.snapshot);
			change({snapshot, lost: undefined});
			trail.refresh();
			if (isMoved) {
				scanning.poke();
			}
		},
		lost(reason) {
			change({lost: {reason, since: liveView.lost?.since ?? systemSeconds() + aheadSeconds}});
		},
		broken,
	});

	return {
		current: () => liveView,
		counts: trail.counts,
		async fresh() {
			const enough = new AbortController();
			const [snapshot] = await Promise.all([
				readNext(),
				Promise.race([
					scanning.fresh(),
					// Aborted, it has done its part.
					world.clock.sleep(patienceMs, enough.signal).catch(() => undefined),
				]),
			]);
			enough.abort();
			if (shownScan() === undefined) {
				throw new CanhazgpuError('busy', 'The GPUs have not been read yet');
			}

			return draw({...liveView, snapshot, lost: undefined});
		},
		subscribe(changed) {
			listeners.add(changed);
			return () => {
				listeners.delete(changed);
			};
		},
		watch: () => scanning.watch(),
		stop() {
			listeners.clear();
			feed.stop();
			trail.stop();
			scanning.stop();
		},
	};
}

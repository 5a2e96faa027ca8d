import type {EngineVerdict, QueueEntry, Snapshot} from '../../model/types.js';
import {silentSecondsOf} from '../leases/liveness.js';
import {accountLimitsSeen, type AgentLimit, type OverLimit} from './account-limits.js';
import {foreseeWaits, type Blocker} from './estimates.js';
import {keepsHoldings, outagesNoted, outOfServiceFor, type Outage} from './out-of-service.js';
import {holdingsOf} from './queue.js';
import {isPossible, mayBePossible} from './eligible.js';

export type QueueRow = {
	readonly position: number;
	readonly id: string;
	readonly entry: QueueEntry | undefined;
	readonly held: readonly number[];
	readonly waitedSeconds: number;
	readonly estimateSeconds: number | undefined;
	/** The holders of the GPUs that the entry could get, ordered by the end of their leases. */
	readonly blockers: readonly Blocker[];
	/** Required GPUs that are out of service, or that have a MIG instance out of service. */
	readonly outOfService: readonly number[];
	readonly outages: readonly Outage[];
	/** False if others may take the GPUs that the entry holds or that are kept for it. */
	readonly keepsHoldings: boolean;
	readonly overLimit?: OverLimit;
	readonly agentLimit?: AgentLimit;
	/** Seconds since the last heartbeat of an entry that has missed one. Undefined for all other entries. */
	readonly silentSeconds: number | undefined;
	/** False if this pool can never serve the entry, whatever the unknown readings turn out to be. */
	readonly isPossible: boolean;
	/** Whether too few GPUs or MIG instances are known to meet the entry's requirements. */
	readonly isUnknown: boolean;
};

/** Returns the row of an entry in an engine's queue. Only the engine can estimate the waiting time. */
function foreignRow(entry: QueueEntry, verdict: EngineVerdict, position: number, now: number): QueueRow {
	return {
		position,
		id: entry.id,
		entry,
		held: [],
		waitedSeconds: Math.max(0, now - entry.enqueueTime),
		estimateSeconds: verdict.startsAt === undefined ? undefined : Math.max(0, verdict.startsAt - now),
		blockers: [{kind: 'engine', reason: verdict.reason, gpus: [], until: undefined}],
		outOfService: [],
		outages: [],
		keepsHoldings: true,
		silentSeconds: undefined,
		isPossible: true,
		isUnknown: false,
	};
}

/** Returns the rows of a queue that an engine such as Slurm keeps. Undefined for the queue in the store. */
function foreignRows({queue, now}: Snapshot): readonly QueueRow[] | undefined {
	const rows = queue.flatMap((record, index) =>
		record.kind === 'entry' && record.entry.verdict !== undefined
			? [foreignRow(record.entry, record.entry.verdict, index + 1, now)]
			: [],
	);
	return queue.length > 0 && rows.length === queue.length ? rows : undefined;
}

export const queueRows = (snapshot: Snapshot): readonly QueueRow[] => foreignRows(snapshot) ?? ownRows(snapshot);

function ownRows(snapshot: Snapshot): readonly QueueRow[] {
	const waits = foreseeWaits(snapshot);
	const out = outagesNoted(snapshot, snapshot.queue);
	const {overLimitOf, agentLimitOf, isHeldBack} = accountLimitsSeen(snapshot);
	return snapshot.queue.map((record, position) => {
		const entry = record.kind === 'entry' ? record.entry : undefined;
		const overLimit = entry && overLimitOf(entry);
		const agentLimit = entry && agentLimitOf(entry);
		const mayBe = entry !== undefined && mayBePossible(entry, snapshot.gpus.length);
		const outages = entry === undefined ? [] : outOfServiceFor(entry, snapshot.gpus, out);
		return {
			position: position + 1,
			id: record.id,
			entry,
			held: holdingsOf(snapshot, record.id).map(({index}) => index),
			waitedSeconds: entry === undefined ? 0 : Math.max(0, snapshot.now - entry.enqueueTime),
			estimateSeconds: waits.get(record.id)?.seconds,
			blockers: waits.get(record.id)?.blockers() ?? [],
			outOfService: [...new Set(outages.map(({gpu}) => gpu))],
			outages,
			keepsHoldings: entry === undefined || (!isHeldBack(entry) && keepsHoldings(entry, snapshot, out)),
			...(overLimit !== undefined && {overLimit}),
			...(agentLimit !== undefined && {agentLimit}),
			silentSeconds: entry && silentSecondsOf(entry, snapshot),
			isPossible: mayBe,
			isUnknown: mayBe && !isPossible(entry, snapshot.gpus.length),
		};
	});
}

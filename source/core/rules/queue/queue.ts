/**
The line: first come, first served, without holding up those it need not.

The rule "nobody overtakes" is {@link claimsOf}: a GPU that somebody earlier in the line could use is not free for anybody later.
*/
import {isLeased, planChange, planEnd, withHeartbeat} from '../leases/lease-changes.js';
import {emptyPlan, type Plan} from '../../model/plan.js';
import type {Host} from '../../model/ports.js';
import type {Wanted, AcquireRequest} from '../allocation/request.js';
import {waitTimedOut, positionEntry, type AuditContext} from '../leases/audit-entries.js';
import type {QueueEntry, QueueRecord, Snapshot} from '../../model/types.js';

/** True when this pool could serve it some day. The peer makes entries that it cannot; they claim nothing. */
export const isPossible = (entry: QueueEntry, gpuCount: number): boolean =>
	entry.requestedIds.length > 0
		? new Set(entry.requestedIds).size === entry.requestedIds.length &&
			entry.requestedIds.every((id) => Number.isSafeInteger(id) && id >= 0 && id < gpuCount)
		: Number.isSafeInteger(entry.requestedCount) && entry.requestedCount >= 1 && entry.requestedCount <= gpuCount;

/**
For each GPU, the first entry of the line that could claim it.

@param queue - The queue, or the part of it before the caller.
@param gpuCount - Size of the pool.
@param mayClaim - False for an entry whose process is stopped, or that waits for what is out of service: it keeps its place and claims
nothing for now.
@returns GPU index -> the entry that it is kept for.
*/
export function claimsOf(
	queue: readonly QueueRecord[],
	gpuCount: number,
	mayClaim: (entry: QueueEntry) => boolean = () => true,
): ReadonlyMap<number, QueueEntry> {
	const claims = new Map<number, QueueEntry>();
	for (const record of queue) {
		// Nothing is left for those behind, and to ask whether each of them may claim costs a look at its process.
		if (claims.size >= gpuCount) {
			break;
		}

		if (record.kind !== 'entry' || !isPossible(record.entry, gpuCount) || !mayClaim(record.entry)) {
			continue;
		}

		const wanted =
			record.entry.requestedIds.length > 0 ? record.entry.requestedIds : Array.from({length: gpuCount}, (_, id) => id);
		for (const index of wanted) {
			if (!claims.has(index)) {
				claims.set(index, record.entry);
			}
		}
	}

	return claims;
}

export type EntryOptions = Pick<AcquireRequest, 'requester' | 'tenure' | 'note' | 'force'> & {
	readonly id: string;
	readonly wanted: Wanted;
	/** Undefined: for as long as it takes. */
	readonly waitSeconds: number | undefined;
};

/** The entry of this very process. */
export const entryFor = (
	{id, requester, wanted, tenure, note, force, waitSeconds}: EntryOptions,
	host: Host,
	now: number,
): QueueEntry => ({
	id,
	user: requester.label,
	actualUser: requester.account,
	requestedCount: wanted.count,
	requestedIds: wanted.ids ?? [],
	allocatedGpus: [],
	reservationType: tenure.type,
	expirySeconds: tenure.type === 'manual' ? tenure.durationSeconds : undefined,
	timeLimitSeconds: tenure.type === 'run' ? tenure.timeLimitSeconds : undefined,
	note,
	force: force === true ? true : undefined,
	enqueueTime: now,
	lastHeartbeat: now,
	waitTimeout: waitSeconds === undefined ? undefined : now + waitSeconds,
	machine: host.machineId,
	bootId: host.bootId,
	holder: host.self,
});

/**
Joins the line. It expects nothing: the commit gives the place.

@param at - The time whose place it takes again, in seconds on the store's clock; undefined for the end of the line.
*/
export const planJoin = (entry: QueueEntry, host: string, at?: number): Plan => ({
	expect: [],
	writes: [{kind: 'join', entry, at}],
	usage: [],
	audit: [positionEntry('joined', entry, {now: entry.lastHeartbeat, host}, at === undefined ? undefined : 'restored')],
	event: {kind: 'queue', gpus: [], user: entry.actualUser ?? entry.user},
	grants: false,
});

/**
Leaves the line and gives back what was held meanwhile, with its records.

@param snapshot - What was read.
@param record - Of the place in line.
@param context - Who takes it out.
@param hasWaitedInVain - True when the time to wait was over: the audit log then tells of a refusal.
*/
export function planLeave(
	snapshot: Snapshot,
	record: QueueRecord,
	context: AuditContext & {readonly account: string},
	hasWaitedInVain = false,
): Plan {
	const tellEnd = (entry: QueueEntry) =>
		hasWaitedInVain ? positionEntry('refused', entry, context, waitTimedOut) : positionEntry('left', entry, context);
	const held = snapshot.gpus.filter(isLeased).filter(({lease}) => lease.partialQueueId === record.id);
	const ends = planEnd(
		held.map((gpu) => ({record: gpu, ending: {reason: 'queue-left', endTime: snapshot.now}})),
		{kind: 'queue', gpus: held.map(({index}) => index), user: context.account, left: [record.id]},
		context,
	);
	return {
		...ends,
		expect: [...ends.expect, {kind: 'entry', id: record.id, raw: record.kind === 'orphan' ? undefined : record.raw}],
		writes: [...ends.writes, {kind: 'leave', id: record.id}],
		audit: [...ends.audit, ...(record.kind === 'entry' ? [tellEnd(record.entry)] : [])],
	};
}

/** The heartbeat of a waiter, for its entry and for what it holds meanwhile. */
export function planEntryHeartbeat(
	snapshot: Pick<Snapshot, 'gpus' | 'now'>,
	{id, raw, entry}: Extract<QueueRecord, {kind: 'entry'}>,
): Plan {
	const held = snapshot.gpus.filter(isLeased).filter(({lease}) => lease.partialQueueId === id);
	const beats = planChange(held, (lease) => withHeartbeat(lease, snapshot.now), undefined);
	return {
		...beats,
		expect: [...beats.expect, {kind: 'entry', id, raw}],
		writes: [...beats.writes, {kind: 'entry', entry: withHeartbeat(entry, snapshot.now)}],
	};
}

/** Writes down for others which GPUs it waits for that are out of service; undefined: none are. */
export const planEntryNote = (
	{id, raw, entry}: Extract<QueueRecord, {kind: 'entry'}>,
	unavailable: QueueEntry['unavailable'],
): Plan => ({
	...emptyPlan,
	expect: [{kind: 'entry', id, raw}],
	writes: [{kind: 'entry', entry: {...entry, unavailable}}],
	// A face that shows the queue reads it again.
	event: {kind: 'notice', gpus: []},
});

/**
How many earlier in the line could use one of these GPUs (all of them when none is named): a release wakes the first few at once
and the others in their own time.
*/
export function rankFor(queue: readonly QueueRecord[], id: string, gpus: readonly number[], gpuCount: number): number {
	const position = queue.findIndex((record) => record.id === id);
	return queue
		.slice(0, position === -1 ? queue.length : position)
		.filter(
			(record) =>
				record.kind === 'entry' &&
				isPossible(record.entry, gpuCount) &&
				(gpus.length === 0 ||
					record.entry.requestedIds.length === 0 ||
					gpus.some((index) => record.entry.requestedIds.includes(index))),
		).length;
}

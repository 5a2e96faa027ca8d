/**
The queue: first come, first served, without holding up those it need not.

The rule "no one overtakes" is {@link claimsOf}: a GPU that somebody earlier in the queue could use is not free for anybody later.
*/
import {gpusOf, holdingsIn, type Holding} from '../leases/holdings.js';
import {planChange, planEnd, withHeartbeat} from '../leases/lease-changes.js';
import {ownerOf} from '../leases/ownership.js';
import {emptyPlan, type Plan} from '../../model/plan.js';
import type {Host} from '../../model/ports.js';
import type {Wanted, AcquireRequest} from '../request/request.js';
import {waitTimedOut, positionEntry, type AuditContext} from '../leases/audit-entries.js';
import type {EntryRecord, GpuGroup, QueueEntry, QueueRecord, Snapshot} from '../../model/types.js';
import {isSameEligible, type Eligible} from '../allocation/need.js';
import {couldUse, eligibleInstancesOf, groupsOf, isPossible, wantsInstances} from './eligible.js';
import {isSameNote} from './out-of-service.js';

/** Returns what the entry holds while it waits. */
export const holdingsOf = ({gpus}: Pick<Snapshot, 'gpus'>, id: string): readonly Holding[] =>
	holdingsIn(gpus).filter(({lease}) => lease.partialQueueId === id);

/**
For each GPU, the first entry of the queue that could claim it: an entry claims every GPU of every group that can serve it, so that
whichever becomes free first is its.

@param queue - The queue, or the part of it before the caller.
@param gpuCount - Size of the pool.
@param groupsFor - The groups that an entry may claim: none for one whose process is stopped, or that waits for what is out of service. It
keeps its position and claims nothing for now.
@returns GPU index -> the entry that it is kept for.
*/
export function claimsOf(
	queue: readonly QueueRecord[],
	gpuCount: number,
	groupsFor: (entry: QueueEntry) => readonly GpuGroup[] = (entry) => groupsOf(entry, gpuCount),
): ReadonlyMap<number, QueueEntry> {
	const claims = new Map<number, QueueEntry>();
	for (const record of queue) {
		// No GPU is left to claim. Checking further entries would inspect their processes.
		if (claims.size >= gpuCount) {
			break;
		}

		// Requests for instances claim no GPU, and vice versa: a GPU in MIG mode is not handed out whole.
		if (record.kind !== 'entry' || wantsInstances(record.entry)) {
			continue;
		}

		for (const index of groupsFor(record.entry).flat()) {
			if (!claims.has(index)) {
				claims.set(index, record.entry);
			}
		}
	}

	return claims;
}

/**
For each instance of MIG, by its UUID, the first entry of the queue that could claim it.

@param queue - The queue, or the part of it before the caller.
@param groupsFor - As for {@link claimsOf}.
*/
export function instanceClaimsOf(
	queue: readonly QueueRecord[],
	gpuCount: number,
	groupsFor: (entry: QueueEntry) => readonly GpuGroup[] = (entry) => groupsOf(entry, gpuCount),
): ReadonlyMap<string, QueueEntry> {
	const claims = new Map<string, QueueEntry>();
	for (const record of queue) {
		if (record.kind !== 'entry' || !wantsInstances(record.entry)) {
			continue;
		}

		const {entry} = record;
		const unclaimed = eligibleInstancesOf(entry, gpuCount).filter(({uuid}) => !claims.has(uuid));
		// Last, for it costs an inspection of its process.
		if (unclaimed.length > 0 && groupsFor(entry).length > 0) {
			for (const {uuid} of unclaimed) {
				claims.set(uuid, entry);
			}
		}
	}

	return claims;
}

type EntryOptions = Pick<AcquireRequest, 'requester' | 'tenure' | 'note' | 'force'> & {
	readonly id: string;
	readonly wanted: Wanted;
	/** The eligible GPUs or instances. */
	readonly eligible?: Eligible;
	/** Undefined: for as long as it takes. */
	readonly waitSeconds: number | undefined;
};

/** The entry of this very process. */
export const entryFor = (
	{id, requester, wanted, eligible, tenure, note, force, waitSeconds}: EntryOptions,
	host: Host,
	now: number,
): QueueEntry => ({
	id,
	user: requester.label,
	actualUser: requester.account,
	requestedCount: wanted.count,
	requestedIds: wanted.ids ?? [],
	need: wanted.need,
	...eligible,
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
Joins the queue. It expects nothing: the commit gives the position.

@param at - The time whose position it takes again, in seconds on the store's clock; undefined for the end of the queue.
*/
export const planJoin = (entry: QueueEntry, host: string, at?: number): Plan => ({
	...emptyPlan,
	writes: [{kind: 'join', entry, at}],
	audit: [positionEntry('joined', entry, {now: entry.lastHeartbeat, host}, at === undefined ? undefined : 'restored')],
	event: {kind: 'queue', gpus: [], user: ownerOf(entry)},
});

/**
Leaves the queue and gives back what was held meanwhile, with its records.

@param snapshot - What was read.
@param record - Of the position in the queue.
@param context - Who takes it out.
@param hasTimedOut - True when the time to wait was over: the audit log then tells of a refusal.
*/
export function planLeave(
	snapshot: Snapshot,
	record: QueueRecord,
	context: AuditContext & {readonly account: string},
	hasTimedOut = false,
): Plan {
	const endedEntry = (entry: QueueEntry) =>
		hasTimedOut ? positionEntry('refused', entry, context, waitTimedOut) : positionEntry('left', entry, context);
	const held = holdingsOf(snapshot, record.id);
	const ends = planEnd(
		held.map((holding) => ({holding, ending: {reason: 'queue-left', endTime: snapshot.now}})),
		{kind: 'queue', gpus: held.map(({index}) => index), user: context.account, left: [record.id]},
		context,
	);
	return {
		...ends,
		expect: [...ends.expect, {kind: 'entry', id: record.id, raw: record.kind === 'orphan' ? undefined : record.raw}],
		writes: [...ends.writes, {kind: 'leave', id: record.id}],
		audit: [...ends.audit, ...(record.kind === 'entry' ? [endedEntry(record.entry)] : [])],
	};
}

/** The heartbeat of a waiter, for its entry and for what it holds meanwhile. */
export function planEntryHeartbeat(snapshot: Pick<Snapshot, 'gpus' | 'now'>, {id, raw, entry}: EntryRecord): Plan {
	const held = holdingsOf(snapshot, id);
	const heartbeats = planChange(held, (lease) => withHeartbeat(lease, snapshot.now), undefined);
	return {
		...heartbeats,
		expect: [...heartbeats.expect, {kind: 'entry', id, raw}],
		writes: [...heartbeats.writes, {kind: 'entry', entry: withHeartbeat(entry, snapshot.now)}],
	};
}

/** What an entry publishes after a scan. */
export type EntryNote = {
	/** Which GPUs it waits for that are out of service; undefined: none are. */
	readonly unavailable: QueueEntry['unavailable'];
	readonly eligible: Eligible;
};

/** Whether an entry goes on wanting what it holds. */
const isWanted = (entry: QueueEntry, group: GpuGroup, {index, lease}: Holding): boolean =>
	wantsInstances(entry)
		? (entry.eligibleInstances ?? []).some(({uuid}) => uuid === lease.mig?.uuid)
		: group.includes(index);

/** Whether the entry says already what was seen. */
export const isNoted = ({unavailable, eligible}: EntryNote, entry: QueueEntry): boolean =>
	isSameNote(unavailable, entry.unavailable) && isSameEligible(eligible, entry);

/**
Writes down for others what the entry saw. An entry that turns out to be eligible for other GPUs gives back what it held of those that it no
longer wants.
*/
export function planEntryNote(
	snapshot: Pick<Snapshot, 'gpus' | 'now'>,
	{id, raw, entry}: EntryRecord,
	{unavailable, eligible}: EntryNote,
	host: string,
): Plan {
	const next: QueueEntry = {...entry, unavailable, ...eligible};
	const groups = groupsOf(next, snapshot.gpus.length);
	const held = holdingsOf(snapshot, id);
	const unwanted = held.filter((holding) => groups.length !== 1 || !isWanted(next, groups[0]!, holding));
	const kept = new Set(held.filter((holding) => !unwanted.includes(holding)).map(({index}) => index));
	const gpus = gpusOf(unwanted);
	const ends = planEnd(
		unwanted.map((holding) => ({holding, ending: {reason: 'queue-left', endTime: snapshot.now}})),
		// A face that shows the queue reads it again.
		gpus.length > 0 ? {kind: 'released', gpus} : {kind: 'notice', gpus: []},
		{now: snapshot.now, host},
	);
	return {
		...ends,
		expect: [...ends.expect, {kind: 'entry', id, raw}],
		writes: [
			...ends.writes,
			{
				kind: 'entry',
				entry: {
					...next,
					allocatedGpus: entry.allocatedGpus.filter((index) => !gpus.includes(index) || kept.has(index)),
				},
			},
		],
	};
}

/**
Returns how many earlier entries could use one of these GPUs, or any GPU if none are given. A release wakes the first few entries at once,
and the others later.
*/
export function rankFor(queue: readonly QueueRecord[], id: string, gpus: readonly number[], gpuCount: number): number {
	const position = queue.findIndex((record) => record.id === id);
	return queue
		.slice(0, position === -1 ? queue.length : position)
		.filter(
			(record) =>
				record.kind === 'entry' &&
				(gpus.length === 0 ? isPossible(record.entry, gpuCount) : couldUse(record.entry, gpus, gpuCount)),
		).length;
}

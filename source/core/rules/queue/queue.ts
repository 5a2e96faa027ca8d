/** The queue is first come, first served: a GPU that an earlier entry could use is not free for later ones. See {@link claimsOf}. */
import {gpusOf, holdingsIn, type Holding} from '../leases/holdings.js';
import {planChange, planEnd, withHeartbeat} from '../leases/lease-changes.js';
import {ownerOf} from '../leases/ownership.js';
import {emptyPlan, type Expectation, type Plan} from '../../model/plan.js';
import type {Host} from '../../model/ports.js';
import type {Wanted, TimedRequest} from '../request/request.js';
import {waitTimedOut, positionEntry, type AuditContext} from '../leases/audit-entries.js';
import type {EntryRecord, GpuGroup, QueueEntry, QueueRecord, Snapshot} from '../../model/types.js';
import {isSameEligible, type Eligible} from '../allocation/need.js';
import {couldUse, eligibleInstancesOf, groupsOf, isPossible, wantsInstances} from './eligible.js';
import {isSameNote} from './out-of-service.js';

export const holdingsOf = ({gpus}: Pick<Snapshot, 'gpus'>, id: string): readonly Holding[] =>
	holdingsIn(gpus).filter(({lease}) => lease.partialQueueId === id);

/**
Returns for each GPU the first entry that has a claim to this GPU. The GPU is kept for that entry. An entry has a claim to every GPU of every group
that can serve the entry, because any of these GPUs may become free first. `queue` can be the part of the queue before the caller. `groupsFor`
returns the groups that are kept for an entry now. Nothing is kept for an entry whose process is stopped, or that an outage keeps from being served.
*/
export function claimsOf(
	queue: readonly QueueRecord[],
	gpuCount: number,
	groupsFor: (entry: QueueEntry) => readonly GpuGroup[] = (entry) => groupsOf(entry, gpuCount),
): ReadonlyMap<number, QueueEntry> {
	const claims = new Map<number, QueueEntry>();
	for (const record of queue) {
		// All GPUs are already kept. Later entries are not checked, because a check inspects their processes, which is expensive.
		if (claims.size >= gpuCount) {
			break;
		}

		// No GPU is kept for a request for MIG instances, because a GPU in MIG mode is not granted whole.
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

/** Returns for each MIG instance, by UUID, the entry for which the instance is kept. Takes the same arguments as {@link claimsOf}. */
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
		// `groupsFor` inspects the process, so it is called last.
		if (unclaimed.length > 0 && groupsFor(entry).length > 0) {
			for (const {uuid} of unclaimed) {
				claims.set(uuid, entry);
			}
		}
	}

	return claims;
}

type EntryOptions = Pick<TimedRequest, 'requester' | 'tenure' | 'note' | 'force' | 'via'> & {
	readonly id: string;
	readonly wanted: Wanted;
	readonly eligible?: Eligible;
	readonly waitSeconds: number | undefined;
};

export const entryFor = (
	{id, requester, wanted, eligible, tenure, note, via, force, waitSeconds}: EntryOptions,
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
	via,
	force: force === true ? true : undefined,
	enqueueTime: now,
	lastHeartbeat: now,
	waitTimeout: waitSeconds === undefined ? undefined : now + waitSeconds,
	machine: host.machineId,
	bootId: host.bootId,
	holder: host.self,
});

/**
Plans to join the queue. The plan has no preconditions, because the store assigns the position. To restore a lost
position, `at` is the store time at which the entry first joined.
*/
export const planJoin = (entry: QueueEntry, host: string, at?: number): Plan => ({
	...emptyPlan,
	writes: [{kind: 'join', entry, at}],
	audit: [positionEntry('joined', entry, {now: entry.lastHeartbeat, host}, at === undefined ? undefined : 'restored')],
	event: {kind: 'queue', gpus: [], user: ownerOf(entry)},
});

/** Returns the precondition that an entry is still as it was read. None for a value that is not a string, because it cannot be compared. */
const expectEntry = (record: QueueRecord): readonly Expectation[] =>
	record.kind === 'garbage' && record.raw === undefined
		? []
		: [{kind: 'entry', id: record.id, raw: record.kind === 'orphan' ? undefined : record.raw}];

/** Plans that an entry leaves the queue and releases its GPUs. `context` names the account that removes it. A timeout is recorded as a refusal. */
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
		expect: [...ends.expect, ...expectEntry(record)],
		writes: [...ends.writes, {kind: 'leave', id: record.id}],
		audit: [...ends.audit, ...(record.kind === 'entry' ? [endedEntry(record.entry)] : [])],
	};
}

export function planEntryHeartbeat(snapshot: Pick<Snapshot, 'gpus' | 'now'>, {id, raw, entry}: EntryRecord): Plan {
	const held = holdingsOf(snapshot, id);
	const heartbeats = planChange(held, (lease) => withHeartbeat(lease, snapshot.now), undefined);
	return {
		...heartbeats,
		expect: [...heartbeats.expect, {kind: 'entry', id, raw}],
		writes: [...heartbeats.writes, {kind: 'entry', entry: withHeartbeat(entry, snapshot.now)}],
	};
}

export type EntryNote = {
	readonly unavailable: QueueEntry['unavailable'];
	readonly eligible: Eligible;
};

const isWanted = (entry: QueueEntry, group: GpuGroup, {index, lease}: Holding): boolean =>
	wantsInstances(entry)
		? (entry.eligibleInstances ?? []).some(({uuid}) => uuid === lease.mig?.uuid)
		: group.includes(index);

export const isNoted = ({unavailable, eligible}: EntryNote, entry: QueueEntry): boolean =>
	isSameNote(unavailable, entry.unavailable) && isSameEligible(eligible, entry);

/** Plans to store in the entry which GPUs its program can use, according to its last scan. Releases the GPUs that the entry holds and can no longer use. */
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
		// If no GPU is released, the event only makes interfaces that show the queue read again.
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
Counts the earlier entries that could use one of these GPUs. If `gpus` is empty, counts all entries that this pool
could serve. Skips entries for which `waits` returns true.
*/
export function rankFor(
	queue: readonly QueueRecord[],
	id: string,
	gpus: readonly number[],
	gpuCount: number,
	waits: (entry: QueueEntry) => boolean = () => false,
): number {
	const position = queue.findIndex((record) => record.id === id);
	return queue
		.slice(0, position === -1 ? queue.length : position)
		.filter(
			(record) =>
				record.kind === 'entry' &&
				(gpus.length === 0 ? isPossible(record.entry, gpuCount) : couldUse(record.entry, gpus, gpuCount)) &&
				!waits(record.entry),
		).length;
}

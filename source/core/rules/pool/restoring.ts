/**
Restores data that a store has lost. A process that read the data before the loss writes it back. Records that were
written after the loss stay unchanged.
*/
import {instancesHeld, usageOf} from '../leases/holding-changes.js';
import {gpusOf, holdingsIn, holdingsOn, isShare, type SharedRecord} from '../leases/holdings.js';
import {accountName, isSameLease} from '../leases/ownership.js';
import {emptyPlan, type Expectation, type Plan, type Write} from '../../model/plan.js';
import type {Host} from '../../model/ports.js';
import {grantEntry, isEndOf, positionEntry, type AuditContext} from '../leases/audit-entries.js';
import type {
	AuditRecord,
	EndReason,
	GpuRecord,
	Lease,
	Pool,
	QueueEntry,
	ReturnNote,
	Snapshot,
	UsageRecord,
} from '../../model/types.js';
import {poolEntry} from './pool.js';
import {mergedAlerts} from './alerts.js';

/** A process that notices a loss later than this does not restore queue, drains, policy and alerts: people may have changed them since. */
const lateSeconds = 600;

/** Time between the scores (times of joining) of neighbors in the restored queue. The store keeps scores in microseconds. */
const scoreGapSeconds = 2e-6;

/** Whether the store has lost commits that an earlier read contained. The read of `known` must have ended before the read of `found` began. */
export function hasLostData({pool, revision: known}: Snapshot, {pool: foundPool, revision: found}: Snapshot): boolean {
	const hasBegunAgain = found.run !== known.run;
	return (
		pool !== undefined &&
		(foundPool === undefined || found.count < known.count || (hasBegunAgain && found.base < known.count))
	);
}

/** Whether only the record of the pool's size is missing, for example because Redis evicted it. */
const isPoolRecordAlone = ({revision: known}: Snapshot, {revision: found}: Snapshot): boolean =>
	found.count >= known.count && (found.run === known.run || found.base >= known.count);

const endsByItself: ReadonlySet<string> = new Set<EndReason>([
	'expired',
	'holder-died',
	'heartbeat-lost',
	'reboot',
	'queue-left',
	'reclaimed',
	'beyond-limit',
]);

type Loss = {
	readonly known: Snapshot;
	readonly found: Snapshot;
	/** Audit records since the last read. Leases that ended according to these records are not restored. */
	readonly audit: readonly AuditRecord[];
	/** Whether nothing was committed since the loss, so that all records in the store are older than the records of the last read. */
	readonly isUntouched: boolean;
	readonly isLate: boolean;
};

/** Whether the store's clock was set back, so that times do not show which records were changed since the last read. */
const isClockUnsure = ({known, found, isUntouched}: Loss): boolean => !isUntouched && found.now < known.now;

const isGrantedSince = (lease: Lease, loss: Loss): boolean =>
	lease.startTime >= Math.floor(loss.known.now) || isClockUnsure(loss);

const hasEndedSince = (lease: Lease, index: number, {audit}: Loss): boolean =>
	audit.some((record) => isEndOf(record, {index, lease}));

type FreeRecord = Extract<GpuRecord, {kind: 'free'}>;

function isOlderThan(free: FreeRecord, lease: Lease, loss: Loss): boolean {
	const {index, lastReleased, ended} = free;
	if ((ended?.leaseId !== undefined && ended.leaseId === lease.leaseId) || hasEndedSince(lease, index, loss)) {
		return false;
	}

	// A loss can bring back an older lease, which then ends a second time. The record shows that end, and says nothing about the lost lease.
	const isEndOfEarlier = ended?.leaseId !== undefined && endsByItself.has(ended.reason);
	return lastReleased === undefined || lastReleased <= loss.known.now || isEndOfEarlier;
}

function isOlderVersion(found: Lease, known: Lease, {isUntouched}: Loss): boolean {
	if (found.partialQueueId !== known.partialQueueId) {
		// A grant replaces the leases of a waiting request, and nothing does the reverse. So the lease of the waiting request is older.
		return found.partialQueueId !== undefined;
	}

	const end = (lease: Lease): number => (lease.type === 'manual' ? lease.expiryTime : lease.lastHeartbeat) ?? 0;
	return isUntouched || end(found) < end(known);
}

/** Removes the watch for missed heartbeats, because heartbeats could not be written during the outage. */
const unwatched = <Held extends Lease | QueueEntry>(held: Held): Held => ({...held, silence: undefined});

type Restored = {
	readonly write: Write;
	readonly usage?: readonly UsageRecord[];
	readonly leases?: readonly Lease[];
};

const free = ({index, lastReleased, ended}: FreeRecord): Write => ({
	kind: 'free',
	index,
	lastReleased,
	ended,
});

/** Restores the usage records of leases that had ended before the last read, unless the GPU's record still shows their end. */
function restoreEnded(known: FreeRecord, found: GpuRecord): Restored {
	const {index, lastReleased, ended} = known;
	return {
		write: free(known),
		usage: holdingsOn(found)
			.filter(({lease: {leaseId}}) => leaseId !== undefined && leaseId === ended?.leaseId && lastReleased !== undefined)
			.map(({lease}) => usageOf(index, lease, {reason: ended!.reason as EndReason, endTime: lastReleased!})),
	};
}

const restoreLeases = (index: number, leases: readonly Lease[], capacityMiB: number | undefined): Restored => {
	const again = leases.map((lease) => unwatched(lease));
	return {
		write: isShare(again[0]!)
			? {kind: 'shares', index, shares: again, capacityMiB}
			: {kind: 'lease', index, lease: again[0]!},
		leases: again,
	};
};

/** Whether two leases of one GPU exclude each other: both have the same MIG instance, or one has an instance and the other a share of memory. */
const isInWayOf = ({mig}: Lease, {mig: other}: Lease): boolean =>
	mig === undefined || other === undefined ? mig !== other : mig.uuid === other.uuid;

/** Restores lost shares on a GPU that has other shares now. The other shares stay, and lost shares that no longer fit are not restored. */
function restoreShares(known: SharedRecord, found: SharedRecord, loss: Loss): Restored | undefined {
	const capacityMiB = found.capacityMiB ?? known.capacityMiB;
	const knownOf = (lease: Lease): Lease | undefined => known.shares.find((one) => isSameLease(one, lease));
	const kept = found.shares.flatMap((lease): readonly Lease[] => {
		const before = knownOf(lease);
		if (before === undefined) {
			return loss.isLate || isGrantedSince(lease, loss) ? [lease] : [];
		}

		return !loss.isLate && isOlderVersion(lease, before, loss) ? [unwatched(before)] : [lease];
	});
	let leftMiB = (capacityMiB ?? Infinity) - kept.reduce((sum, {memoryMiB = 0}) => sum + memoryMiB, 0);
	const back: Lease[] = [];
	for (const lease of known.shares) {
		const isThere = found.shares.some((one) => isSameLease(one, lease));
		if (
			kept.some((one) => isInWayOf(one, lease)) ||
			!(!isThere && !hasEndedSince(lease, known.index, loss) && (lease.memoryMiB ?? 0) <= leftMiB)
		) {
			continue;
		}

		leftMiB -= lease.memoryMiB ?? 0;
		back.push(unwatched(lease));
	}

	const shares = [...kept, ...back];
	const isSame =
		shares.length === found.shares.length && shares.every((lease, position) => lease === found.shares[position]);
	if (isSame || shares.length === 0) {
		return undefined;
	}

	return {
		write: {
			kind: 'shares',
			index: found.index,
			shares,
			capacityMiB,
			shareEnded: found.shareEnded,
			unknownFields: found.unknownFields,
		},
		leases: shares.filter((lease) => !found.shares.includes(lease)),
	};
}

function restoreGpu(known: GpuRecord, found: GpuRecord, loss: Loss): Restored | undefined {
	if (known.raw === found.raw || known.kind === 'garbage' || found.kind === 'garbage') {
		return undefined;
	}

	if (known.kind === 'shared' && found.kind === 'shared') {
		return restoreShares(known, found, loss);
	}

	const held = holdingsOn(found).map(({lease}) => lease);
	if (known.kind !== 'free') {
		const {index} = known;
		const capacityMiB = known.kind === 'shared' ? known.capacityMiB : undefined;
		const leases = holdingsOn(known).map(({lease}) => lease);
		const isWanted = (lease: Lease): boolean =>
			found.kind === 'free'
				? isOlderThan(found, lease, loss)
				: !loss.isLate &&
					!hasEndedSince(lease, index, loss) &&
					held.every((other) =>
						isSameLease(other, lease) ? isOlderVersion(other, lease, loss) : !isGrantedSince(other, loss),
					);
		const wanted = leases.filter((lease) => isWanted(lease));
		return wanted.length === 0 ? undefined : restoreLeases(index, wanted, capacityMiB);
	}

	if (loss.isLate) {
		return undefined;
	}

	if (found.kind !== 'free') {
		return held.some((lease) => isGrantedSince(lease, loss)) ? undefined : restoreEnded(known, found);
	}

	return (found.lastReleased ?? 0) < (known.lastReleased ?? 0) ? {write: free(known)} : undefined;
}

const isHeldBy = ({gpus}: Snapshot, {holder, machine}: QueueEntry): boolean =>
	holder !== undefined &&
	holdingsIn(gpus).some(
		({lease}) =>
			lease.partialQueueId === undefined &&
			lease.machine === machine &&
			lease.holder?.pid === holder.pid &&
			lease.holder.startTicks === holder.startTicks,
	);

const hasLeftSince = (id: string, {audit}: Loss): boolean =>
	audit.some(({entryId, kind}) => entryId === id && ['left', 'refused', 'granted'].includes(kind));

const nothing = {expect: [], writes: []} as const;

/** Restores the queue in its order. Entries that had left the queue before the last read are removed again. */
function restoreQueue(loss: Loss): Pick<Plan, 'expect' | 'writes'> & {readonly back: readonly QueueEntry[]} {
	const {known, found} = loss;
	const expect: Expectation[] = [];
	const writes: Write[] = [];
	const back: QueueEntry[] = [];
	let at = 0;
	for (const record of known.queue) {
		if (record.kind !== 'entry') {
			continue;
		}

		const {id, entry} = record;
		at = Math.max(entry.enqueueTime, at + scoreGapSeconds);
		if (found.queue.some((other) => other.id === id) || isHeldBy(found, entry) || hasLeftSince(id, loss)) {
			continue;
		}

		expect.push({kind: 'entry', id, raw: undefined});
		writes.push({kind: 'join', entry: unwatched(entry), at});
		back.push(entry);
	}

	for (const record of found.queue) {
		// An entry whose heartbeat is newer than the last read has joined since that read, and stays.
		const hasLeft =
			record.kind === 'entry' &&
			known.queue.every(({id}) => id !== record.id) &&
			record.entry.lastHeartbeat <= known.now &&
			!isClockUnsure(loss);
		if (!hasLeft) {
			continue;
		}

		expect.push({kind: 'entry', id: record.id, raw: record.raw});
		writes.push({kind: 'leave', id: record.id});
	}

	return {expect, writes, back};
}

/** Restores settings key by key. Settings that somebody changed since the loss stay. */
function restoreSettings<Key, Setting extends {readonly since?: number}>(
	known: ReadonlyMap<Key, Setting>,
	found: ReadonlyMap<Key, Setting>,
	{since, changed}: {readonly since: number; readonly changed: ReadonlySet<Key | undefined>},
): ReadonlyMap<Key, Setting> | undefined {
	const settings = new Map([
		...[...known].filter(([key]) => !changed.has(key)),
		...[...found].filter(([key, setting]) => changed.has(key) || (setting.since ?? 0) >= Math.floor(since)),
	]);
	const isSame =
		settings.size === found.size &&
		[...settings].every(([key, setting]) => JSON.stringify(found.get(key)) === JSON.stringify(setting));
	return isSame ? undefined : settings;
}

function restoreDrains({known, found, audit}: Loss): Pick<Plan, 'expect' | 'writes'> {
	const changed = new Set(audit.filter(({kind}) => kind === 'undrained').flatMap(({gpus}) => gpus));
	const drains =
		known.drainProblem === undefined && found.drainProblem === undefined
			? restoreSettings(known.drains, found.drains, {since: known.now, changed})
			: undefined;
	return drains === undefined
		? nothing
		: {
				expect: [{kind: 'drains', raw: found.stored.drains}],
				writes: [{kind: 'drains', drains: new Map([...drains].toSorted(([a], [b]) => a - b))}],
			};
}

function restorePolicy({known, found, audit}: Loss): Pick<Plan, 'expect' | 'writes'> {
	const changed = new Set(audit.filter(({kind}) => kind === 'policy').map(({key}) => key));
	const policy =
		known.policyProblem === undefined && found.policyProblem === undefined
			? restoreSettings(known.policy, found.policy, {since: known.now, changed})
			: undefined;
	return policy === undefined
		? nothing
		: {expect: [{kind: 'policy', raw: found.stored.policy}], writes: [{kind: 'policy', policy}]};
}

/** Returns the notes about ended reservations from both. The owners get a note twice rather than never. */
function mergedReturns(known: Snapshot['returned'] = [], found: Snapshot['returned'] = []): readonly ReturnNote[] {
	const isThere = (note: ReturnNote): boolean =>
		found.some(({leaseId, endedAt}) => leaseId === note.leaseId && endedAt === note.endedAt);
	return [...known.filter((note) => !isThere(note)), ...found];
}

/** Plans to restore only the pool record. Without this record, the GPU records cannot be read. */
export const planPoolRecord = (known: Snapshot & {readonly pool: Pool}, found: Snapshot, host: Host): Plan => ({
	...emptyPlan,
	expect: [
		{kind: 'pool', gpuCount: undefined},
		{kind: 'revision', raw: found.revision.raw},
	],
	writes: [{kind: 'pool', pool: known.pool}],
	audit: [
		poolEntry(
			known.pool,
			{now: found.now, host: host.hostname, account: accountName(host.account)},
			{reason: 'restored'},
		),
	],
	event: {kind: 'pool', gpus: []},
});

/**
Plans to restore all lost data in one commit. The commit fails if a record is no longer as in `found`. `known` is the last read before the loss, with
a pool, and {@link hasLostData} must be true. `host` is the host that restores the data, and `audit` is the audit log since that read.
*/
export function planRestoring(
	known: Snapshot & {readonly pool: Pool},
	found: Snapshot,
	{host, audit}: {readonly host: Host; readonly audit: readonly AuditRecord[]},
): Plan {
	if (found.pool === undefined && isPoolRecordAlone(known, found)) {
		return planPoolRecord(known, found, host);
	}

	const {count, base, since} = found.revision;
	const isUntouched = count === base;
	// A file that was copied back keeps its run and its old `since`. But the loss is always later than the last read.
	const isLate = !isUntouched && since !== undefined && found.now - Math.max(since, known.now) > lateSeconds;
	const loss: Loss = {known, found, audit, isUntouched, isLate};
	// A pool of another size, or at another location, may be a change made since the loss. It is overwritten only if nothing was committed since.
	const isOther =
		found.pool?.gpuCount !== known.pool.gpuCount || found.pool.machine?.movedTo !== known.pool.machine?.movedTo;
	const hasOldPool = isUntouched && count > 0 && isOther;
	const pool = found.pool === undefined || hasOldPool ? known.pool : found.pool;
	const restored = known.gpus.slice(0, pool.gpuCount).flatMap((record) => {
		const {index} = record;
		const there = found.gpus[index] ?? {kind: 'free', index, raw: undefined};
		const back = restoreGpu(record, there, loss);
		return back === undefined ? [] : [{...back, index, raw: there.raw}];
	});
	const queue = isLate ? {...nothing, back: []} : restoreQueue(loss);
	const drains = isLate ? nothing : restoreDrains(loss);
	const policy = isLate ? nothing : restorePolicy(loss);
	const context: AuditContext = {now: found.now, host: host.hostname};
	const leases = Map.groupBy(
		restored.flatMap(({index, leases: back = []}) => back.map((lease) => ({index, lease}))),
		({index, lease}) => lease.leaseId ?? index,
	);
	const gpus = restored.map(({index}) => index);
	return {
		...emptyPlan,
		expect: [
			{kind: 'revision', raw: found.revision.raw},
			{kind: 'pool', gpuCount: found.pool?.gpuCount},
			...restored.map(({index, raw}): Expectation => ({kind: 'gpu', index, raw})),
			...queue.expect,
			...drains.expect,
			...policy.expect,
			...(found.alertsProblem === undefined ? [{kind: 'alerts', raw: found.stored.alerts} as const] : []),
		],
		writes: [
			...(pool === found.pool ? [] : [{kind: 'pool', pool} as const]),
			...restored.map(({write}) => write),
			...queue.writes,
			...drains.writes,
			...policy.writes,
			...(found.alertsProblem === undefined
				? [
						{
							kind: 'alerts',
							alerts: isLate ? found.alerts : mergedAlerts(known.alerts, found.alerts),
							dataLoss: {restoredAt: found.now, readAt: known.now},
							baselines: new Map([...known.baselines, ...found.baselines]),
							overuse: found.overuse,
							returned: isLate ? found.returned : mergedReturns(known.returned, found.returned),
						} as const,
					]
				: []),
			{kind: 'restored', count: known.revision.count},
		],
		usage: restored.flatMap(({usage = []}) => usage),
		audit: [
			{
				...poolEntry(pool, {...context, account: accountName(host.account)}, {reason: 'restored'}),
				until: known.now,
			},
			...Array.from(leases.values(), (group) =>
				grantEntry(group[0]!.lease, gpusOf(group), context, {
					instances: instancesHeld(group),
					reason: 'restored',
					kind: group[0]!.lease.partialQueueId === undefined ? 'granted' : 'held',
				}),
			),
			...queue.back.map((entry) => positionEntry('joined', entry, context, 'restored')),
		],
		event: {kind: 'pool', gpus},
	};
}

/**
How a lease lives and ends: expire, release, extend. Each makes a Plan that names exactly the records it read, so
that a late change can never touch somebody else's lease.
*/
import {emptyPlan, type Expectation, type Plan, type Write} from '../../model/plan.js';
import type {Host} from '../../model/ports.js';
import type {
	EndReason,
	GpuRecord,
	Lease,
	PoolEvent,
	QueueEntry,
	QueueRecord,
	Snapshot,
	UsageRecord,
} from '../../model/types.js';
import {usageOf} from './usage-record.js';
import {judgeEntry, judgeLease, type Ending} from './liveness.js';
import {endingEntries, extensionEntries, positionEntry, type AuditContext} from './audit-entries.js';

export type LeasedRecord = Extract<GpuRecord, {kind: 'leased'}>;

export const isLeased = (record: GpuRecord): record is LeasedRecord => record.kind === 'leased';

const expectation = ({index, raw}: GpuRecord): Expectation => ({kind: 'gpu', index, raw});

/** Ends leases as they were read: the GPUs become free, and each hold gets its usage record. */
export function planEnd(
	endings: ReadonlyArray<{readonly record: LeasedRecord; readonly ending: Ending}>,
	event: PoolEvent,
	context: AuditContext,
): Plan {
	const writes: Write[] = [];
	const usage: UsageRecord[] = [];
	for (const {record, ending} of endings) {
		const {index, lease} = record;
		const entry = usageOf(index, lease, ending);
		const ended = {reason: ending.reason, leaseId: lease.leaseId};
		usage.push(entry);
		writes.push({kind: 'free', index, lastReleased: entry.endTime, ended});
	}

	return {
		expect: endings.map(({record}) => expectation(record)),
		writes,
		usage,
		audit: endingEntries(
			endings.map(({record: {index, lease}, ending}) => ({index, lease, ending})),
			context,
		),
		event,
		grants: false,
	};
}

/** The queue without the entries that are gone: what to expect and what to write. */
function dropFromQueue(gone: readonly QueueRecord[]): Pick<Plan, 'expect' | 'writes'> {
	return {
		expect: gone.map((record) => ({
			kind: 'entry',
			id: record.id,
			raw: record.kind === 'orphan' ? undefined : record.raw,
		})),
		writes: gone.map(({id}) => ({kind: 'leave', id})),
	};
}

/** Leases and entries as they are to be rewritten, each as it was read. Nobody has to hear of it. */
type Notes = {
	readonly leases: ReadonlyArray<{readonly record: LeasedRecord; readonly lease: Lease}>;
	readonly entries: ReadonlyArray<{readonly id: string; readonly raw: string; readonly entry: QueueEntry}>;
};

const planNotes = ({leases, entries}: Notes): Pick<Plan, 'expect' | 'writes'> => ({
	expect: [
		...leases.map(({record}) => expectation(record)),
		...entries.map(({id, raw}): Expectation => ({kind: 'entry', id, raw})),
	],
	writes: [
		...leases.map(({record: {index}, lease}): Write => ({kind: 'lease', index, lease})),
		...entries.map(({entry}): Write => ({kind: 'entry', entry})),
	],
});

/** The heartbeat of a lease. It ends a watch for its silence. */
export const withHeartbeat = <Held extends Lease | QueueEntry>(held: Held, now: number): Held => ({
	...held,
	lastHeartbeat: now,
	silence: undefined,
});

/** In a longer line a waiter judges so many of the first, and on average as many of the others. */
const judgedCount = 8;

/**
Which entries one of many waiters judges at one of its reads: those it could be let past, those that hold GPUs, and some of the others by chance. Each
judgement is a look at a process, so 200 waiters who all judged all of the line would do nothing else.

@param random - Answers a number in [0, 1).
*/
export function judgedByWaiter({queue, gpus}: Snapshot, random: () => number): (record: QueueRecord) => boolean {
	const holding = new Set(gpus.map((record) => (isLeased(record) ? record.lease.partialQueueId : undefined)));
	const judged = new Set(
		queue.filter(
			({id}, place) => place < judgedCount || holding.has(id) || random() < judgedCount / (queue.length - judgedCount),
		),
	);
	return (record) => judged.has(record);
}

/**
Plans away all that is dead: leases whose time or process ended, entries whose process is gone with what they held, ids in the
line without an entry. Notes on what stays when somebody has to watch for its silence, or is seen to live and cannot say so. Every verb does
this first.

@param isJudged - Which entries of the line are looked at; the others stay as they are.
*/
export function planExpiry(
	snapshot: Snapshot,
	host: Host,
	isJudged: (record: QueueRecord) => boolean = () => true,
): Plan {
	const entries = snapshot.queue
		.filter((record) => record.kind === 'entry')
		.filter((record) => isJudged(record))
		.map((record) => ({record, judgement: judgeEntry(record.entry, snapshot, host)}));
	const reasons = new Map<QueueRecord, EndReason>(
		entries.flatMap(({record, judgement}) => (judgement.kind === 'ended' ? [[record, judgement.ending] as const] : [])),
	);
	const gone = snapshot.queue.filter((record) => record.kind === 'orphan' || reasons.has(record));
	const staying: Snapshot = {...snapshot, queue: snapshot.queue.filter((record) => !gone.includes(record))};
	const leases = snapshot.gpus
		.filter(isLeased)
		.map((record) => ({record, judgement: judgeLease(record.lease, staying, host)}));
	const ended = leases.flatMap(({record, judgement}) =>
		judgement.kind === 'ended' ? [{record, ending: judgement.ending}] : [],
	);
	const notes = planNotes({
		leases: leases.flatMap(({record, judgement}) =>
			judgement.kind === 'watch'
				? [{record, lease: {...record.lease, silence: judgement.silence}}]
				: judgement.kind === 'vouch'
					? [{record, lease: withHeartbeat(record.lease, snapshot.now)}]
					: [],
		),
		entries: entries.flatMap(({record: {id, raw, entry}, judgement}) =>
			judgement.kind === 'watch' ? [{id, raw, entry: {...entry, silence: judgement.silence}}] : [],
		),
	});
	if (gone.length === 0 && ended.length === 0) {
		return {...emptyPlan, ...notes};
	}

	const context: AuditContext = {now: snapshot.now, host: host.hostname};
	const ends = planEnd(
		ended,
		{kind: 'expired', gpus: ended.map(({record}) => record.index), left: gone.map(({id}) => id)},
		context,
	);
	const drops = dropFromQueue(gone);
	// A partial holding ends because its entry is gone: were the entry to appear meanwhile, it would not.
	const orphaned = new Set(
		ended
			.map(({record}) => record.lease.partialQueueId)
			.filter((id) => id !== undefined && gone.every((entry) => entry.id !== id)),
	) as ReadonlySet<string>;
	return {
		...ends,
		expect: [
			...ends.expect,
			...drops.expect,
			...[...orphaned].map((id) => ({kind: 'entry', id, raw: undefined}) as const),
			...notes.expect,
		],
		writes: [...ends.writes, ...drops.writes, ...notes.writes],
		audit: [
			...ends.audit,
			...gone
				.filter((record) => record.kind === 'entry')
				.map((record) => positionEntry('left', record.entry, context, reasons.get(record))),
		],
	};
}

/** Gives back these leases now. */
export const planRelease = (records: readonly LeasedRecord[], user: string, context: AuditContext): Plan =>
	planEnd(
		records.map((record) => ({record, ending: {reason: 'released', endTime: context.now}})),
		{kind: 'released', gpus: records.map(({index}) => index), user},
		context,
	);

/** Rewrites leases in place, each as it was read. */
export const planChange = (
	records: readonly LeasedRecord[],
	change: (lease: Lease, index: number) => Lease,
	event: PoolEvent | undefined,
): Plan => ({
	expect: records.map((record) => expectation(record)),
	writes: records.map(({index, lease}) => ({kind: 'lease', index, lease: change(lease, index)})),
	usage: [],
	audit: [],
	event,
	grants: false,
});

/** Moves the end of manual leases; `expiryOf` says where to, in seconds on the store's clock. */
export function planExtend(
	records: readonly LeasedRecord[],
	expiryOf: (lease: Lease) => number,
	user: string,
	context: AuditContext,
): Plan {
	const extend = (lease: Lease): Lease => ({...lease, expiryTime: expiryOf(lease)});
	return {
		...planChange(records, extend, {kind: 'extended', gpus: records.map(({index}) => index), user}),
		audit: extensionEntries(
			records.map(({index, lease}) => ({index, lease: extend(lease)})),
			context,
		),
	};
}

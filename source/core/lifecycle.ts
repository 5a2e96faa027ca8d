/**
How a lease lives and ends: expire, release, extend. Each makes a Plan that names exactly the records it read, so
that a late change can never touch somebody else's lease.
*/
import {usageOf} from './history.js';
import {endingOf, endingOfEntry, type Ending} from './liveness.js';
import {emptyPlan, type Expectation, type Plan, type Write} from './plan.js';
import type {Host} from './ports.js';
import {tellEndings, tellExtensions, tellPlace, type Occasion} from './telling.js';
import type {GpuRecord, Lease, PoolEvent, QueueRecord, Snapshot, UsageRecord} from './types.js';

export type LeasedRecord = Extract<GpuRecord, {kind: 'leased'}>;

export const isLeased = (record: GpuRecord): record is LeasedRecord => record.kind === 'leased';

const expectation = ({index, raw}: GpuRecord): Expectation => ({kind: 'gpu', index, raw});

/** Ends leases as they were read: the GPUs become free, and each hold gets its usage record. */
export function planEnd(
	ended: ReadonlyArray<{readonly record: LeasedRecord; readonly ending: Ending}>,
	event: PoolEvent,
	occasion: Occasion,
): Plan {
	const writes: Write[] = [];
	const usage: UsageRecord[] = [];
	for (const {record, ending} of ended) {
		const entry = usageOf(record.index, record.lease, ending);
		usage.push(entry);
		writes.push({kind: 'free', index: record.index, lastReleased: entry.endTime});
	}

	return {
		expect: ended.map(({record}) => expectation(record)),
		writes,
		usage,
		audit: tellEndings(
			ended.map(({record: {index, lease}, ending}) => ({index, lease, ending})),
			occasion,
		),
		event,
		grants: false,
	};
}

/** The queue without whoever is gone: what to expect and what to write. */
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

/**
Plans away all that is dead: leases whose time or process ended, entries whose process is gone with what they held, ids in the
line without an entry. Every verb does this first.
*/
export function planExpiry(snapshot: Snapshot, host: Host): Plan {
	const reasons = new Map(
		snapshot.queue.map((record) => [
			record,
			record.kind === 'entry' ? endingOfEntry(record.entry, snapshot, host) : undefined,
		]),
	);
	const gone = snapshot.queue.filter((record) => record.kind === 'orphan' || reasons.get(record) !== undefined);
	const staying: Snapshot = {...snapshot, queue: snapshot.queue.filter((record) => !gone.includes(record))};
	const ended = snapshot.gpus.filter(isLeased).flatMap((record) => {
		const ending = endingOf(record.lease, staying, host);
		return ending === undefined ? [] : [{record, ending}];
	});
	if (gone.length === 0 && ended.length === 0) {
		return emptyPlan;
	}

	const occasion: Occasion = {now: snapshot.now, host: host.hostname};
	const ends = planEnd(
		ended,
		{kind: 'expired', gpus: ended.map(({record}) => record.index), left: gone.map(({id}) => id)},
		occasion,
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
		],
		writes: [...ends.writes, ...drops.writes],
		audit: [
			...ends.audit,
			...gone
				.filter((record) => record.kind === 'entry')
				.map((record) => tellPlace('left', record.entry, occasion, reasons.get(record))),
		],
	};
}

/** Gives back these leases now. */
export const planRelease = (records: readonly LeasedRecord[], user: string, occasion: Occasion): Plan =>
	planEnd(
		records.map((record) => ({record, ending: {reason: 'released', endTime: occasion.now}})),
		{kind: 'released', gpus: records.map(({index}) => index), user},
		occasion,
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
	occasion: Occasion,
): Plan {
	const extend = (lease: Lease): Lease => ({...lease, expiryTime: expiryOf(lease)});
	return {
		...planChange(records, extend, {kind: 'extended', gpus: records.map(({index}) => index), user}),
		audit: tellExtensions(
			records.map(({index, lease}) => ({index, lease: extend(lease)})),
			occasion,
		),
	};
}

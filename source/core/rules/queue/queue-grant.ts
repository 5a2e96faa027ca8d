/**
What the one who waits may take now: (snapshot, its entry) -> Plan. Nobody earlier in the line could use what it takes, and what
somebody later holds while waiting, or somebody stopped, is taken over in the same commit, so two entries never block each other.
*/
import {isLeased, type LeasedRecord} from '../leases/lease-changes.js';
import type {Expectation, Plan, Write} from '../../model/plan.js';
import {mostRecentUserFirst} from '../allocation/most-recent-user-first.js';
import type {Strategy} from '../allocation/strategy.js';
import {grantEntry, type AuditContext} from '../leases/audit-entries.js';
import type {GpuRecord, Lease, QueueEntry, QueueRecord, Snapshot} from '../../model/types.js';
import {takeoverOf, waitersOf, type Waiters} from './takeover.js';
import {claimsOf} from './queue.js';
import {isServable, type OutOfService} from './out-of-service.js';

export type EntryRecord = Extract<QueueRecord, {kind: 'entry'}>;

export type QueueGrantOptions = {
	/** The lease that each GPU gets once there are enough. */
	readonly lease: Lease;
	/** False for a GPU whose use, as the tool saw it, forbids handing it out. */
	readonly isUsable: (index: number) => boolean;
	/** What is out of service, as far as the caller has seen or read. */
	readonly outOfService: OutOfService;
	readonly isAwake: (entry: QueueEntry) => boolean;
	/** Name of this host. */
	readonly host: string;
	/** In spite of use without a reservation. */
	readonly force?: boolean;
	readonly strategy?: Strategy;
};

export type QueueGrant =
	/** Everything is there: it leaves the line with its GPUs. */
	| {readonly kind: 'complete'; readonly plan: Plan; readonly gpus: readonly number[]}
	/** Something more, not all: it is held until the rest comes. */
	| {readonly kind: 'partial'; readonly plan: Plan; readonly gpus: readonly number[]}
	| {readonly kind: 'nothing'; readonly gpus: readonly number[]};

/** What the entry holds while it waits. */
export const holdingsOf = (snapshot: Snapshot, id: string): readonly LeasedRecord[] =>
	snapshot.gpus.filter(isLeased).filter(({lease}) => lease.partialQueueId === id);

const indexesOf = (records: readonly GpuRecord[]): readonly number[] =>
	records.map(({index}) => index).toSorted((a, b) => a - b);

const positionOf = (queue: Snapshot['queue'], {lease}: LeasedRecord): number =>
	queue.findIndex(({id}) => id === lease.partialQueueId);

/**
GPUs it could take, best first: free ones by the strategy, then what others hold while they wait, the last in line first: those behind
it, and those before it that are stopped or wait for what is out of service.
*/
function candidates(
	snapshot: Snapshot,
	position: number,
	{isUsable, strategy = mostRecentUserFirst}: QueueGrantOptions,
	{mayClaim, gives}: Waiters,
): readonly GpuRecord[] {
	const {queue, gpus, lastUsed} = snapshot;
	const {entry} = queue[position] as EntryRecord;
	const claims = claimsOf(queue.slice(0, position), gpus.length, mayClaim);
	const allowed = gpus.filter(
		({index}) =>
			!claims.has(index) &&
			!snapshot.drains.has(index) &&
			isUsable(index) &&
			(entry.requestedIds.length === 0 || entry.requestedIds.includes(index)),
	);
	const free = strategy(
		allowed
			.filter((record) => record.kind === 'free')
			.map(({index, lastReleased}) => ({index, lastReleased, lastUsedByRequester: lastUsed.get(index)})),
	).map(({index}) => gpus[index]!);
	const heldByOthers = allowed
		.filter(isLeased)
		.filter((record) => {
			const other = queue[positionOf(queue, record)];
			return (
				record.lease.partialQueueId !== undefined &&
				other?.kind === 'entry' &&
				other.id !== entry.id &&
				(positionOf(queue, record) > position || gives(record.lease))
			);
		})
		.toSorted((a, b) => positionOf(queue, b) - positionOf(queue, a));
	return [...free, ...heldByOthers];
}

const expectationsOf = (
	snapshot: Snapshot,
	position: number,
	records: readonly GpuRecord[],
): readonly Expectation[] => {
	const own = snapshot.queue[position] as EntryRecord;
	return [
		{kind: 'pool', gpuCount: snapshot.gpus.length},
		{kind: 'drains', raw: snapshot.stored.drains},
		{kind: 'queue', extent: 'prefix', ids: snapshot.queue.slice(0, position + 1).map(({id}) => id)},
		{kind: 'entry', id: own.id, raw: own.raw},
		...records.map(({index, raw}): Expectation => ({kind: 'gpu', index, raw})),
	];
};

/**
@param snapshot - Without the dead.
@param id - Of an entry in the line.
*/
export function planQueueGrant(snapshot: Snapshot, id: string, options: QueueGrantOptions): QueueGrant {
	const position = snapshot.queue.findIndex((record) => record.id === id && record.kind === 'entry');
	if (position === -1) {
		return {kind: 'nothing', gpus: []};
	}

	const {entry} = snapshot.queue[position] as EntryRecord;
	const {lease, isAwake, outOfService} = options;
	if (!isServable(entry, snapshot.gpus, outOfService)) {
		return {kind: 'nothing', gpus: indexesOf(holdingsOf(snapshot, id))};
	}

	const waiters = waitersOf(snapshot, outOfService, isAwake);
	const held = holdingsOf(snapshot, id);
	const wanted = entry.requestedIds.length > 0 ? entry.requestedIds.length : entry.requestedCount;
	const missing = Math.max(0, wanted - held.length);
	const taken = candidates(snapshot, position, options, waiters).slice(0, missing);
	const gpus = indexesOf([...held, ...taken]);
	const isComplete = taken.length === missing;
	if (!isComplete && taken.length === 0) {
		return {kind: 'nothing', gpus};
	}

	const context: AuditContext = {now: snapshot.now, host: options.host};
	const {usage, audit: takeovers} = takeoverOf(
		taken.filter(isLeased),
		(its) =>
			snapshot.queue.findIndex((record) => record.id === its.partialQueueId) > position
				? 'taken-by-earlier'
				: waiters.reasonToGive(its),
		context,
	);
	const grant = {entryId: id, forced: options.force};
	const event = {
		kind: isComplete ? 'granted' : 'queue',
		gpus,
		user: lease.actualUser ?? lease.user,
		left: isComplete ? [id] : undefined,
	} as const;
	const fresh = {...lease, startTime: Math.floor(snapshot.now), lastHeartbeat: Math.floor(snapshot.now)};
	if (isComplete) {
		const writes: Write[] = [
			// A hold that began while waiting keeps its beginning: the GPU was not free since then.
			...held.map(({index, lease: {startTime}}): Write => ({kind: 'lease', index, lease: {...fresh, startTime}})),
			...taken.map(({index}): Write => ({kind: 'lease', index, lease: fresh})),
			{kind: 'leave', id},
		];
		return {
			kind: 'complete',
			gpus,
			plan: {
				expect: expectationsOf(snapshot, position, [...held, ...taken]),
				writes,
				usage,
				audit: [...takeovers, grantEntry(fresh, gpus, context, grant)],
				event,
				grants: true,
			},
		};
	}

	// No end and no limit yet: a partial holding lives with its entry.
	const partial: Lease = {...fresh, expiryTime: undefined, endsBy: undefined, partialQueueId: id};
	return {
		kind: 'partial',
		gpus,
		plan: {
			expect: expectationsOf(snapshot, position, taken),
			writes: [
				...taken.map(({index}): Write => ({kind: 'lease', index, lease: partial})),
				// It can be served, by all that is known now.
				{kind: 'entry', entry: {...entry, allocatedGpus: gpus, unavailable: undefined}},
			],
			usage,
			audit: [...takeovers, grantEntry(partial, indexesOf(taken), context, {...grant, kind: 'held'})],
			event,
			grants: true,
		},
	};
}

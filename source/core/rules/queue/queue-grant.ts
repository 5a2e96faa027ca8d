/**
What the one who waits may take now: (snapshot, its entry) -> Plan. Nobody earlier in the queue could use what it takes, and what
somebody later holds while waiting, or somebody stopped, is taken over in the same commit, so two entries never block each other.
*/
import {planHoldings, type HoldingChange} from '../leases/holding-changes.js';
import {holdingsIn, holdingsOn, type Holding} from '../leases/holdings.js';
import type {Expectation, Plan} from '../../model/plan.js';
import {chooseGpus, type Offer, type Preference} from '../allocation/choose.js';
import {offerOf, rankShares, type GpuOffer} from '../allocation/offer.js';
import {shareLimitsOf} from '../allocation/share-policy.js';
import {policyExpectation, policyOf} from '../policy/policy.js';
import {grantEntry, type AuditContext} from '../leases/audit-entries.js';
import type {GpuGroup, GpuReading, GpuRecord, Lease, QueueEntry, QueueRecord, Snapshot} from '../../model/types.js';
import {takeoverOf, waitersOf, type Waiters} from './takeover.js';
import {claimsOf} from './queue.js';
import {groupsOf, wantedCountOf} from './eligible.js';
import {servableGroups, type OutOfService} from './out-of-service.js';

export type EntryRecord = Extract<QueueRecord, {kind: 'entry'}>;

export type QueueGrantOptions = {
	/** The lease that each GPU gets once there are enough. */
	readonly lease: Lease;
	/** False for a GPU whose use, as the tool saw it, forbids handing it out. */
	readonly isUsable: (index: number) => boolean;
	/** What the tool saw of a GPU, where a share is asked for. Absent: nobody looked. */
	readonly readingOf?: (index: number) => GpuReading | undefined;
	/** What is out of service, as far as the caller has seen or read. */
	readonly outOfService: OutOfService;
	readonly isAwake: (entry: QueueEntry) => boolean;
	/** Name of this host. */
	readonly host: string;
	/** In spite of use without a reservation. */
	readonly force?: boolean;
	/** What of the free GPUs is best. Without a strategy it is that of the policy. */
	readonly preference?: Preference;
	/** The groups of GPUs of its own that can serve it, after a scan of them. Absent: those that it has written down. */
	readonly groups?: readonly GpuGroup[];
};

export type QueueGrant =
	/** Everything is there: it leaves the queue with its GPUs. */
	| {readonly kind: 'complete'; readonly plan: Plan; readonly gpus: readonly number[]}
	/** Something more, not all: it is held until the rest comes. */
	| {readonly kind: 'partial'; readonly plan: Plan; readonly gpus: readonly number[]}
	| {readonly kind: 'nothing'; readonly gpus: readonly number[]};

/** What the entry holds while it waits. */
export const holdingsOf = (snapshot: Snapshot, id: string): readonly Holding[] =>
	holdingsIn(snapshot.gpus).filter(({lease}) => lease.partialQueueId === id);

const indexesOf = (records: ReadonlyArray<Pick<GpuRecord, 'index'>>): readonly number[] =>
	records.map(({index}) => index).toSorted((a, b) => a - b);

const positionOf = (queue: Snapshot['queue'], {partialQueueId}: Lease): number =>
	queue.findIndex(({id}) => id === partialQueueId);

type Candidates = Pick<Offer, 'shared' | 'free' | 'heldByOthers'> & {readonly offers: ReadonlyMap<number, GpuOffer>};

/** GPUs of these groups that it could take. Of those that others hold while they wait, those of the last in the queue come first. */
function candidates(
	snapshot: Snapshot,
	position: number,
	{isUsable, readingOf}: QueueGrantOptions,
	{waiters: {groupsFor, gives}, wanted}: {readonly waiters: Waiters; readonly wanted: ReadonlySet<number>},
): Candidates {
	const {queue, gpus} = snapshot;
	const {entry} = queue[position] as EntryRecord;
	const claims = claimsOf(queue.slice(0, position), gpus.length, groupsFor);
	const allowed = gpus.filter(
		({index}) => wanted.has(index) && !claims.has(index) && !snapshot.drains.has(index) && isUsable(index),
	);
	const canTake = (lease: Lease): boolean => {
		const other = positionOf(queue, lease);
		const record = queue[other];
		return (
			lease.partialQueueId !== undefined &&
			record?.kind === 'entry' &&
			record.id !== entry.id &&
			(other > position || gives(lease))
		);
	};

	const share = shareLimitsOf(entry.need, snapshot);
	const offered = allowed
		// A share on a GPU of which it holds one already would be no second GPU.
		.filter((record) => holdingsOn(record).every(({lease}) => lease.partialQueueId !== entry.id))
		.map((record) =>
			offerOf(record, {share, canTake, reading: readingOf === undefined ? 'unseen' : readingOf(record.index)}),
		)
		.filter((answer) => answer.kind === 'offer');
	const lastOf = ({takes}: GpuOffer): number => Math.max(...takes.map(({lease}) => positionOf(queue, lease)));
	const heldByOthers = offered.filter(({takes}) => takes.length > 0).toSorted((a, b) => lastOf(b) - lastOf(a));
	return {
		offers: new Map(offered.map((offer) => [offer.record.index, offer])),
		shared: rankShares(offered).map(({index}) => index),
		free: offered.filter(({record}) => record.kind === 'free').map(({record}) => record.index),
		heldByOthers: heldByOthers.map(({record}) => record.index),
	};
}

type Wish = {
	readonly groups: readonly GpuGroup[];
	readonly count: number;
	/** What it holds already. */
	readonly held: GpuGroup;
	/** Whether it could be served by one group alone, even if all were in service. */
	readonly isOnlyGroup: boolean;
};

/**
What to take now: all that is missing of a group; else, where there is one group alone, what there is of that. An entry that could be served by
several groups waits for whichever is complete first, for what it held of one would be of no use in the other.
*/
function chosenOf(
	snapshot: Snapshot,
	{shared = [], free, heldByOthers}: Candidates,
	{groups, count, held, isOnlyGroup}: Wish,
	preference: Preference,
): {readonly kept: GpuGroup; readonly taken: GpuGroup; readonly isComplete: boolean} {
	const offers = groups.map((group): Offer => {
		const kept = held.filter((index) => group.includes(index));
		return {
			kept,
			shared: shared.filter((index) => group.includes(index)),
			free: free.filter((index) => group.includes(index)),
			heldByOthers: heldByOthers.filter((index) => group.includes(index)),
			count: Math.max(0, count - kept.length),
		};
	});
	const complete = chooseGpus(snapshot, offers, preference);
	if (complete !== undefined) {
		return {kept: complete.offer.kept, taken: complete.taken, isComplete: true};
	}

	const [offer] = offers;
	return offer === undefined || !isOnlyGroup
		? {kept: held, taken: [], isComplete: false}
		: {kept: offer.kept, taken: [...(offer.shared ?? []), ...offer.free, ...offer.heldByOthers], isComplete: false};
}

/** What the plan expects beside the GPUs that it changes. */
const expectationsOf = (snapshot: Snapshot, position: number): readonly Expectation[] => {
	const own = snapshot.queue[position] as EntryRecord;
	return [
		{kind: 'pool', gpuCount: snapshot.gpus.length},
		{kind: 'drains', raw: snapshot.stored.drains},
		policyExpectation(snapshot),
		{kind: 'queue', extent: 'prefix', ids: snapshot.queue.slice(0, position + 1).map(({id}) => id)},
		{kind: 'entry', id: own.id, raw: own.raw},
	];
};

/**
@param snapshot - Without the dead.
@param id - Of an entry in the queue.
*/
export function planQueueGrant(snapshot: Snapshot, id: string, options: QueueGrantOptions): QueueGrant {
	const position = snapshot.queue.findIndex((record) => record.id === id && record.kind === 'entry');
	if (position === -1) {
		return {kind: 'nothing', gpus: []};
	}

	const {entry} = snapshot.queue[position] as EntryRecord;
	const {lease, isAwake, outOfService, preference, groups: possible = groupsOf(entry, snapshot.gpus.length)} = options;
	const held = holdingsOf(snapshot, id);
	const groups = servableGroups(entry, snapshot.gpus, outOfService, possible);
	if (groups.length === 0) {
		return {kind: 'nothing', gpus: indexesOf(held)};
	}

	const waiters = waitersOf(snapshot, outOfService, isAwake);
	const offered = candidates(snapshot, position, options, {waiters, wanted: new Set(groups.flat())});
	const {
		kept,
		taken: takenIndexes,
		isComplete,
	} = chosenOf(
		snapshot,
		offered,
		{
			groups,
			count: wantedCountOf(entry),
			held: held.map(({index}) => index),
			isOnlyGroup: possible.length === 1,
		},
		{...preference, strategy: preference?.strategy ?? policyOf(snapshot).strategy},
	);
	const taken = takenIndexes.map((index) => offered.offers.get(index)!);
	const gpus = [...kept, ...takenIndexes].toSorted((a, b) => a - b);
	if (!isComplete && taken.length === 0) {
		return {kind: 'nothing', gpus: indexesOf(held)};
	}

	const context: AuditContext = {now: snapshot.now, host: options.host};
	// What it held of other groups is of no use any more.
	const unneeded = isComplete ? held.filter(({index}) => !kept.includes(index)) : [];
	const takeover = takeoverOf(
		[...taken.flatMap(({takes}) => takes), ...unneeded],
		(its) =>
			its.partialQueueId === id
				? 'queue-left'
				: snapshot.queue.findIndex((record) => record.id === its.partialQueueId) > position
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
		...(entry.need?.shareMiB !== undefined && {shared: true as const}),
	} as const;
	const fresh = {...lease, startTime: Math.floor(snapshot.now), lastHeartbeat: Math.floor(snapshot.now)};
	if (isComplete) {
		const changes = planHoldings([
			// A hold that began while waiting keeps its beginning: the GPU was not free since then.
			...held
				.filter(({index}) => kept.includes(index))
				.map((holding): HoldingChange => ({
					kind: 'change',
					holding,
					lease: {...fresh, startTime: holding.lease.startTime},
				})),
			...takeover.changes,
			...taken.map(({record, capacityMiB}): HoldingChange => ({kind: 'add', record, lease: fresh, capacityMiB})),
		]);
		return {
			kind: 'complete',
			gpus,
			plan: {
				expect: [...expectationsOf(snapshot, position), ...changes.expect],
				writes: [...changes.writes, {kind: 'leave', id}],
				usage: changes.usage,
				audit: [...takeover.audit, grantEntry(fresh, gpus, context, grant)],
				event,
				grants: true,
			},
		};
	}

	// No end and no limit yet: a partial holding lives with its entry.
	const partial: Lease = {...fresh, expiryTime: undefined, endsBy: undefined, partialQueueId: id};
	const changes = planHoldings([
		...takeover.changes,
		...taken.map(({record, capacityMiB}): HoldingChange => ({kind: 'add', record, lease: partial, capacityMiB})),
	]);
	return {
		kind: 'partial',
		gpus,
		plan: {
			expect: [...expectationsOf(snapshot, position), ...changes.expect],
			writes: [
				...changes.writes,
				// It can be served, by all that is known now.
				{kind: 'entry', entry: {...entry, allocatedGpus: gpus, unavailable: undefined}},
			],
			usage: changes.usage,
			audit: [
				...takeover.audit,
				grantEntry(partial, indexesOf(taken.map(({record}) => record)), context, {...grant, kind: 'held'}),
			],
			event,
			grants: true,
		},
	};
}

import type {EntryRecord, GpuGroup, GraceTimer, Lease, LeaseIdle, QueueEntry, Snapshot} from '../../model/types.js';
import {waitersOf} from '../grants/takeover.js';
import {gpusOf, isShare, type Holding} from '../leases/holdings.js';
import {timedEndOf} from '../leases/liveness.js';
import {ownerOf} from '../leases/ownership.js';
import {idleRulesOf, keptUntil} from '../policy/idle-rules.js';
import {groupsOf, wantedCountOf, wantsInstances} from '../queue/eligible.js';
import {outageFor, outagesNoted, type OutOfService} from '../queue/out-of-service.js';
import {holdingsOf} from '../queue/queue.js';

/** A manual reservation of whole GPUs, which may go back to the pool. */
export type Candidate = {
	readonly holdings: readonly Holding[];
	readonly lease: Lease;
	readonly idle: LeaseIdle | undefined;
	readonly hasIdle: boolean;
};

/** Returns the idle time common to all leases: from the latest start to the earliest end. The warning is dropped if the leases have different deadlines. */
function commonIdle(holdings: readonly Holding[]): LeaseIdle | undefined {
	const spans = holdings.map(({lease}) => lease.idle).filter((idle) => idle !== undefined);
	const [first] = spans;
	if (first === undefined || spans.length < holdings.length) {
		return undefined;
	}

	const since = Math.max(...spans.map((idle) => idle.since));
	const seen = Math.min(...spans.map((idle) => idle.seen));
	const {warned, deadline, remindedOf, timer} = first;
	const isAgreed = spans.every((idle) => idle.deadline === deadline);
	return isAgreed && deadline !== undefined
		? {since, seen, warned, deadline, remindedOf, ...(timer !== undefined && {timer})}
		: {since, seen};
}

/** Returns the reservations that may go back. Jobs, shares, leases without an id, and leases of waiting requests never go back. */
export function candidatesIn({gpus, now}: Pick<Snapshot, 'gpus' | 'now'>): readonly Candidate[] {
	const held = gpus.flatMap((record): readonly Holding[] => {
		if (record.kind !== 'leased') {
			return [];
		}

		const {index, raw, lease} = record;
		const isOver = (timedEndOf(lease) ?? Infinity) <= now;
		const isManual = lease.type === 'manual' && lease.partialQueueId === undefined && !isShare(lease);
		return isManual && lease.leaseId !== undefined && !isOver ? [{index, raw, lease}] : [];
	});
	const groups = Map.groupBy(held, ({lease}) => lease.leaseId);
	return Array.from(groups.values(), (holdings) => ({
		holdings,
		lease: holdings[0]!.lease,
		idle: commonIdle(holdings),
		hasIdle: holdings.some(({lease}) => lease.idle !== undefined),
	}));
}

/** The knowledge of an observer that needs no scan. */
export type Observer = {
	readonly host: string;
	/** Returns whether the process of a queue entry is neither stopped nor silent. Other entries cannot use GPUs that go back to the pool. */
	readonly isAnswering: (entry: QueueEntry) => boolean;
	/** The machine's monotonic clock, if known. */
	readonly timer?: GraceTimer | undefined;
};

type WaitingRequest = {
	readonly record: EntryRecord;
	readonly owner: string;
	/** The GPUs that the request could use, by group. */
	readonly groups: readonly GpuGroup[];
	/** Whether the request takes free GPUs even while others are still missing. With several groups, it waits until one group has all its GPUs. */
	readonly takesAny: boolean;
	readonly missing: number;
};

/** Returns the requests for whole GPUs or shares for which the queue keeps GPUs. Stopped requests and requests over a limit are not among them. */
export function waitersIn(
	snapshot: Snapshot,
	out: OutOfService,
	isAnswering: Observer['isAnswering'],
): readonly WaitingRequest[] {
	const {queue, gpus} = snapshot;
	const {groupsFor} = waitersOf(snapshot, out, isAnswering);
	return queue
		.filter((record) => record.kind === 'entry')
		.filter(({entry}) => !wantsInstances(entry))
		.map((record) => {
			const {entry} = record;
			const outageOf = outageFor(entry, gpus, out);
			const groups = groupsFor(entry).map((group) => group.filter((index) => outageOf(index) === undefined));
			const missing = wantedCountOf(entry) - holdingsOf(snapshot, entry.id).length;
			const takesAny = groupsOf(entry, gpus.length).length === 1;
			return {record, owner: ownerOf(entry), groups, takesAny, missing};
		});
}

/** A waiting request takes a usable GPU within this time after its release, so no request can use a GPU that has been free for longer. */
const takenWithinSeconds = 60;

/** Whether a release, or the start of a wait, was so recent that a waiting request may not have taken the GPUs yet. */
const isRecent = (time: number | undefined, {now}: Pick<Snapshot, 'now'>): boolean =>
	Math.abs(now - (time ?? -Infinity)) < takenWithinSeconds;

const freeGpus = ({gpus}: Pick<Snapshot, 'gpus'>) => gpus.filter((record) => record.kind === 'free');

const countIn = (group: GpuGroup, gpus: ReadonlySet<number>): number => group.filter((index) => gpus.has(index)).length;

const mostIn = (groups: readonly GpuGroup[], gpus: ReadonlySet<number>): number =>
	Math.max(0, ...groups.map((group) => countIn(group, gpus)));

/**
Returns the GPUs of `free` that a request can still take. A request that has left a free GPU untaken for a minute cannot use it, for example because the
GPU is in use without a reservation. But a request with several groups takes no GPU before one of the groups has enough.
*/
function takeable(
	{record, groups, takesAny, missing}: WaitingRequest,
	free: ReadonlySet<number>,
	snapshot: Snapshot,
): ReadonlySet<number> {
	const longFree = freeGpus(snapshot).filter(({lastReleased}) => !isRecent(lastReleased, snapshot));
	const untaken = isRecent(record.entry.enqueueTime, snapshot)
		? new Set<number>()
		: free.intersection(new Set(gpusOf(longFree)));
	return takesAny || mostIn(groups, untaken) >= missing ? free.difference(untaken) : free;
}

/** A reservation that can go back to the pool. */
type Offer = Pick<Candidate, 'holdings' | 'lease'>;

/** Returns the first offers that together have as many GPUs of the group as the request lacks, or fewer if there are not enough. */
function firstFor<Kind extends Offer>(offers: readonly Kind[], group: GpuGroup, lacking: number): readonly Kind[] {
	const chosen: Kind[] = [];
	let count = 0;
	for (const offer of offers) {
		const added = countIn(group, new Set(gpusOf(offer.holdings)));
		if (!(count < lacking && added > 0)) {
			continue;
		}

		chosen.push(offer);
		count += added;
	}

	return chosen;
}

type Use<Kind> = {
	/** The waiting request that could use a GPU of this offer, if all offers went back. */
	readonly wanted: ReadonlyMap<Kind, EntryRecord>;
	/** The waiting request for which this offer must go back, so that no more reservations end than necessary. */
	readonly needed: ReadonlyMap<Kind, EntryRecord>;
};

/**
Decides which offers the waiting requests can use. The first offers go back first, but not to their own account. A request that cannot be complete keeps
all GPUs of its groups from later requests, as in the queue. If it has several groups, it takes none of these GPUs.
*/
export function useOf<Kind extends Offer>(
	offers: readonly Kind[],
	waiting: readonly WaitingRequest[],
	snapshot: Snapshot,
): Use<Kind> {
	const wanted = new Map<Kind, EntryRecord>();
	const needed = new Map<Kind, EntryRecord>();
	const claimed = new Set<number>();
	let free: ReadonlySet<number> = new Set(gpusOf(freeGpus(snapshot)));
	for (const request of waiting) {
		const {record, owner, takesAny, missing} = request;
		const groups = request.groups.map((group) => group.filter((index) => !claimed.has(index)));
		const own = takeable({...request, groups}, free, snapshot);
		const others = offers.filter((offer) => ownerOf(offer.lease) !== owner);
		const unused = others.filter((offer) => !needed.has(offer));
		const ways = groups
			.map((group) => {
				const chosen = firstFor(unused, group, missing - countIn(group, own));
				const gpus = own.union(new Set(chosen.flatMap(({holdings}) => gpusOf(holdings))));
				return {group, chosen, gpus, isComplete: countIn(group, gpus) >= missing};
			})
			.filter(({isComplete}) => isComplete || takesAny)
			.toSorted((a, b) => a.chosen.length - b.chosen.length);
		for (const {group} of ways) {
			for (const offer of others) {
				if (!wanted.has(offer) && countIn(group, new Set(gpusOf(offer.holdings))) > 0) {
					wanted.set(offer, record);
				}
			}
		}

		const [way] = ways;
		for (const offer of way?.chosen ?? []) {
			needed.set(offer, record);
		}

		if (way?.isComplete === true) {
			const takes = way.group.filter((index) => way.gpus.has(index)).slice(0, Math.max(0, missing));
			free = free.union(way.gpus).difference(new Set(takes));
		} else {
			for (const index of groups.flat()) {
				claimed.add(index);
			}
		}
	}

	return {wanted, needed};
}

/** Whether a reservation may go back now and is not kept. If not, a waiting request need not scan to find idle GPUs. */
export const hasReclaimable = (snapshot: Snapshot, isAnswering: Observer['isAnswering']): boolean => {
	const rules = idleRulesOf(snapshot);
	if (rules === undefined) {
		return false;
	}

	const candidates = candidatesIn(snapshot).filter(({holdings}) =>
		holdings.every((holding) => keptUntil(holding.lease, snapshot) === undefined),
	);
	if (candidates.length === 0 || !rules.isOnlyWanted) {
		return candidates.length > 0;
	}

	const waiting = waitersIn(snapshot, outagesNoted(snapshot, snapshot.queue), isAnswering);
	return useOf(candidates, waiting, snapshot).wanted.size > 0;
};

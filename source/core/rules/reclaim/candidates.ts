import type {EntryRecord, GpuGroup, Lease, LeaseIdle, Snapshot} from '../../model/types.js';
import {waitersOf} from '../grants/takeover.js';
import {gpusOf, isShare, type Holding} from '../leases/holdings.js';
import {timedEndOf} from '../leases/liveness.js';
import {ownerOf} from '../leases/ownership.js';
import {idleRulesOf, keptUntil} from '../policy/idle-rules.js';
import {groupsOf, wantedCountOf, wantsInstances} from '../queue/eligible.js';
import {outageFor, outagesNoted} from '../queue/out-of-service.js';
import {holdingsOf} from '../queue/queue.js';
import type {Observer} from './sight.js';

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

type WaitingRequest = {
	readonly record: EntryRecord;
	readonly owner: string;
	/** The GPUs that the request could use, and the same GPUs by group. */
	readonly usable: ReadonlySet<number>;
	readonly groups: readonly GpuGroup[];
	/** Whether the request takes free GPUs even while others are still missing. With several groups, it waits until one group has all its GPUs. */
	readonly takesAny: boolean;
	readonly missing: number;
};

/** Returns the requests for whole GPUs or shares for which the queue keeps GPUs. Stopped requests and requests over a limit are not among them. */
export function waitersIn(snapshot: Snapshot, isAnswering: Observer['isAnswering']): readonly WaitingRequest[] {
	const {queue, gpus} = snapshot;
	const out = outagesNoted(snapshot, queue);
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
			return {record, owner: ownerOf(entry), usable: new Set(groups.flat()), groups, takesAny, missing};
		});
}

/** A waiting request takes a usable GPU within this time after its release, so no request can use a GPU that has been free for longer. */
const takenWithinSeconds = 60;

/** Whether a release, or the start of a wait, was so recent that a waiting request may not have taken the GPUs yet. */
export const isRecent = (time: number | undefined, {now}: Pick<Snapshot, 'now'>): boolean =>
	Math.abs(now - (time ?? -Infinity)) < takenWithinSeconds;

export const freeGpus = ({gpus}: Pick<Snapshot, 'gpus'>) => gpus.filter((record) => record.kind === 'free');

/** Returns the requests that still lack GPUs after all requests, in the order of the queue, have taken the GPUs in `free` that they can use. */
function lacking(waiting: readonly WaitingRequest[], free: readonly number[]): readonly WaitingRequest[] {
	const left = new Set(free);
	return waiting.filter(({groups, usable, missing}) => {
		const own = [...left.intersection(usable)];
		const served = groups
			.map((group) => own.filter((index) => group.includes(index)))
			.find((found) => found.length >= missing);
		for (const index of served?.slice(0, Math.max(0, missing)) ?? own) {
			left.delete(index);
		}

		return served === undefined;
	});
}

export type Demand = {
	/** Returns the first waiting request of another account that could use a GPU of this reservation. */
	readonly wantedBy: (candidate: Candidate) => EntryRecord | undefined;
	/**
	Works like `wantedBy`, but only for a request that still lacks GPUs. The GPUs of this reservation then count as
	free, so that no more reservations end than necessary.
	*/
	readonly takenFor: (candidate: Candidate) => EntryRecord | undefined;
};

export function demandIn(snapshot: Snapshot, isAnswering: Observer['isAnswering']): Demand {
	const waiting = waitersIn(snapshot, isAnswering);
	const free = freeGpus(snapshot)
		.filter(({lastReleased}) => isRecent(lastReleased, snapshot))
		.map(({index}) => index);
	const firstOf = (among: readonly WaitingRequest[], {holdings, lease}: Candidate): EntryRecord | undefined =>
		among.find(({owner, usable}) => owner !== ownerOf(lease) && holdings.some(({index}) => usable.has(index)))?.record;
	return {
		wantedBy: (candidate) => firstOf(waiting, candidate),
		takenFor(candidate) {
			const request = firstOf(lacking(waiting, free), candidate);
			if (request !== undefined) {
				free.push(...gpusOf(candidate.holdings));
			}

			return request;
		},
	};
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

	const {wantedBy} = demandIn(snapshot, isAnswering);
	return candidates.some((candidate) => wantedBy(candidate) !== undefined);
};

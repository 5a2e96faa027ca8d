/** Estimates when queue entries are served, based on the ends of reservations and the time limits of jobs. The ends of other jobs are unknown. */
import {latestEndOf, silentSecondsOf} from '../leases/liveness.js';
import {holdingsIn, holdingsOn} from '../leases/holdings.js';
import {beyondLimitOf, type BeyondLimit} from '../limits/slack.js';
import {warningOf, type Warning} from '../policy/idle-rules.js';
import {policyValue} from '../policy/policy.js';
import {isSameLease} from '../leases/ownership.js';
import {
	latestTime,
	type EligibleInstance,
	type GpuRecord,
	type Lease,
	type QueueEntry,
	type Snapshot,
} from '../../model/types.js';
import {gpusOf} from '../allocation/need.js';
import {isOfAgent} from '../leases/via.js';
import {eligibleInstancesOf, wantedCountOf, wantsInstances} from './eligible.js';
import {accountLimitsSeen} from './account-limits.js';
import {outageFor, outagesNoted, servableGroups} from './out-of-service.js';

export type Blocker = {
	/** The indices of the GPUs that the entry could get after this blocker. */
	readonly gpus: readonly number[];
	/** Store time at which these GPUs are free at the latest. Undefined if unknown. */
	readonly until: number | undefined;
} &
	/**
	`warning`: the reservation is idle, and may go back before its end. `beyondLimit`: the reservation may go back
	because its account exceeds its limit.
	*/
	(
		| {
				readonly kind: 'lease';
				readonly lease: Lease;
				readonly warning?: Warning | undefined;
				readonly beyondLimit?: BeyondLimit | undefined;
		  }
		/** An earlier entry that is expected to get these GPUs first. */
		| {readonly kind: 'waiter'; readonly entry: QueueEntry; readonly position: number}
		/** The reason given by an engine that keeps the queue, such as Slurm. */
		| {readonly kind: 'engine'; readonly reason: string}
	);

type Occupant = Omit<Extract<Blocker, {kind: 'lease'}>, 'gpus'> | Omit<Extract<Blocker, {kind: 'waiter'}>, 'gpus'>;

type Future = {
	readonly index: number;
	readonly uuid?: string;
	/** Store time at which the GPU is free for the next queue entry, at the latest. `Infinity` if unknown. */
	readonly freeAt: number;
	readonly holders: readonly Occupant[];
	/** Set if nobody holds the GPU now. */
	readonly isUnheld?: true | undefined;
	/** The last of the earlier entries that are expected to get the GPU. */
	readonly waiter?: Occupant;
	/** Store time until which the GPU is kept for an earlier entry, even if that entry may get another GPU. */
	readonly keptUntil?: number;
	/** The capacity of a shared GPU, and when each part becomes free. */
	readonly sharing?: {
		readonly capacityMiB: number;
		readonly parts: ReadonlyArray<{readonly memoryMiB: number; readonly until: number}>;
	};
};

type SharingNow = {readonly now: number; readonly mostShares: number};

function freeAtFor(
	{need}: QueueEntry,
	{freeAt, sharing, keptUntil = 0}: Future,
	{now, mostShares}: SharingNow,
): number {
	if (need?.shareMiB === undefined || sharing === undefined) {
		return freeAt;
	}

	let roomMiB = sharing.capacityMiB - sharing.parts.reduce((sum, {memoryMiB}) => sum + memoryMiB, 0);
	let shares = sharing.parts.length;
	const hasRoom = (): boolean => roomMiB >= need.shareMiB! && shares < mostShares;
	let at = Math.max(now, keptUntil);
	for (const {memoryMiB, until} of sharing.parts.toSorted((a, b) => a.until - b.until)) {
		if (hasRoom()) {
			break;
		}

		roomMiB += memoryMiB;
		shares--;
		at = Math.max(at, until);
	}

	return hasRoom() ? at : freeAt;
}

/** Returns the forecast for a GPU after a grant to an entry. The grant is the whole GPU or a share of it. */
function futureWith({need}: QueueEntry, future: Future, waiter: Occupant): Future {
	const {index, uuid, holders, sharing} = future;
	const until = waiter.until ?? Infinity;
	if (need?.shareMiB === undefined || sharing === undefined) {
		return {index, uuid, freeAt: until, holders, waiter};
	}

	const parts = [...sharing.parts, {memoryMiB: need.shareMiB, until}];
	return {...future, freeAt: Math.max(future.freeAt, until), waiter, sharing: {...sharing, parts}};
}

function occupantOf(lease: Lease, snapshot: Snapshot): Occupant {
	const end = latestEndOf(lease);
	const warning = warningOf(lease, snapshot);
	const beyondLimit = beyondLimitOf(lease, snapshot);
	return {
		kind: 'lease',
		lease,
		until: end === undefined ? undefined : Math.max(snapshot.now, end),
		...(warning !== undefined && {warning}),
		...(beyondLimit !== undefined && {beyondLimit}),
	};
}

const futuresOfAgents = (snapshot: Snapshot): readonly Future[] =>
	holdingsIn(snapshot.gpus)
		.filter(({lease}) => isOfAgent(lease) && lease.partialQueueId === undefined)
		.map(({index, lease}) => ({index, freeAt: Infinity, holders: [occupantOf(lease, snapshot)]}));

/** Returns the forecast for a GPU, or for one MIG instance of it, before any queue entry is served. */
function futureOf(record: GpuRecord, snapshot: Snapshot, instance?: EligibleInstance): Future {
	const {now, drains} = snapshot;
	const part = {index: record.index, uuid: instance?.uuid};
	// Most waiting requests take a usable GPU at once. So a GPU that is still free is broken or used without a reservation, for an unknown time.
	const leases = holdingsOn(record)
		.map(({lease}) => lease)
		.filter(({mig}) => instance === undefined || mig === undefined || mig.uuid === instance.uuid);
	const isSplit = instance === undefined && leases.some(({mig}) => mig !== undefined);
	if (leases.length === 0 || isSplit) {
		return {...part, freeAt: Infinity, holders: [], ...(leases.length === 0 && {isUnheld: true})};
	}

	const occupant = (lease: Lease): Occupant => occupantOf(lease, snapshot);
	if (drains.has(record.index)) {
		return {...part, freeAt: Infinity, holders: leases.map((lease) => occupant(lease))};
	}

	// GPUs that waiting requests hold are available to the queue, so these requests do not count as holders.
	const holders = leases.filter(({partialQueueId}) => partialQueueId === undefined).map((lease) => occupant(lease));
	const freeAt = Math.max(now, ...holders.map(({until = Infinity}) => until));
	const parts = leases.map((lease) => ({
		memoryMiB: lease.memoryMiB ?? 0,
		until: lease.partialQueueId === undefined ? (occupant(lease).until ?? Infinity) : now,
	}));
	return instance === undefined && record.kind === 'shared' && record.capacityMiB !== undefined
		? {...part, freeAt, holders, sharing: {capacityMiB: record.capacityMiB, parts}}
		: {...part, freeAt, holders};
}

const holdSeconds = ({expirySeconds, timeLimitSeconds}: QueueEntry): number =>
	expirySeconds ?? timeLimitSeconds ?? Infinity;

type Wait = {
	readonly seconds: number | undefined;
	readonly blockers: () => readonly Blocker[];
};

const isSameOccupant = (one: Occupant, other: Occupant): boolean =>
	one.until === other.until &&
	(one.kind === 'lease'
		? other.kind === 'lease' && isSameLease(one.lease, other.lease)
		: other.kind === 'waiter' && one.entry.id === other.entry.id);

function blockersOf(futures: readonly Future[]): readonly Blocker[] {
	const found: Array<Occupant & {readonly gpus: number[]}> = [];
	for (const {index, holders, waiter} of futures) {
		for (const occupant of [...holders, ...(waiter === undefined ? [] : [waiter])]) {
			const known = found.find((one) => isSameOccupant(one, occupant));
			if (known === undefined) {
				found.push({...occupant, gpus: [index]});
			} else if (!known.gpus.includes(index)) {
				known.gpus.push(index);
			}
		}
	}

	const timeOf = ({until = Infinity}: Occupant): number => until;
	return found.toSorted((a, b) => (timeOf(a) === timeOf(b) ? a.gpus[0]! - b.gpus[0]! : timeOf(a) - timeOf(b)));
}

function createFutures(snapshot: Snapshot) {
	const {gpus} = snapshot;
	const ofGpus = gpus.map((record) => futureOf(record, snapshot));
	const ofInstances = new Map<string, Future>();
	return {
		ofGroup: (entry: QueueEntry, group: readonly number[]): readonly Future[] =>
			wantsInstances(entry)
				? eligibleInstancesOf(entry, gpus.length)
						.filter(({gpu}) => group.includes(gpu))
						.map((instance) => ofInstances.get(instance.uuid) ?? futureOf(gpus[instance.gpu]!, snapshot, instance))
				: group.map((index) => ofGpus[index]!),
		/** Returns the forecasts for the GPUs that earlier requests of agents are expected to get. Omits the GPUs' current holders. */
		keptForAgents: (): readonly Future[] =>
			[...ofGpus, ...ofInstances.values()]
				.filter(({waiter}) => waiter?.kind === 'waiter' && isOfAgent(waiter.entry))
				.map((future) => ({...future, holders: []})),
		set(future: Future): void {
			if (future.uuid === undefined) {
				ofGpus[future.index] = future;
			} else {
				ofInstances.set(future.uuid, future);
			}
		},
	};
}

/**
Simulates the queue as if every lease ended as late as possible. Omits unreadable entries, and entries that wait
because of outages or the limit of their account.
*/
export function foreseeWaits(snapshot: Snapshot): ReadonlyMap<string, Wait> {
	const {gpus, queue, now} = snapshot;
	const futures = createFutures(snapshot);
	const mostShares = policyValue(snapshot, 'share.max');
	const out = outagesNoted(snapshot, queue);
	const {overLimitOf, agentLimitOf} = accountLimitsSeen(snapshot);
	const waits = new Map<string, Wait>();
	for (const [position, record] of queue.entries()) {
		// An entry blocks no other entries while it waits because of GPUs out of service or its account's limit.
		const groups = record.kind === 'entry' ? servableGroups(record.entry, gpus, out) : [];
		if (record.kind !== 'entry' || groups.length === 0 || overLimitOf(record.entry) !== undefined) {
			continue;
		}

		const {entry} = record;
		if (agentLimitOf(entry) !== undefined) {
			// Other agents must first release GPUs or get the GPUs for which they wait. No GPU is kept for this entry.
			const decisive = [...futuresOfAgents(snapshot), ...futures.keptForAgents()];
			waits.set(record.id, {seconds: undefined, blockers: () => blockersOf(decisive)});
			continue;
		}

		const outageOf = outageFor(entry, gpus, out);
		// An entry that can be served by several groups takes no GPU before one of the groups is complete, so GPUs can be left for it.
		const isLeft = ({isUnheld, index, uuid}: Future): boolean =>
			isUnheld === true && groups.length > 1 && outageOf(index, uuid) === undefined;
		const freeAtOf = (future: Future): number => (isLeft(future) ? now : freeAtFor(entry, future, {now, mostShares}));
		// In each group, the entry would take the GPUs that become free first. It takes the group that is complete first.
		const [first] = groups
			.map((group) => {
				const wanted = futures
					.ofGroup(entry, group)
					.toSorted((a, b) => {
						const [one, other] = [freeAtOf(a), freeAtOf(b)];
						return one === other ? a.index - b.index : one - other;
					})
					.slice(0, wantedCountOf(entry));
				return {wanted, served: Math.max(...wanted.map((future) => freeAtOf(future)))};
			})
			.toSorted((a, b) => (a.served === b.served ? 0 : a.served - b.served));
		const {wanted, served} = first!;
		const until = served + holdSeconds(entry);
		const waiter: Occupant = {
			kind: 'waiter',
			entry,
			position: position + 1,
			// Times in the entry of another program can be invalid.
			until: until <= latestTime ? until : undefined,
		};
		// Lists every GPU of the groups that is not free yet. If the lease of such a GPU ends earlier than assumed, the entry is served earlier.
		const decisive = futures
			.ofGroup(entry, gpusOf(groups))
			.filter((future) => freeAtOf(future) > now && outageOf(future.index, future.uuid) === undefined);
		waits.set(record.id, {
			seconds: Number.isFinite(served) ? served - now : undefined,
			blockers: () => blockersOf(decisive),
		});
		// While the entry sends no heartbeats, later entries are served first.
		if (silentSecondsOf(entry, snapshot) !== undefined) {
			continue;
		}

		for (const future of wanted) {
			futures.set(futureWith(entry, future, waiter));
		}

		// Until the entry is served, all other GPUs that it could get are kept for that entry.
		const release: Occupant = {...waiter, until: Number.isFinite(served) ? served : undefined};
		for (const future of futures.ofGroup(entry, gpusOf(groups))) {
			if (future.freeAt < served || (isLeft(future) && now < served)) {
				futures.set({...future, isUnheld: undefined, freeAt: served, keptUntil: served, waiter: release});
			}
		}
	}

	return waits;
}

/** Returns seconds until each entry is served, by entry id. Omits entries without an estimate. */
export const estimateWaits = (snapshot: Snapshot): ReadonlyMap<string, number> =>
	new Map(
		[...foreseeWaits(snapshot)].flatMap(([id, {seconds}]) => (seconds === undefined ? [] : [[id, seconds] as const])),
	);

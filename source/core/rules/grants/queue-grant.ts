/**
Plans grants for queue entries. An entry gets no GPU that an earlier entry could use. A grant takes over GPUs of
later or stopped entries in one commit.
*/
import {
	additionOf,
	grantedParts,
	planHoldings,
	type Addition,
	type GrantedParts,
	type HoldingChange,
} from '../leases/holding-changes.js';
import {gpusOf, holdingsOn, type Holding} from '../leases/holdings.js';
import {poolExpectations, type Expectation, type Plan} from '../../model/plan.js';
import {candidateGroupsOf, chooseGpus, type Preference} from '../allocation/choose.js';
import {candidateOf, roomFor} from '../allocation/gpu-candidate.js';
import {shareLimitsOf} from '../allocation/share-policy.js';
import {agentExpectations} from '../policy/agents.js';
import {policyExpectations, policyValue} from '../policy/policy.js';
import {beyondLimit, grantEntry, type AuditContext} from '../leases/audit-entries.js';
import type {EntryRecord, GpuGroup, GpuReading, InstanceOfGpu, Lease, QueueEntry, Snapshot} from '../../model/types.js';
import {isPartOfGpu} from '../request/request.js';
import {chooseInstances, instanceCandidateOf} from '../allocation/instances.js';
import {claimsOf, holdingsOf, instanceClaimsOf} from '../queue/queue.js';
import {eligibleInstancesOf, groupsOf, wantedCountOf, wantsInstances} from '../queue/eligible.js';
import {outageFor, servableGroups, type OutOfService} from '../queue/out-of-service.js';
import {limitExpectations, type Limit} from '../limits/limits.js';
import {ownerOf} from '../leases/ownership.js';
import type {AgentLimit, OverLimit} from '../queue/account-limits.js';
import {distinct, takeoverOf, waitersOf, type Waiters} from './takeover.js';

type QueueGrantOptions = {
	readonly lease: Lease;
	readonly isUsable: (index: number) => boolean;
	/** Returns the reading of a GPU, for shares. Absent without a scan. */
	readonly readingOf?: (index: number) => GpuReading | undefined;
	readonly outOfService: OutOfService;
	readonly isAnswering: (entry: QueueEntry) => boolean;
	readonly host: string;
	readonly limit?: Limit | undefined;
	readonly force?: boolean;
	/** Order of the free GPUs. Defaults to the strategy of the policy. */
	readonly preference?: Preference;
	/** GPU groups and MIG instances that can serve the entry. By default, the groups and instances stored in the entry. */
	readonly groups?: readonly GpuGroup[];
	readonly instances?: readonly InstanceOfGpu[] | undefined;
	readonly isUsableInstance?: (instance: InstanceOfGpu) => boolean;
};

export type QueueGrant =
	| (GrantedParts & {readonly kind: 'complete'; readonly plan: Plan; readonly isBeyondLimit?: true})
	/** The entry gets some of its GPUs and holds them until the rest is available. */
	| {readonly kind: 'partial'; readonly plan: Plan; readonly gpus: readonly number[]}
	| {
			readonly kind: 'nothing';
			readonly gpus: readonly number[];
			readonly overLimit?: OverLimit | undefined;
			readonly agentLimit?: AgentLimit | undefined;
	  };

const positionOf = (queue: Snapshot['queue'], {partialQueueId}: Lease): number =>
	queue.findIndex(({id}) => id === partialQueueId);

const takingRule =
	({queue}: Snapshot, position: number, {gives}: Waiters) =>
	(lease: Lease): boolean => {
		const other = positionOf(queue, lease);
		const record = queue[other];
		return (
			lease.partialQueueId !== undefined &&
			record?.kind === 'entry' &&
			other !== position &&
			(other > position || gives(lease))
		);
	};

const lastInQueueFirst = ({queue}: Snapshot) => {
	const lastOf = ({takes}: Pick<Taken, 'takes'>): number =>
		Math.max(-1, ...takes.map(({lease}) => positionOf(queue, lease)));
	return (a: Pick<Taken, 'takes'>, b: Pick<Taken, 'takes'>): number => lastOf(b) - lastOf(a);
};

/** Returns the preconditions of a grant. A grant beyond a limit expects the whole queue, because it depends on all entries. */
const expectationsOf = (snapshot: Snapshot, position: number, isBeyondLimit: boolean): readonly Expectation[] => {
	const own = snapshot.queue[position] as EntryRecord;
	const ids = snapshot.queue.map(({id}) => id);
	return [
		...poolExpectations(snapshot),
		{kind: 'drains', raw: snapshot.stored.drains},
		...policyExpectations(snapshot),
		...agentExpectations(snapshot, own.entry),
		isBeyondLimit
			? {kind: 'queue', scope: 'whole', ids}
			: {kind: 'queue', scope: 'prefix', ids: ids.slice(0, position + 1)},
		{kind: 'entry', id: own.id, raw: own.raw},
	];
};

type Taken = Addition & {readonly takes: readonly Holding[]};

type Chosen = {
	readonly kept: readonly Holding[];
	readonly taken: readonly Taken[];
	readonly isComplete: boolean;
};

type Circumstances = {
	readonly position: number;
	readonly held: readonly Holding[];
	readonly groups: readonly GpuGroup[];
	/** Whether only one group could serve the entry, even with all GPUs in service. */
	readonly isOnlyGroup: boolean;
	readonly waiters: Waiters;
	readonly groupsFor: Waiters['groupsFor'];
};

/**
Chooses GPUs for an entry that accepts GPUs of one or more groups. If there is one group, the entry takes free GPUs
even while others are still missing. If there are several groups, the entry waits until one group has all the GPUs, because the entry could otherwise
hold GPUs of the wrong group.
*/
function chooseForGpus(
	snapshot: Snapshot,
	{isUsable, readingOf, preference}: QueueGrantOptions,
	{position, held: working, groups, isOnlyGroup, waiters, groupsFor}: Circumstances,
): Chosen {
	const {queue, gpus, drains} = snapshot;
	const {entry} = queue[position] as EntryRecord;
	const canTake = takingRule(snapshot, position, waiters);
	const share = shareLimitsOf(entry.need, snapshot);
	const readingAt = (index: number) => (readingOf === undefined ? 'unseen' : readingOf(index));
	// A process without a reservation can have used up the memory of a share that the entry already holds.
	const held =
		share === undefined
			? working
			: working.filter(({index}) => {
					const others = holdingsOn(gpus[index]).map(({lease}) => lease);
					const staying = others.filter((lease) => lease.partialQueueId !== entry.id && !canTake(lease));
					return roomFor(gpus[index]!, staying, share, readingAt(index)).kind === 'room';
				});
	const wanted = new Set(groups.flat());
	const claims = claimsOf(queue.slice(0, position), gpus.length, groupsFor);
	const candidates = gpus
		.filter(({index}) => wanted.has(index) && !claims.has(index) && !drains.has(index) && isUsable(index))
		// The entry needs shares on different GPUs, so it gets no second share on the same GPU.
		.filter((record) => holdingsOn(record).every(({lease}) => lease.partialQueueId !== entry.id))
		.map((record) => candidateOf(record, {share, canTake, reading: readingAt(record.index)}))
		.filter((answer) => answer.kind === 'candidate')
		.toSorted(lastInQueueFirst(snapshot));
	const candidateGroups = candidateGroupsOf(groups, candidates, {
		count: wantedCountOf(entry),
		held: held.map(({index}) => index),
	});
	const complete = chooseGpus(snapshot, candidateGroups, {
		...preference,
		strategy: preference?.strategy ?? policyValue(snapshot, 'strategy'),
	});
	const [first] = isOnlyGroup ? candidateGroups : [];
	const keptGpus = complete?.group.kept ?? first?.kept;
	const taken = complete?.taken ?? (first === undefined ? [] : [...first.shared, ...first.free, ...first.heldByOthers]);
	return {
		kept: held.filter(({index}) => keptGpus?.includes(index) ?? true),
		taken: taken.map((index) => candidates.find(({record}) => record.index === index)!),
		isComplete: complete !== undefined,
	};
}

/** Chooses from the available MIG instances. Instances held by other waiting requests come last, starting with the last request in the queue. */
function chooseForInstances(
	snapshot: Snapshot,
	{isUsable, isUsableInstance = () => true, instances}: QueueGrantOptions,
	{position, held, waiters, groupsFor}: Circumstances,
): Chosen {
	const {queue, gpus, drains} = snapshot;
	const {entry} = queue[position] as EntryRecord;
	const eligible: readonly InstanceOfGpu[] = instances ?? eligibleInstancesOf(entry, gpus.length);
	const isEligible = (uuid: string | undefined): boolean => eligible.some((instance) => instance.uuid === uuid);
	const kept = held.filter(({lease}) => isEligible(lease.mig?.uuid)).slice(0, wantedCountOf(entry));
	const claims = instanceClaimsOf(queue.slice(0, position), gpus.length, groupsFor);
	const canTake = takingRule(snapshot, position, waiters);
	const candidateInstances = eligible
		.filter(
			({gpu, uuid}) =>
				!claims.has(uuid) && !drains.has(gpu) && kept.every(({lease}) => lease.mig?.uuid !== uuid) && isUsable(gpu),
		)
		.filter((instance) => isUsableInstance(instance))
		.map((instance) => instanceCandidateOf(gpus[instance.gpu]!, instance, canTake))
		.filter((candidate) => candidate.kind === 'candidate')
		.toSorted(lastInQueueFirst(snapshot));
	const missing = wantedCountOf(entry) - kept.length;
	const taken = chooseInstances(gpus, candidateInstances, missing);
	return {kept, taken, isComplete: taken.length === missing};
}

/** Plans what the entry with this id can get now. `snapshot` must contain no expired leases. */
export function planQueueGrant(snapshot: Snapshot, id: string, options: QueueGrantOptions): QueueGrant {
	const position = snapshot.queue.findIndex((record) => record.id === id && record.kind === 'entry');
	if (position === -1) {
		return {kind: 'nothing', gpus: []};
	}

	const {entry} = snapshot.queue[position] as EntryRecord;
	const {lease, isAnswering, outOfService, limit, groups: possible = groupsOf(entry, snapshot.gpus.length)} = options;
	const held = holdingsOf(snapshot, id);
	const groups = servableGroups(entry, snapshot.gpus, outOfService, possible);
	if (groups.length === 0) {
		return {kind: 'nothing', gpus: gpusOf(held)};
	}

	const waiters = waitersOf(snapshot, outOfService, isAnswering, {account: ownerOf(lease), limit, via: lease.via});
	const overLimit = waiters.limits.overLimitOf(entry);
	const agentLimit = waiters.limits.agentLimitOf(entry);
	const isBeyondLimit = overLimit !== undefined;
	if (agentLimit !== undefined || (isBeyondLimit && !waiters.limits.mayExceed(entry))) {
		return {kind: 'nothing', gpus: gpusOf(held), overLimit, agentLimit};
	}

	const choose = wantsInstances(entry) ? chooseForInstances : chooseForGpus;
	const outageOf = outageFor(entry, snapshot.gpus, outOfService);
	const {isUsable, isUsableInstance = () => true} = options;
	const {kept, taken, isComplete} = choose(snapshot, options, {
		position,
		// The entry cannot use held GPUs that are out of service, so it needs others instead.
		held: held.filter(
			({index, lease: {mig}}) =>
				outageOf(index, mig?.uuid) === undefined &&
				isUsable(index) &&
				(mig === undefined || isUsableInstance({gpu: index, ...mig})),
		),
		groups,
		// Beyond its limit, the entry gets all its GPUs at once, and holds none while it waits for more.
		isOnlyGroup: possible.length === 1 && !isBeyondLimit,
		waiters,
		groupsFor: isBeyondLimit ? waiters.groupsBeyondLimit : waiters.groupsFor,
	});
	if (!isComplete && (isBeyondLimit || taken.length === 0)) {
		return {kind: 'nothing', gpus: gpusOf(held), overLimit};
	}

	const {gpus, instances} = grantedParts([
		...kept.map(({index, lease: {mig}}) => ({
			record: snapshot.gpus[index]!,
			...(mig !== undefined && {instance: {gpu: index, ...mig}}),
		})),
		...taken,
	]);
	const context: AuditContext = {now: snapshot.now, host: options.host};
	const unneeded = held.filter((holding) => !kept.includes(holding));
	const takeover = takeoverOf(
		distinct([
			...taken.flatMap(({takes}) => takes),
			...unneeded,
			// GPUs that the entry itself holds are either kept or unneeded.
			...waiters.limits
				.surplus(isBeyondLimit ? wantedCountOf(entry) : 0)
				.filter(({lease: {partialQueueId}}) => partialQueueId !== id),
		]),
		(its) =>
			its.partialQueueId === id
				? 'queue-left'
				: snapshot.queue.findIndex((record) => record.id === its.partialQueueId) > position
					? 'taken-by-earlier'
					: waiters.reasonToGive(its),
		context,
	);
	const grant = {entryId: id, forced: options.force, ...(isBeyondLimit && {reason: beyondLimit})};
	const limitsFor = ({expect}: Pick<Plan, 'expect'>) => limitExpectations(snapshot.gpus, limit, expect);
	const event = {
		kind: isComplete ? 'granted' : 'queue',
		gpus,
		user: lease.actualUser ?? lease.user,
		left: isComplete ? [id] : undefined,
		...(isPartOfGpu(entry.need) && {shared: true as const}),
	} as const;
	const now = Math.floor(snapshot.now);
	// The lease of a running process, such as an adopted one, gets no heartbeats.
	const isKept = lease.job !== undefined && lease.holder === undefined;
	const fresh: Lease = {
		...lease,
		startTime: now,
		lastHeartbeat: isKept ? undefined : now,
		...(isBeyondLimit && {slack: {groups: entry.groups}}),
	};
	if (isComplete) {
		const changes = planHoldings([
			// GPUs that the entry already held keep their start time, because they have not been free since.
			...kept.map((holding): HoldingChange => ({
				kind: 'change',
				holding,
				lease: {...fresh, startTime: holding.lease.startTime, mig: holding.lease.mig},
			})),
			...takeover.changes,
			...taken.map((part): HoldingChange => additionOf(part, fresh)),
		]);
		return {
			kind: 'complete',
			gpus,
			instances,
			...(isBeyondLimit && {isBeyondLimit}),
			plan: {
				expect: [...expectationsOf(snapshot, position, isBeyondLimit), ...limitsFor(changes), ...changes.expect],
				writes: [...changes.writes, {kind: 'leave', id}],
				usage: changes.usage,
				audit: [...takeover.audit, grantEntry(fresh, gpus, context, {...grant, instances})],
				event,
				grants: true,
			},
		};
	}

	// GPUs held by a waiting entry are kept as long as the entry exists, so these leases have no end time and no time limit yet.
	const partial: Lease = {...fresh, expiryTime: undefined, endsBy: undefined, partialQueueId: id};
	const more = grantedParts(taken);
	const changes = planHoldings([...takeover.changes, ...taken.map((part): HoldingChange => additionOf(part, partial))]);
	return {
		kind: 'partial',
		gpus,
		plan: {
			expect: [...expectationsOf(snapshot, position, false), ...limitsFor(changes), ...changes.expect],
			writes: [
				...changes.writes,
				// The entry can be served, as far as is known, so its note about unavailable GPUs is removed.
				{kind: 'entry', entry: {...entry, allocatedGpus: gpus, unavailable: undefined}},
			],
			usage: changes.usage,
			audit: [
				...takeover.audit,
				grantEntry(partial, more.gpus, context, {...grant, kind: 'held', instances: more.instances}),
			],
			event,
			grants: true,
		},
	};
}

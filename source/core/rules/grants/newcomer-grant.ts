/** Who gets which GPU: (snapshot, observation, request) -> Plan, or a refusal that carries its reasons. */
import {
	additionOf,
	grantedParts,
	planHoldings,
	type Addition,
	type GrantedParts,
	type HoldingChange,
} from '../leases/holding-changes.js';
import {outagesSeen} from '../queue/out-of-service.js';
import {ownerOf} from '../leases/ownership.js';
import type {Plan} from '../../model/plan.js';
import {claimsOf, instanceClaimsOf} from '../queue/queue.js';
import {instanceText} from '../mig/instances.js';
import {chooseInstances, instanceCandidateOf, type InstanceCandidate} from '../allocation/instances.js';
import type {Holding} from '../leases/holdings.js';
import {grantEntry, type GrantOptions, type AuditContext} from '../leases/audit-entries.js';
import type {
	GpuLinks,
	GpuRecord,
	InstanceOfGpu,
	Lease,
	Observation,
	QueueEntry,
	Snapshot,
	Drain,
} from '../../model/types.js';
import {policyExpectation, policyValue} from '../policy/policy.js';
import {isPartOfGpu, type Wanted} from '../request/request.js';
import {cleanRuleOf, type CleanRule} from '../usage/cleanliness.js';
import {gpusOf, readingsByIndex, type Eligibility, type Quality} from '../allocation/need.js';
import {candidateOf, type GpuCandidate, type GpuBlock} from '../allocation/gpu-candidate.js';
import {candidateGroupsOf, chooseGpus} from '../allocation/choose.js';
import {shareLimitsOf} from '../allocation/share-policy.js';
import type {StrategyName} from '../../model/need.js';
import {usageBlockFor, usageBlockOfInstance, type UsageBlock} from '../usage/usage-block.js';
import {takeoverOf, waitersOf, type Waiters} from './takeover.js';

/** Why a GPU cannot be handed out now. */
export type Block =
	| UsageBlock
	| GpuBlock
	/** Out of service: not even by force. */
	| {readonly kind: 'drained'; readonly drain: Drain}
	/** Kept for somebody who waits. */
	| {readonly kind: 'queued'; readonly entry: QueueEntry}
	/** Whether it has what is needed is unknown. */
	| {readonly kind: 'unknown-quality'; readonly quality: Quality};

/** `instance`: of the GPU, this one, such as `0:1`. Absent: the GPU itself. */
type BlockedGpu = {readonly index: number; readonly instance?: string; readonly block: Block};

export type UnusableGpu = {readonly index: number; readonly instance?: string; readonly block: UsageBlock};

/** Not enough GPUs now. Counts for people, reasons for each GPU that was considered and not free. */
export type Refusal = {
	readonly kind: 'refused';
	readonly wanted: Wanted;
	/** How many of those considered are free. */
	readonly available: number;
	readonly blocked: readonly BlockedGpu[];
	/** The store's clock, to say how long others still hold theirs. */
	readonly now: number;
};

export type Allocation = GrantedParts & {readonly kind: 'allocated'; readonly plan: Plan};

type AllocationRequest = {
	readonly wanted: Wanted;
	/** Which GPUs can serve it, by the same scan: see need.ts. */
	readonly eligibility: Eligibility;
	/** The lease that each GPU gets. */
	readonly lease: Lease;
	/**
	Hands out GPUs in spite of unreserved use, unknown readings and failures. Never somebody's lease or position in the queue, nor what an
	administrator took out of service.
	*/
	readonly force: boolean;
	readonly memoryThresholdMiB: number;
	/** Which of the free GPUs are taken. Absent: as the policy says. */
	readonly strategy?: StrategyName;
	/** How the GPUs are linked. Undefined: unknown, or of no account. */
	readonly links?: GpuLinks;
	readonly isAnswering: (entry: QueueEntry) => boolean;
	/** What the audit log says of the grant. */
	readonly grant: Omit<AuditContext, 'now'> & Pick<GrantOptions, 'forced' | 'reason'>;
};

/** What is known of the pool beside the request. */
type Circumstances = {
	readonly waiters: Waiters;
	readonly clean: CleanRule | undefined;
};

/** The GPUs that are taken, with what others lose by that. */
type Taken = Addition & {readonly takes: readonly Holding[]};

type Picked =
	| {readonly kind: 'picked'; readonly taken: readonly Taken[]}
	| {readonly kind: 'short'; readonly available: number; readonly blocked: readonly BlockedGpu[]};

const heldKinds: ReadonlySet<string> = new Set(['leased', 'shared', 'split', 'garbage']);

/** Whether what others have of the GPU is all that matters. */
const isHeld = (
	answer: GpuCandidate | GpuBlock,
): answer is Extract<GpuBlock, {kind: 'leased' | 'shared' | 'split' | 'garbage'}> => heldKinds.has(answer.kind);

const unknownBlocks = ({unknown}: Eligibility): readonly BlockedGpu[] =>
	Array.from(unknown, ([index, quality]) => ({index, block: {kind: 'unknown-quality', quality}}));

/** GPUs, or shares of some. */
function pickGpus(
	snapshot: Snapshot,
	observation: Observation,
	request: AllocationRequest,
	{waiters, clean}: Circumstances,
): Picked {
	const {wanted, eligibility, force, memoryThresholdMiB} = request;
	const claims = claimsOf(snapshot.queue, snapshot.gpus.length, waiters.groupsFor);
	const isAnyGpu = eligibility.groups === undefined && wanted.ids === undefined;
	const groups = eligibility.tooSmall ?? eligibility.groups ?? [wanted.ids ?? snapshot.gpus.map(({index}) => index)];
	const considered = isAnyGpu ? snapshot.gpus : gpusOf(groups).map((index) => snapshot.gpus[index]!);
	const share = shareLimitsOf(wanted.need, snapshot);
	const shareMiB = share?.memoryMiB;
	const readings = readingsByIndex(observation.gpus, snapshot.gpus.length);
	const answerFor = (record: GpuRecord): GpuCandidate | Block => {
		const candidate = candidateOf(record, {share, canTake: waiters.gives, reading: readings[record.index]});
		if (isHeld(candidate)) {
			return candidate;
		}

		const drain = snapshot.drains.get(record.index);
		if (drain !== undefined) {
			return {kind: 'drained', drain};
		}

		const use = force ? undefined : usageBlockFor(record, observation, {shareMiB, memoryThresholdMiB, clean});
		const entry = candidate.kind === 'candidate' ? claims.get(record.index) : undefined;
		return use ?? (entry === undefined ? candidate : {kind: 'queued', entry});
	};

	const candidates: GpuCandidate[] = [];
	const blocked: BlockedGpu[] = [...unknownBlocks(eligibility)];
	for (const record of considered) {
		const answer = answerFor(record);
		if (answer.kind === 'candidate') {
			candidates.push(answer);
		} else {
			blocked.push({index: record.index, block: answer});
		}
	}

	// What an entry that waits in vain holds comes last.
	const candidateGroups = candidateGroupsOf(groups, candidates, wanted);
	const best = chooseGpus(snapshot, candidateGroups, {
		strategy: request.strategy ?? policyValue(snapshot, 'strategy'),
		readings: observation.gpus,
		links: request.links,
	});
	if (best === undefined) {
		const available = Math.max(
			0,
			...candidateGroups.map(({shared, free, heldByOthers}) => shared.length + free.length + heldByOthers.length),
		);
		return {kind: 'short', available, blocked};
	}

	return {
		kind: 'picked',
		taken: best.taken.toSorted((a, b) => a - b).map((index) => candidates.find(({record}) => record.index === index)!),
	};
}

/** Instances of MIG. */
function pickInstances(
	snapshot: Snapshot,
	observation: Observation,
	request: AllocationRequest,
	{waiters, clean}: Circumstances,
): Picked {
	const {wanted, eligibility, force, memoryThresholdMiB} = request;
	const {gpus, drains, queue} = snapshot;
	const claims = instanceClaimsOf(queue, gpus.length, waiters.groupsFor);
	const answerFor = (instance: InstanceOfGpu): InstanceCandidate | Block => {
		const candidate = instanceCandidateOf(gpus[instance.gpu]!, instance, waiters.gives);
		if (candidate.kind !== 'candidate') {
			return candidate;
		}

		const drain = drains.get(instance.gpu);
		if (drain !== undefined) {
			return {kind: 'drained', drain};
		}

		const use = force ? undefined : usageBlockOfInstance(instance, observation, memoryThresholdMiB, clean);
		const entry = claims.get(instance.uuid);
		return use ?? (entry === undefined ? candidate : {kind: 'queued', entry});
	};

	const candidates: InstanceCandidate[] = [];
	const blocked: BlockedGpu[] = [...unknownBlocks(eligibility)];
	for (const instance of eligibility.instances ?? []) {
		const answer = answerFor(instance);
		if (answer.kind === 'candidate') {
			candidates.push(answer);
		} else {
			blocked.push({index: instance.gpu, instance: instanceText(instance), block: answer});
		}
	}

	const taken = chooseInstances(gpus, candidates, wanted.count);
	return taken.length < wanted.count ? {kind: 'short', available: candidates.length, blocked} : {kind: 'picked', taken};
}

/**
Plans a newcomer's grant: all that is wanted, or nothing. The plan expects the chosen GPUs and the whole queue as they were read, so no one that joined or took meanwhile is overtaken.

@param snapshot - Without the dead: see lease-changes.ts.
@param observation
@param request
*/
export function allocate(
	snapshot: Snapshot,
	observation: Observation,
	request: AllocationRequest,
): Allocation | Refusal {
	const {wanted, lease, grant} = request;
	// Which GPUs are out of service matters to those who wait.
	const out = snapshot.queue.length === 0 ? new Map() : outagesSeen(snapshot, observation, request.memoryThresholdMiB);
	const circumstances: Circumstances = {
		waiters: waitersOf(snapshot, out, request.isAnswering),
		clean: cleanRuleOf(snapshot),
	};
	const pick = wanted.need?.mig === undefined ? pickGpus : pickInstances;
	const picked = pick(snapshot, observation, request, circumstances);
	if (picked.kind === 'short') {
		const {available, blocked} = picked;
		return {kind: 'refused', wanted, available, blocked, now: snapshot.now};
	}

	const {taken} = picked;
	const {instances, ...granted} = grantedParts(taken);
	const context: AuditContext = {...grant, now: snapshot.now};
	const takeover = takeoverOf(
		[...new Set(taken.flatMap(({takes}) => takes))],
		circumstances.waiters.reasonToGive,
		context,
	);
	const changes = planHoldings([...takeover.changes, ...taken.map((part): HoldingChange => additionOf(part, lease))]);
	return {
		kind: 'allocated',
		gpus: granted.gpus,
		instances,
		plan: {
			...changes,
			expect: [
				{kind: 'pool', gpuCount: snapshot.gpus.length},
				{kind: 'drains', raw: snapshot.stored.drains},
				policyExpectation(snapshot),
				{kind: 'queue', scope: 'whole', ids: snapshot.queue.map(({id}) => id)},
				...changes.expect,
			],
			audit: [...takeover.audit, grantEntry(lease, granted.gpus, context, {...grant, instances})],
			event: {
				kind: 'granted',
				gpus: granted.gpus,
				user: ownerOf(lease),
				...(isPartOfGpu(wanted.need) && {shared: true}),
			},
			grants: true,
		},
	};
}

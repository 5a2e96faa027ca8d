/** Plans grants for new requests, which are not in the queue yet. The result is a plan, or a refusal with reasons. */
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
import {poolExpectations, type Plan} from '../../model/plan.js';
import {claimsOf, instanceClaimsOf} from '../queue/queue.js';
import {instanceText} from '../mig/instances.js';
import {chooseInstances, instanceCandidateOf, type InstanceCandidate} from '../allocation/instances.js';
import type {Holding} from '../leases/holdings.js';
import {beyondLimit, grantEntry, type GrantOptions, type AuditContext} from '../leases/audit-entries.js';
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
import {agentExpectations} from '../policy/agents.js';
import {policyExpectations, policyValue} from '../policy/policy.js';
import {isPartOfGpu, type Wanted} from '../request/request.js';
import {cleanRuleOf, type CleanRule} from '../usage/cleanliness.js';
import {gpusOf, readingsByIndex, type Eligibility, type Quality} from '../allocation/need.js';
import {candidateOf, type GpuCandidate, type GpuBlock} from '../allocation/gpu-candidate.js';
import {candidateGroupsOf, chooseGpus} from '../allocation/choose.js';
import {shareLimitsOf} from '../allocation/share-policy.js';
import type {StrategyName} from '../../model/need.js';
import {usageBlockFor, usageBlockOfInstance, type UsageBlock} from '../usage/usage-block.js';
import {limitExpectations, type Limit} from '../limits/limits.js';
import type {AgentLimit, OverLimit} from '../queue/account-limits.js';
import {distinct, takeoverOf, waitersOf, type Waiters} from './takeover.js';

export type Block =
	| UsageBlock
	| GpuBlock
	/** An administrator drained the GPU. `force` does not override that. */
	| {readonly kind: 'drained'; readonly drain: Drain}
	| {readonly kind: 'queued'; readonly entry: QueueEntry}
	| {readonly kind: 'unknown-quality'; readonly quality: Quality};

type BlockedGpu = {readonly index: number; readonly instance?: string; readonly block: Block};

export type UnusableGpu = {readonly index: number; readonly instance?: string; readonly block: UsageBlock};

export type Refusal = {
	readonly kind: 'refused';
	readonly wanted: Wanted;
	readonly available: number;
	readonly blocked: readonly BlockedGpu[];
	/** Set if the account's limit prevents the grant, no matter how many GPUs are free. */
	readonly overLimit?: OverLimit;
	readonly agentLimit?: AgentLimit;
	readonly now: number;
};

export type Allocation = GrantedParts & {
	readonly kind: 'allocated';
	readonly plan: Plan;
	readonly isBeyondLimit?: true;
};

type AllocationRequest = {
	readonly wanted: Wanted;
	readonly eligibility: Eligibility;
	readonly lease: Lease;
	/** Whether to grant GPUs despite use without a reservation, unknown readings or failures. Leases, queue positions and drains are still respected. */
	readonly force: boolean;
	readonly memoryThresholdMiB: number;
	readonly strategy?: StrategyName;
	readonly links?: GpuLinks;
	readonly isAnswering: (entry: QueueEntry) => boolean;
	readonly limit?: Limit | undefined;
	readonly groups?: readonly string[] | undefined;
	readonly grant: Omit<AuditContext, 'now'> & Pick<GrantOptions, 'forced' | 'reason'>;
};

type Circumstances = {
	readonly waiters: Waiters;
	readonly groupsFor: Waiters['groupsFor'];
	readonly clean: CleanRule | undefined;
};

type Taken = Addition & {readonly takes: readonly Holding[]};

type Picked =
	| {readonly kind: 'picked'; readonly taken: readonly Taken[]}
	| {readonly kind: 'short'; readonly available: number; readonly blocked: readonly BlockedGpu[]};

const heldKinds: ReadonlySet<string> = new Set(['leased', 'shared', 'split', 'garbage']);

const isHeld = (
	answer: GpuCandidate | GpuBlock,
): answer is Extract<GpuBlock, {kind: 'leased' | 'shared' | 'split' | 'garbage'}> => heldKinds.has(answer.kind);

const unknownBlocks = ({unknown}: Eligibility): readonly BlockedGpu[] =>
	Array.from(unknown, ([index, quality]) => ({index, block: {kind: 'unknown-quality', quality}}));

function pickGpus(
	snapshot: Snapshot,
	observation: Observation,
	request: AllocationRequest,
	{waiters, groupsFor, clean}: Circumstances,
): Picked {
	const {wanted, eligibility, force, memoryThresholdMiB} = request;
	const claims = claimsOf(snapshot.queue, snapshot.gpus.length, groupsFor);
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

	// GPUs held by an entry that cannot be served now are chosen last.
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

function pickInstances(
	snapshot: Snapshot,
	observation: Observation,
	request: AllocationRequest,
	{waiters, groupsFor, clean}: Circumstances,
): Picked {
	const {wanted, eligibility, force, memoryThresholdMiB} = request;
	const {gpus, drains, queue} = snapshot;
	const claims = instanceClaimsOf(queue, gpus.length, groupsFor);
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
Plans a grant of all requested GPUs or of none. The plan expects the queue as it was read, so that the grant overtakes no entry that joins in the
meantime. `snapshot` must contain no expired leases.
*/
export function allocate(
	snapshot: Snapshot,
	observation: Observation,
	request: AllocationRequest,
): Allocation | Refusal {
	const {wanted, limit} = request;
	// With an empty queue, GPUs out of service need not be determined: they only decide which waiting requests can be served.
	const out = snapshot.queue.length === 0 ? new Map() : outagesSeen(snapshot, observation, request.memoryThresholdMiB);
	const {via} = request.lease;
	const waiters = waitersOf(snapshot, out, request.isAnswering, {account: ownerOf(request.lease), limit, via});
	const agentLimit = waiters.limits.agentLimitFor(wanted.count);
	if (agentLimit !== undefined) {
		return {kind: 'refused', wanted, available: 0, blocked: [], agentLimit, now: snapshot.now};
	}

	const overLimit = waiters.limits.overLimitFor(wanted.count);
	const isBeyondLimit = overLimit !== undefined;
	if (isBeyondLimit && !waiters.limits.mayExceedWith({type: request.lease.type, need: wanted.need})) {
		return {kind: 'refused', wanted, available: 0, blocked: [], overLimit, now: snapshot.now};
	}

	const lease: Lease = isBeyondLimit ? {...request.lease, slack: {groups: request.groups}} : request.lease;
	const grant = {...request.grant, ...(isBeyondLimit && {reason: beyondLimit})};
	const circumstances: Circumstances = {
		waiters,
		groupsFor: isBeyondLimit ? waiters.groupsBeyondLimit : waiters.groupsFor,
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
		distinct([...taken.flatMap(({takes}) => takes), ...waiters.limits.surplus(wanted.count)]),
		waiters.reasonToGive,
		context,
	);
	const changes = planHoldings([...takeover.changes, ...taken.map((part): HoldingChange => additionOf(part, lease))]);
	return {
		kind: 'allocated',
		gpus: granted.gpus,
		instances,
		...(isBeyondLimit && {isBeyondLimit}),
		plan: {
			...changes,
			expect: [
				...poolExpectations(snapshot),
				{kind: 'drains', raw: snapshot.stored.drains},
				...policyExpectations(snapshot),
				{kind: 'queue', scope: 'whole', ids: snapshot.queue.map(({id}) => id)},
				...agentExpectations(snapshot, lease),
				...changes.expect,
				...limitExpectations(snapshot.gpus, limit, changes.expect),
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

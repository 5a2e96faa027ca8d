/**
Who gets which GPU: (snapshot, observation, request) -> Plan, or a refusal that carries its reasons.
*/
import {planHoldings, type HoldingChange} from '../leases/holding-changes.js';
import {outagesSeen} from '../queue/out-of-service.js';
import {ownerOf} from '../leases/ownership.js';
import type {Plan} from '../../model/plan.js';
import {claimsOf} from '../queue/queue.js';
import {grantEntry, type GrantOptions, type AuditContext} from '../leases/audit-entries.js';
import type {Drain, GpuLinks, GpuRecord, Lease, Observation, QueueEntry, Snapshot} from '../../model/types.js';
import {takeoverOf, waitersOf, type Waiters} from '../queue/takeover.js';
import {policyExpectation, policyOf} from '../policy/policy.js';
import {cleanRuleOf, type CleanRule} from './cleanliness.js';
import {gpusOf, type Eligibility, type Quality} from './need.js';
import {offerOf, rankShares, type GpuOffer, type GpuOfferBlock} from './offer.js';
import type {Wanted} from './request.js';
import {chooseGpus} from './choose.js';
import {shareLimitsOf} from './share-policy.js';
import type {ShareLimits} from './share-fit.js';
import type {StrategyName} from './strategy.js';
import {usageBlockFor, type UsageBlock} from './usage-block.js';

export type {UsageBlock} from './usage-block.js';

/** Why a GPU cannot be handed out now. */
export type Block =
	| UsageBlock
	| GpuOfferBlock
	/** Out of service: not even by force. */
	| {readonly kind: 'drained'; readonly drain: Drain}
	/** Kept for somebody who waits. */
	| {readonly kind: 'queued'; readonly entry: QueueEntry}
	/** It may have what is needed, and cannot be told to. */
	| {readonly kind: 'unknown-quality'; readonly quality: Quality};

export type BlockedGpu = {readonly index: number; readonly block: Block};

export type UnusableGpu = {readonly index: number; readonly block: UsageBlock};

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

export type Allocation = {readonly kind: 'allocated'; readonly plan: Plan; readonly gpus: readonly number[]};

export type AllocationRequest = {
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
	readonly isAwake: (entry: QueueEntry) => boolean;
	/** What the audit log says of it. */
	readonly grant: Omit<AuditContext, 'now'> & Pick<GrantOptions, 'forced' | 'reason'>;
};

/** Whether what others have of the GPU is all that matters. */
const isHeld = (
	answer: GpuOffer | GpuOfferBlock,
): answer is Extract<GpuOfferBlock, {kind: 'leased' | 'shared' | 'garbage'}> =>
	['leased', 'shared', 'garbage'].includes(answer.kind);

/** What of the GPU can be had, or why it cannot. */
function answerOf(
	record: GpuRecord,
	observation: Observation,
	request: AllocationRequest,
	{
		claims,
		clean,
		drains,
		waiters,
		share,
	}: {
		readonly claims: ReadonlyMap<number, QueueEntry>;
		readonly clean: CleanRule | undefined;
		readonly drains: Snapshot['drains'];
		readonly waiters: Waiters;
		readonly share: ShareLimits | undefined;
	},
): GpuOffer | Exclude<Block, {kind: 'unknown-quality'}> {
	const reading = observation.gpus.find(({index}) => index === record.index);
	const offer = offerOf(record, {share, canTake: waiters.gives, reading});
	if (isHeld(offer)) {
		return offer;
	}

	const drain = drains.get(record.index);
	if (drain !== undefined) {
		return {kind: 'drained', drain};
	}

	const {force, memoryThresholdMiB} = request;
	const shareMiB = share?.memoryMiB;
	const use = force ? undefined : usageBlockFor(record, observation, {shareMiB, memoryThresholdMiB, clean});
	if (use !== undefined) {
		return use;
	}

	const entry = claims.get(record.index);
	return offer.kind === 'offer' && entry !== undefined ? {kind: 'queued', entry} : offer;
}

/**
Plans a newcomer's grant: all that is wanted, or nothing. The plan expects the chosen GPUs and the whole line as they were
read, so no one that joined or took meanwhile is overtaken.

@param snapshot - Without the dead: see lease-changes.ts.
@param observation
@param request
*/
export function allocate(
	snapshot: Snapshot,
	observation: Observation,
	request: AllocationRequest,
): Allocation | Refusal {
	const {wanted, eligibility, lease, grant} = request;
	const {drains} = snapshot;
	const clean = cleanRuleOf(snapshot);
	const out = outagesSeen(snapshot, observation, request.memoryThresholdMiB);
	const waiters = waitersOf(snapshot, out, request.isAwake);
	const claims = claimsOf(snapshot.queue, snapshot.gpus.length, waiters.groupsFor);
	const groups = eligibility.groups ?? [wanted.ids ?? snapshot.gpus.map(({index}) => index)];
	const considered = gpusOf(groups).map((index) => snapshot.gpus[index]!);
	const share = shareLimitsOf(wanted.need, snapshot);
	const offered: GpuOffer[] = [];
	const blocked: BlockedGpu[] = [...eligibility.unknown].map(([index, quality]) => ({
		index,
		block: {kind: 'unknown-quality', quality},
	}));
	for (const record of considered) {
		const answer = answerOf(record, observation, request, {claims, clean, drains, waiters, share});
		if (answer.kind === 'offer') {
			offered.push(answer);
		} else {
			blocked.push({index: record.index, block: answer});
		}
	}

	const shared = rankShares(offered).map(({index}) => index);
	const isFree = new Set(offered.filter(({record}) => record.kind === 'free').map(({record}) => record.index));
	const isGiven = new Set(offered.filter(({takes}) => takes.length > 0).map(({record}) => record.index));
	const offers = groups.map((group) => ({
		kept: [],
		shared: shared.filter((index) => group.includes(index)),
		free: group.filter((index) => isFree.has(index)),
		// What an entry that waits in vain holds comes last.
		heldByOthers: group.filter((index) => isGiven.has(index)),
		count: wanted.count,
	}));
	const best = chooseGpus(snapshot, offers, {
		strategy: request.strategy ?? policyOf(snapshot).strategy,
		readings: observation.gpus,
		links: request.links,
	});
	if (best === undefined) {
		const available = Math.max(
			0,
			...offers.map((offer) => offer.shared.length + offer.free.length + offer.heldByOthers.length),
		);
		return {kind: 'refused', wanted, available, blocked, now: snapshot.now};
	}

	const gpus = best.taken.toSorted((a, b) => a - b);
	const context: AuditContext = {...grant, now: snapshot.now};
	const taken = gpus.map((index) => offered.find(({record}) => record.index === index)!);
	const takeover = takeoverOf(
		taken.flatMap(({takes}) => takes),
		waiters.reasonToGive,
		context,
	);
	const changes = planHoldings([
		...takeover.changes,
		...taken.map(({record, capacityMiB}): HoldingChange => ({kind: 'add', record, lease, capacityMiB})),
	]);
	return {
		kind: 'allocated',
		gpus,
		plan: {
			expect: [
				{kind: 'pool', gpuCount: snapshot.gpus.length},
				{kind: 'drains', raw: snapshot.stored.drains},
				policyExpectation(snapshot),
				{kind: 'queue', extent: 'whole', ids: snapshot.queue.map(({id}) => id)},
				...changes.expect,
			],
			writes: changes.writes,
			usage: changes.usage,
			audit: [...takeover.audit, grantEntry(lease, gpus, context, grant)],
			event: {kind: 'granted', gpus, user: ownerOf(lease), ...(share !== undefined && {shared: true})},
			grants: true,
		},
	};
}

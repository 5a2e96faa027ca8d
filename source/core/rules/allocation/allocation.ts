/**
Who gets which GPU: (snapshot, observation, request) -> Plan, or a refusal that carries its reasons.
*/
import {planHoldings, type HoldingChange} from '../leases/holding-changes.js';
import {holdingsOn} from '../leases/holdings.js';
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
import type {Wanted} from './request.js';
import {chooseGpus} from './choose.js';
import type {StrategyName} from './strategy.js';
import {usageBlockOf, type UsageBlock} from './usage-block.js';

export type {UsageBlock} from './usage-block.js';

/** Why a GPU cannot be handed out now. */
export type Block =
	| UsageBlock
	| {readonly kind: 'leased'; readonly lease: Lease}
	| {readonly kind: 'garbage'; readonly problem: string}
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

function blockOf(
	record: GpuRecord,
	observation: Observation,
	request: AllocationRequest,
	{
		claims,
		clean,
		drains,
		waiters,
	}: {
		readonly claims: ReadonlyMap<number, QueueEntry>;
		readonly clean: CleanRule | undefined;
		readonly drains: Snapshot['drains'];
		readonly waiters: Waiters;
	},
): Block | undefined {
	const firm = holdingsOn(record).find(({lease}) => !waiters.gives(lease));
	if (firm !== undefined) {
		return {kind: 'leased', lease: firm.lease};
	}

	if (record.kind === 'garbage') {
		return {kind: 'garbage', problem: record.problem};
	}

	const drain = drains.get(record.index);
	if (drain !== undefined) {
		return {kind: 'drained', drain};
	}

	const use = request.force ? undefined : usageBlockOf(record.index, observation, request.memoryThresholdMiB, clean);
	if (use !== undefined) {
		return use;
	}

	const entry = claims.get(record.index);
	return entry && {kind: 'queued', entry};
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
	const free: GpuRecord[] = [];
	const blocked: BlockedGpu[] = [...eligibility.unknown].map(([index, quality]) => ({
		index,
		block: {kind: 'unknown-quality', quality},
	}));
	for (const record of considered) {
		const block = blockOf(record, observation, request, {claims, clean, drains, waiters});
		if (block === undefined) {
			free.push(record);
		} else {
			blocked.push({index: record.index, block});
		}
	}

	const isFree = new Set(free.filter(({kind}) => kind === 'free').map(({index}) => index));
	const isGiven = new Set(free.filter(({kind}) => kind !== 'free').map(({index}) => index));
	const offers = groups.map((group) => ({
		kept: [],
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
		const available = Math.max(0, ...offers.map((offer) => offer.free.length + offer.heldByOthers.length));
		return {kind: 'refused', wanted, available, blocked, now: snapshot.now};
	}

	const gpus = best.taken.toSorted((a, b) => a - b);
	const context: AuditContext = {...grant, now: snapshot.now};
	const taken = gpus.map((index) => snapshot.gpus[index]!);
	const takeover = takeoverOf(
		taken.flatMap((record) => holdingsOn(record)),
		waiters.reasonToGive,
		context,
	);
	const changes = planHoldings([
		...takeover.changes,
		...taken.map((record): HoldingChange => ({kind: 'add', record, lease})),
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
			event: {kind: 'granted', gpus, user: ownerOf(lease)},
			grants: true,
		},
	};
}

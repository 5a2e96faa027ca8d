/**
Who gets which GPU: (snapshot, observation, request) -> Plan, or a refusal that carries its reasons. Design section 6.
*/
import {ownerOf} from './ownership.js';
import type {Plan} from './plan.js';
import {claimsOf, isServable} from './queue.js';
import type {Wanted} from './request.js';
import {mostRecentUserFirst} from './strategies/most-recent-user-first.js';
import type {Strategy} from './strategies/strategy.js';
import {tellGrant, type GrantOptions, type Occasion} from './telling.js';
import type {Drain, GpuRecord, HealthProblem, Lease, Observation, QueueEntry, Snapshot} from './types.js';
import {useOf, usersOf} from './use.js';

/** Why a GPU that nobody holds cannot be handed out by what is seen of it. */
export type UseBlock =
	/** In use by somebody without a lease; the users that are known. */
	| {readonly kind: 'unreserved'; readonly users: readonly string[]; readonly memoryUsedMiB?: number}
	| {readonly kind: 'unknown-use'; readonly why: string}
	| {readonly kind: 'failed'; readonly why: string}
	/** It says of itself that something is wrong with it. */
	| {readonly kind: 'unfit'; readonly problems: readonly HealthProblem[]}
	/** The scan as a whole failed. */
	| {readonly kind: 'not-scanned'; readonly why: string};

/** Why a GPU cannot be handed out now. */
export type Block =
	| UseBlock
	| {readonly kind: 'leased'; readonly lease: Lease}
	| {readonly kind: 'garbage'; readonly problem: string}
	/** Out of service: not even by force. */
	| {readonly kind: 'drained'; readonly drain: Drain}
	/** Kept for somebody who waits. */
	| {readonly kind: 'queued'; readonly entry: QueueEntry};

export type BlockedGpu = {readonly index: number; readonly block: Block};

export type UnusableGpu = {readonly index: number; readonly block: UseBlock};

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
	/** The lease that each GPU gets. */
	readonly lease: Lease;
	/**
	Hands out GPUs in spite of unreserved use, unknown readings and failures. Never somebody's lease or place in line, nor what an
	administrator took out of service.
	*/
	readonly force: boolean;
	readonly memoryThresholdMiB: number;
	readonly isAwake: (entry: QueueEntry) => boolean;
	/** What the trail says of it. */
	readonly told: Omit<Occasion, 'now'> & Pick<GrantOptions, 'forced' | 'reason'>;
};

/** Unreserved, unknown, unfit or broken: what `--force` ignores. */
export function blockOfUse(index: number, observation: Observation, memoryThresholdMiB: number): UseBlock | undefined {
	if (observation.failure !== undefined) {
		return {kind: 'not-scanned', why: observation.failure.message};
	}

	const reading = observation.gpus.find((gpu) => gpu.index === index);
	const use = useOf(reading, memoryThresholdMiB);
	const {health = []} = reading ?? {};
	if (use.kind !== 'failed' && health.length > 0) {
		return {kind: 'unfit', problems: health};
	}

	switch (use.kind) {
		case 'idle': {
			return undefined;
		}

		case 'used': {
			return {kind: 'unreserved', users: usersOf(reading?.processes ?? []), memoryUsedMiB: use.memoryUsedMiB};
		}

		case 'unknown': {
			return {kind: 'unknown-use', why: use.why};
		}

		case 'failed': {
			return {kind: 'failed', why: use.why};
		}
	}
}

function blockOf(
	record: GpuRecord,
	observation: Observation,
	request: AllocationRequest,
	{claims, drains}: {readonly claims: ReadonlyMap<number, QueueEntry>; readonly drains: Snapshot['drains']},
): Block | undefined {
	if (record.kind === 'leased') {
		return {kind: 'leased', lease: record.lease};
	}

	if (record.kind === 'garbage') {
		return {kind: 'garbage', problem: record.problem};
	}

	const drain = drains.get(record.index);
	if (drain !== undefined) {
		return {kind: 'drained', drain};
	}

	const use = request.force ? undefined : blockOfUse(record.index, observation, request.memoryThresholdMiB);
	if (use !== undefined) {
		return use;
	}

	const entry = claims.get(record.index);
	return entry && {kind: 'queued', entry};
}

/**
Plans a newcomer's grant: all that is wanted, or nothing. The plan expects the chosen GPUs and the whole line as they were
read, so nobody who joined or took meanwhile is overtaken.

@param snapshot - Without the dead: see lifecycle.ts.
@param observation
@param request
@param strategy
*/
export function allocate(
	snapshot: Snapshot,
	observation: Observation,
	request: AllocationRequest,
	strategy: Strategy = mostRecentUserFirst,
): Allocation | Refusal {
	const {wanted, lease, told} = request;
	const {drains} = snapshot;
	const claims = claimsOf(
		snapshot.queue,
		snapshot.gpus.length,
		(entry) => request.isAwake(entry) && isServable(entry, snapshot),
	);
	const considered = wanted.ids === undefined ? snapshot.gpus : wanted.ids.map((id) => snapshot.gpus[id]!);
	const free: GpuRecord[] = [];
	const blocked: BlockedGpu[] = [];
	for (const record of considered) {
		const block = blockOf(record, observation, request, {claims, drains});
		if (block === undefined) {
			free.push(record);
		} else {
			blocked.push({index: record.index, block});
		}
	}

	if (free.length < wanted.count) {
		return {kind: 'refused', wanted, available: free.length, blocked, now: snapshot.now};
	}

	const ranked = strategy(
		free.map((record) => ({
			index: record.index,
			lastReleased: record.kind === 'free' ? record.lastReleased : undefined,
			lastUsedByRequester: snapshot.lastUsed.get(record.index),
		})),
	);
	const gpus = ranked
		.slice(0, wanted.count)
		.map(({index}) => index)
		.toSorted((a, b) => a - b);
	return {
		kind: 'allocated',
		gpus,
		plan: {
			expect: [
				{kind: 'pool', gpuCount: snapshot.gpus.length},
				{kind: 'drains', raw: snapshot.stored.drains},
				{kind: 'queue', extent: 'whole', ids: snapshot.queue.map(({id}) => id)},
				...gpus.map((index) => ({kind: 'gpu', index, raw: snapshot.gpus[index]!.raw}) as const),
			],
			writes: gpus.map((index) => ({kind: 'lease', index, lease}) as const),
			usage: [],
			audit: [tellGrant(lease, gpus, {...told, now: snapshot.now}, told)],
			event: {kind: 'granted', gpus, user: ownerOf(lease)},
			grants: true,
		},
	};
}

/**
When a waiter reads again. A release wakes the first few at once and not the whole queue: 500 waiters must not all read at
the same moment.
*/
import {entryHeartbeatSeconds} from '../leases/liveness.js';
import type {GpuRecord, Lease, PoolEvent, Snapshot} from '../../model/types.js';
import {isPartOfGpu} from '../request/request.js';
import {groupsOf} from './eligible.js';
import {rankFor} from './queue.js';

const shortestTickMs = 2000;
const longestTickMs = 5000;
/** Number of entries that read at once after a change. The others read at their next tick. */
const wokenAtOnce = 3;
/** The first of the others follows after this long, where no one can tell who left the queue; and each next after a turn. */
const herdMs = 250;
const turnMs = 20;
/**
The tick doubles for each group of this many entries ahead, up to the maximum. An entry that moves up or can take something is woken by an
event.
*/
const ticksLengthenEvery = 4;
const longestRestMs = 120_000;
/** Delay of events for later entries, where the store must be polled. */
const lateMs = 2000;

/** Stands for a lease that was just granted, whose fields are unknown. */
const somebody: Lease = {user: '?', type: 'run', startTime: 0};

/** GPUs that an event sets free; what a waiter held goes with its leaving. */
const freedBy = (event: PoolEvent): readonly number[] =>
	event.kind === 'released' || event.kind === 'expired' || (event.kind === 'queue' && event.left !== undefined)
		? event.gpus
		: [];

const takenBy = (event: PoolEvent): readonly number[] =>
	event.kind === 'granted' || (event.kind === 'queue' && event.left === undefined) ? event.gpus : [];

/** Applies an event to the last snapshot. The result is good enough to decide whether to read, and is never used for a plan. */
export function snapshotAfterEvent(snapshot: Snapshot | undefined, event: PoolEvent | undefined): Snapshot | undefined {
	if (snapshot === undefined || event === undefined) {
		return snapshot;
	}

	const freed = freedBy(event);
	const taken = takenBy(event);
	return {
		...snapshot,
		queue: snapshot.queue.filter(({id}) => event.left?.includes(id) !== true),
		gpus: snapshot.gpus.map((record): GpuRecord => {
			const {index} = record;
			return freed.includes(index)
				? {kind: 'free', index, raw: undefined}
				: taken.includes(index) && event.shared !== true
					? {kind: 'leased', index, raw: '', lease: somebody}
					: record;
		}),
	};
}

/**
In how many milliseconds an event is worth a read: at once when it freed something, or somebody left the queue and with that the claim to
it, and we are among the first who could use it. Undefined: not before the tick.

A store that cannot say what happened leaves everybody in the dark about the queue, so those further back read one after the other.

@param snapshot - With the event in it.
*/
export function readAfterMs(
	event: PoolEvent | undefined,
	snapshot: Snapshot | undefined,
	entryId: string,
): number | undefined {
	if (snapshot === undefined) {
		return 0;
	}

	const {queue, gpus, drains} = snapshot;
	if (event === undefined || event.kind === 'pool' || event.kind === 'drain' || event.kind === 'policy') {
		const rank = rankFor(queue, entryId, [], gpus.length);
		return rank < wokenAtOnce ? 0 : herdMs + turnMs * (rank - wokenAtOnce);
	}

	const own = queue.find(({id}) => id === entryId);
	if (own === undefined) {
		// An entry that somebody took out of the queue has to see that, too.
		return 0;
	}

	const wanted = own.kind === 'entry' ? new Set(groupsOf(own.entry, gpus.length).flat()) : undefined;
	const isForPart = own.kind === 'entry' && isPartOfGpu(own.entry.need);
	const usable = gpus
		.filter(
			({kind, index}) =>
				(kind === 'free' || (kind === 'shared' && isForPart)) && !drains.has(index) && (wanted?.has(index) ?? true),
		)
		.map(({index}) => index);
	const isRelevant = event.left !== undefined || freedBy(event).some((index) => usable.includes(index));
	return isRelevant && usable.length > 0 && rankFor(queue, entryId, usable, gpus.length) < wokenAtOnce ? 0 : undefined;
}

type NextReadOptions = {
	/** When something may be over that was seen, from now; `Infinity` when nothing can be foreseen. */
	readonly nextEndSeconds: number;
	/** Returns a number in [0, 1). */
	readonly random: number;
};

/** Milliseconds until the next read if nothing wakes the waiter: a jittered tick, and for the first few the next end of a lease. */
export function nextReadMs(
	seen: Snapshot | undefined,
	entryId: string,
	{nextEndSeconds, random}: NextReadOptions,
): number {
	const tickMs = shortestTickMs + (longestTickMs - shortestTickMs) * random;
	if (seen === undefined) {
		return tickMs;
	}

	const rank = rankFor(seen.queue, entryId, [], seen.gpus.length);
	const endMs = rank < wokenAtOnce ? nextEndSeconds * 1000 + 1 : Infinity;
	return Math.max(1, Math.min(tickMs * (1 + rank / ticksLengthenEvery), longestRestMs, endMs));
}

/**
Milliseconds until the next heartbeat; never more than from one to the next, although the store's clock may have stepped back.

@param lastHeartbeat - On the store's clock, as is `now`.
*/
export const nextHeartbeatMs = (lastHeartbeat: number, now: number): number =>
	Math.max(1, Math.min(lastHeartbeat + entryHeartbeatSeconds - now, entryHeartbeatSeconds) * 1000);

/** Returns the tolerable delay of events for a waiter, in milliseconds. */
export const tolerableDelayMs = (seen: Snapshot | undefined, entryId: string): number =>
	seen === undefined || rankFor(seen.queue, entryId, [], seen.gpus.length) < wokenAtOnce ? 0 : lateMs;

/**
Decides when a waiting command reads the store again. After a release, only the first few commands in the queue
read, because 500 commands must not read at once.
*/
import {entryHeartbeatSeconds} from '../leases/liveness.js';
import type {GpuRecord, Lease, PoolEvent, Snapshot} from '../../model/types.js';
import {isPartOfGpu} from '../request/request.js';
import {groupsOf} from './eligible.js';
import {accountLimitsSeen} from './account-limits.js';
import {rankFor} from './queue.js';

const shortestTickMs = 2000;
const longestTickMs = 5000;
/** How many entries read at once after a change. All other entries read at their next regular read, the tick. */
const wokenAtOnce = 3;
/** If the store cannot tell what changed, later entries read after `herdMs`, with `turnMs` between two entries. */
const herdMs = 250;
const turnMs = 20;
/** For each group of this many earlier entries, the time between reads grows by one tick, up to `longestRestMs`. Events make an entry read earlier. */
const ticksLengthenEvery = 4;
const longestRestMs = 120_000;
/** How late events may reach entries if the store must be polled. Does not apply to the first few entries. */
const lateMs = 2000;

/**
Returns a lease that stands for the lease that an event has just granted. Contains only the owner and `via`, which
the limits of accounts and agents depend on.
*/
function leaseAfter({user = '?', left = []}: PoolEvent, {queue}: Snapshot): Lease {
	const record = queue.find(({id}) => left.includes(id));
	return {user, via: record?.kind === 'entry' ? record.entry.via : undefined, type: 'run', startTime: 0};
}

function rankIn(snapshot: Snapshot, entryId: string, gpus: readonly number[] = []): number {
	return rankFor(snapshot.queue, entryId, gpus, snapshot.gpus.length, accountLimitsSeen(snapshot).isHeldBack);
}

/** Returns the GPUs that became free with an event. An entry that leaves the queue releases the GPUs that it holds. */
const freedBy = (event: PoolEvent): readonly number[] =>
	event.kind === 'released' || event.kind === 'expired' || (event.kind === 'queue' && event.left !== undefined)
		? event.gpus
		: [];

const takenBy = (event: PoolEvent): readonly number[] =>
	event.kind === 'granted' || (event.kind === 'queue' && event.left === undefined) ? event.gpus : [];

/** Applies an event to the last snapshot, to decide whether a read is worthwhile. The result is never used for a plan. */
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
					? {kind: 'leased', index, raw: '', lease: leaseAfter(event, snapshot)}
					: record;
		}),
	};
}

/**
Returns how soon an entry reads after an event. The first few entries that benefit read at once. If the store cannot tell what changed, later entries
read one after the other. Undefined for an entry that waits for its tick. `snapshot` is the last snapshot with the event applied.
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
		const rank = rankIn(snapshot, entryId);
		return rank < wokenAtOnce ? 0 : herdMs + turnMs * (rank - wokenAtOnce);
	}

	const own = queue.find(({id}) => id === entryId);
	if (own === undefined) {
		// The entry was removed from the queue, which its command must notice.
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
	return isRelevant && usable.length > 0 && rankIn(snapshot, entryId, usable) < wokenAtOnce ? 0 : undefined;
}

/** Returns whether an event ends an entry's wait for its own account or for other agents. Which GPU has become free does not matter. */
export function endsLimit(before: Snapshot | undefined, after: Snapshot | undefined, entryId: string): boolean {
	const own = after?.queue.find(({id}) => id === entryId);
	return (
		before !== undefined &&
		after !== undefined &&
		own?.kind === 'entry' &&
		accountLimitsSeen(before).isHeldBack(own.entry) &&
		!accountLimitsSeen(after).isHeldBack(own.entry)
	);
}

type NextReadOptions = {
	readonly nextEndSeconds: number;
	readonly random: number;
};

/** Returns the milliseconds until the next read if no event comes: a random tick or, for the first few entries, the next end of a lease. */
export function nextReadMs(
	seen: Snapshot | undefined,
	entryId: string,
	{nextEndSeconds, random}: NextReadOptions,
): number {
	const tickMs = shortestTickMs + (longestTickMs - shortestTickMs) * random;
	if (seen === undefined) {
		return tickMs;
	}

	const rank = rankIn(seen, entryId);
	const endMs = rank < wokenAtOnce ? nextEndSeconds * 1000 + 1 : Infinity;
	return Math.max(1, Math.min(tickMs * (1 + rank / ticksLengthenEvery), longestRestMs, endMs));
}

/** Returns the milliseconds until the next heartbeat: at most one interval, even if the store's clock stepped back. */
export const nextHeartbeatMs = (lastHeartbeat: number, now: number): number =>
	Math.max(1, Math.min(lastHeartbeat + entryHeartbeatSeconds - now, entryHeartbeatSeconds) * 1000);

export const tolerableDelayMs = (seen: Snapshot | undefined, entryId: string): number =>
	seen === undefined || rankIn(seen, entryId) < wokenAtOnce ? 0 : lateMs;

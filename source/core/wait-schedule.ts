/**
When the one who waits looks again. A release wakes the first few at once and not the whole line: 500 waiters must not all read at
the same moment.
*/
import {isLeased} from './lifecycle.js';
import {rankFor} from './queue.js';
import type {PoolEvent, Snapshot} from './types.js';

export const heartbeatSeconds = 30;

const shortestTickMs = 2000;
const longestTickMs = 5000;
/** So many read at once when something changed; the others follow at their tick. */
const wokenAtOnce = 3;
/** With so many ahead the tick is twice as long. */
const ticksLengthenEvery = 12;

/** The line as it is after the event, so that those behind know their rank without a read. */
export const withoutLeavers = (seen: Snapshot, event: PoolEvent | undefined): Snapshot =>
	event?.left === undefined ? seen : {...seen, queue: seen.queue.filter(({id}) => !event.left?.includes(id))};

/** Whether an event is worth a look at once. Without a snapshot nothing is known, so it is. */
export function isWokenBy(event: PoolEvent | undefined, seen: Snapshot | undefined, entryId: string): boolean {
	if (event?.kind === 'heartbeat' || event?.kind === 'extended') {
		return false;
	}

	// Whoever leaves the line lets go of claims on GPUs that the event does not name.
	const gpus = event === undefined || event.kind === 'queue' || event.kind === 'granted' ? [] : event.gpus;
	return seen === undefined || rankFor(seen.queue, entryId, gpus, seen.gpus.length) < wokenAtOnce;
}

/**
Milliseconds until the next look if nothing rings: a jittered tick, the next heartbeat, and for the first few the next expiry.

@param random - In [0, 1).
*/
export function nextLookMs(seen: Snapshot | undefined, entryId: string, lastBeat: number, random: number): number {
	const tickMs = shortestTickMs + (longestTickMs - shortestTickMs) * random;
	if (seen === undefined) {
		return tickMs;
	}

	const rank = rankFor(seen.queue, entryId, [], seen.gpus.length);
	const beatMs = (lastBeat + heartbeatSeconds - seen.now) * 1000;
	const expiries = seen.gpus.filter(isLeased).map(({lease}) => lease.expiryTime ?? Infinity);
	const expiryMs = rank < wokenAtOnce ? (Math.min(...expiries) - seen.now) * 1000 + 1 : Infinity;
	return Math.max(1, Math.min(tickMs * (1 + rank / ticksLengthenEvery), beatMs, expiryMs));
}

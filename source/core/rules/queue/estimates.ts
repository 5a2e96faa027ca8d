/**
When each of those who wait is likely to be served, as far as it can be known: from the ends of reservations and the time limits
of jobs. A job without a limit ends when it ends, and then nothing is said.
*/
import {timedEndOf} from '../leases/liveness.js';
import type {GpuRecord, QueueEntry, Snapshot} from '../../model/types.js';
import {isServable, outagesNoted} from './out-of-service.js';
import {isPossible} from './queue.js';

/** When the line can have the GPU at the latest, in seconds on the store's clock; Infinity when nobody knows. */
function freeAt(record: GpuRecord, {now, drains}: Snapshot): number {
	// Whoever waits takes a GPU the moment it can be had. One that lies there all the same is in use without a reservation, or broken.
	if (record.kind !== 'leased' || drains.has(record.index)) {
		return Infinity;
	}

	const {endsBy, partialQueueId} = record.lease;
	// What a waiter holds is at the disposal of the line.
	return partialQueueId === undefined ? Math.max(now, timedEndOf(record.lease) ?? endsBy ?? Infinity) : now;
}

/** How long it keeps the GPUs once it has them. */
const holdSeconds = ({expirySeconds, timeLimitSeconds}: QueueEntry): number =>
	expirySeconds ?? timeLimitSeconds ?? Infinity;

/**
@returns Entry id -> seconds from now until it is served. An entry of which nothing can be said is left out.
*/
export function estimateWaits(snapshot: Snapshot): ReadonlyMap<string, number> {
	const {gpus, queue, now} = snapshot;
	const ends = gpus.map((record) => freeAt(record, snapshot));
	const out = outagesNoted(snapshot, queue);
	const waits = new Map<string, number>();
	for (const record of queue) {
		// Nobody is held up by who waits for what is out of service.
		if (record.kind !== 'entry' || !isPossible(record.entry, gpus.length) || !isServable(record.entry, gpus, out)) {
			continue;
		}

		const {entry} = record;
		const wanted =
			entry.requestedIds.length > 0
				? entry.requestedIds
				: ends
						.map((end, index) => ({end, index}))
						.toSorted((a, b) => (a.end === b.end ? a.index - b.index : a.end - b.end))
						.slice(0, entry.requestedCount)
						.map(({index}) => index);
		const served = Math.max(...wanted.map((index) => ends[index]!));
		for (const index of wanted) {
			ends[index] = served + holdSeconds(entry);
		}

		if (Number.isFinite(served)) {
			waits.set(record.id, served - now);
		}
	}

	return waits;
}

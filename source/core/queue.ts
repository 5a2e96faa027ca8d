/**
The line: first come, first served, without holding up those it need not. Design section 7.

The rule "nobody overtakes" is {@link claimsOf}: a GPU that somebody earlier in the line could use is not free for anybody later.
*/
import type {QueueEntry, QueueRecord} from './types.js';

/** True when this pool could serve it some day. The peer makes entries that it cannot; they claim nothing. */
export const isPossible = (entry: QueueEntry, gpuCount: number): boolean =>
	entry.requestedIds.length > 0
		? new Set(entry.requestedIds).size === entry.requestedIds.length &&
			entry.requestedIds.every((id) => Number.isSafeInteger(id) && id >= 0 && id < gpuCount)
		: Number.isSafeInteger(entry.requestedCount) && entry.requestedCount >= 1 && entry.requestedCount <= gpuCount;

/**
For each GPU, the first entry of the line that could claim it.

@param queue - The line, or the part of it before whoever asks.
@param gpuCount - Size of the pool.
@param isAwake - False for an entry whose process is stopped: it keeps its place and claims nothing until it wakes.
@returns GPU index -> the entry that it is kept for.
*/
export function claimsOf(
	queue: readonly QueueRecord[],
	gpuCount: number,
	isAwake: (entry: QueueEntry) => boolean = () => true,
): ReadonlyMap<number, QueueEntry> {
	const claims = new Map<number, QueueEntry>();
	for (const record of queue) {
		if (record.kind !== 'entry' || !isPossible(record.entry, gpuCount) || !isAwake(record.entry)) {
			continue;
		}

		const wanted =
			record.entry.requestedIds.length > 0 ? record.entry.requestedIds : Array.from({length: gpuCount}, (_, id) => id);
		for (const index of wanted) {
			if (!claims.has(index)) {
				claims.set(index, record.entry);
			}
		}
	}

	return claims;
}

/**
Which GPUs an entry of the queue could have, by what it says itself: everybody who reads the queue sees the same, whatever their own scan of
the GPUs showed.
*/
import type {GpuGroup, QueueEntry} from '../../model/types.js';
import type {Wanted} from '../allocation/request.js';

/** How many GPUs an entry wants. */
export const wantedCountOf = ({requestedIds, requestedCount}: QueueEntry): number =>
	requestedIds.length > 0 ? requestedIds.length : requestedCount;

/** What an entry asks for. */
export const wantedOf = (entry: QueueEntry): Wanted => ({
	count: wantedCountOf(entry),
	ids: entry.requestedIds.length > 0 ? entry.requestedIds : undefined,
	need: entry.need,
});

/**
The groups of GPUs of which an entry wants as many as {@link wantedCountOf} says. None: this pool cannot serve it, or nobody knows a GPU that
could. The peer makes entries that cannot be served, and anybody may write to the store.
*/
export function groupsOf(entry: QueueEntry, gpuCount: number): readonly GpuGroup[] {
	const {requestedIds, eligible} = entry;
	const count = wantedCountOf(entry);
	if (!Number.isSafeInteger(count) || count < 1 || count > gpuCount) {
		return [];
	}

	const isPossibleGroup = (group: GpuGroup): boolean =>
		group.length >= count &&
		new Set(group).size === group.length &&
		group.every((id) => Number.isSafeInteger(id) && id >= 0 && id < gpuCount);
	if (requestedIds.length > 0) {
		const isEligible = eligible?.some((group) => requestedIds.every((id) => group.includes(id))) ?? true;
		return isEligible && isPossibleGroup(requestedIds) ? [requestedIds] : [];
	}

	return eligible === undefined
		? [Array.from({length: gpuCount}, (_, id) => id)]
		: eligible.filter((group) => isPossibleGroup(group));
}

/** True when this pool could serve it some day, as far as is known. An entry that it cannot serve claims nothing. */
export const isPossible = (entry: QueueEntry, gpuCount: number): boolean => groupsOf(entry, gpuCount).length > 0;

/** True when it could have one of these GPUs. */
export const couldUse = (entry: QueueEntry, gpus: readonly number[], gpuCount: number): boolean =>
	groupsOf(entry, gpuCount).some((group) => gpus.some((index) => group.includes(index)));

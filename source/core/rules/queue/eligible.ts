/**
Which GPUs an entry of the queue could have, by what it says itself: everybody who reads the queue sees the same, whatever their own scan of
the GPUs showed. Instances that are new are the one exception.
*/
import type {EligibleInstance, GpuGroup, Observation, QueueEntry, Snapshot} from '../../model/types.js';
import {eligibilityOf} from '../allocation/need.js';
import type {Wanted} from '../request/request.js';

/** Returns the number of requested GPUs. */
export const wantedCountOf = ({requestedIds, requestedCount}: QueueEntry): number =>
	requestedIds.length > 0 ? requestedIds.length : requestedCount;

/** Returns the request of an entry. */
export const wantedOf = (entry: QueueEntry): Wanted => ({
	count: wantedCountOf(entry),
	ids: entry.requestedIds.length > 0 ? entry.requestedIds : undefined,
	need: entry.need,
});

/** Whether it wants instances of MIG, and no GPUs. */
export const wantsInstances = ({need}: QueueEntry): boolean => need?.mig !== undefined;

/** The instances that can serve an entry, each once; none for one that wants GPUs. */
export const eligibleInstancesOf = (
	{eligibleInstances = []}: QueueEntry,
	gpuCount: number,
): readonly EligibleInstance[] =>
	eligibleInstances.filter(
		({gpu, uuid}, position) =>
			Number.isSafeInteger(gpu) &&
			gpu >= 0 &&
			gpu < gpuCount &&
			eligibleInstances.findIndex((other) => other.uuid === uuid) === position,
	);

/**
The groups of GPUs of which an entry wants as many as {@link wantedCountOf} says. None: this pool cannot serve it, or no one knows a GPU that
could. The peer makes entries that cannot be served, and anybody may write to the store. An entry that wants instances has one group: the GPUs
that they are on.
*/
export function groupsOf(entry: QueueEntry, gpuCount: number): readonly GpuGroup[] {
	const {requestedIds, eligible} = entry;
	const count = wantedCountOf(entry);
	if (wantsInstances(entry)) {
		const instances = eligibleInstancesOf(entry, gpuCount);
		return Number.isSafeInteger(count) && count >= 1 && instances.length >= count
			? [[...new Set(instances.map(({gpu}) => gpu))].toSorted((a, b) => a - b)]
			: [];
	}

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

/** Whether this pool could ever serve the entry, as far as is known. Other entries claim nothing. */
export const isPossible = (entry: QueueEntry, gpuCount: number): boolean => groupsOf(entry, gpuCount).length > 0;

/** Whether the entry could use one of these GPUs. */
export const couldUse = (entry: QueueEntry, gpus: readonly number[], gpuCount: number): boolean =>
	groupsOf(entry, gpuCount).some((group) => gpus.some((index) => group.includes(index)));

/**
The same queue, in which entries have the instances that this scan shows besides those that they say themselves. An administrator may split
a GPU again, and no waiter has seen the new instances yet: until it looks, its entry claims those that it wants.

@param end - Position of the first entry that is left as it is: the caller's own.
*/
export const withSeenInstances = <View extends Pick<Snapshot, 'queue' | 'gpus'>>(
	view: View,
	observation: Observation,
	end = view.queue.length,
): View => ({
	...view,
	queue: view.queue.map((record, position) => {
		if (record.kind !== 'entry' || position >= end || !wantsInstances(record.entry)) {
			return record;
		}

		const {entry} = record;
		const {instances = []} = eligibilityOf(wantedOf(entry), observation, view.gpus.length, undefined);
		const seen = instances.map(({gpu, uuid}) => ({gpu, uuid}));
		return {...record, entry: {...entry, eligibleInstances: [...(entry.eligibleInstances ?? []), ...seen]}};
	}),
});

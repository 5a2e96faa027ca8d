/** Determines which GPUs a queue entry could get. Uses the stored entry, so that all readers agree. New MIG instances come from the reader's scan. */
import type {EligibleInstance, GpuGroup, Observation, QueueEntry, Snapshot} from '../../model/types.js';
import {eligibilityOf} from '../allocation/need.js';
import type {Wanted} from '../request/request.js';

export const wantedCountOf = ({requestedIds, requestedCount}: QueueEntry): number =>
	requestedIds.length > 0 ? requestedIds.length : requestedCount;

export const wantedOf = (entry: QueueEntry): Wanted => ({
	count: wantedCountOf(entry),
	ids: entry.requestedIds.length > 0 ? entry.requestedIds : undefined,
	need: entry.need,
});

export const wantsInstances = ({need}: QueueEntry): boolean => need?.mig !== undefined;

const isCount = (count: number): boolean => Number.isSafeInteger(count) && count >= 1;

/** Returns the distinct MIG instances that can serve an entry. Empty if the entry wants whole GPUs or shares. */
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
Returns the groups of GPUs that can serve an entry. Returns a single group for MIG instances, and none for an
impossible entry, which any program can store.
*/
export function groupsOf(entry: QueueEntry, gpuCount: number): readonly GpuGroup[] {
	const {requestedIds, eligible} = entry;
	const count = wantedCountOf(entry);
	if (wantsInstances(entry)) {
		const instances = eligibleInstancesOf(entry, gpuCount);
		return isCount(count) && instances.length >= count
			? [[...new Set(instances.map(({gpu}) => gpu))].toSorted((a, b) => a - b)]
			: [];
	}

	if (!isCount(count) || count > gpuCount) {
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

/** Whether this pool could ever serve the entry, as far as is known. No GPU is kept for an impossible entry. */
export const isPossible = (entry: QueueEntry, gpuCount: number): boolean => groupsOf(entry, gpuCount).length > 0;

/** Whether this pool could serve the entry if nothing about its GPUs were unknown. An administrator can create any MIG instances. */
export const mayBePossible = (entry: QueueEntry, gpuCount: number): boolean =>
	wantsInstances(entry) ? isCount(wantedCountOf(entry)) : isPossible({...entry, eligible: undefined}, gpuCount);

export const couldUse = (entry: QueueEntry, gpus: readonly number[], gpuCount: number): boolean =>
	groupsOf(entry, gpuCount).some((group) => gpus.some((index) => group.includes(index)));

/**
Adds the MIG instances of this scan to entries that can use them. After an administrator splits a GPU, the new instances are then kept for an earlier
entry even before its waiting command has seen them. Entries at or after `end`, the caller's position, stay unchanged.
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

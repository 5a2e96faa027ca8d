import {isAwakeOn, leaseFor, type AcquireRequest} from './acquisition.js';
import {blockOfUse} from './allocation.js';
import {planAdvance, type Advance} from './advance.js';
import type {World} from './ports.js';
import type {Observation, Snapshot} from './types.js';

type Options = {
	readonly request: AcquireRequest;
	readonly leaseId: string;
	readonly entryId: string;
	readonly look: () => Promise<Observation>;
	/** Told of what was seen, when it goes with what was read. */
	readonly seen?: (observation: Observation) => void;
};

/**
What whoever waits may take now. The GPUs are looked at only when there is something to take by the records: a release wakes one scan
and not a herd.

@returns `read again` when the look is newer than what was read: scan, then read, then commit.
*/
export async function planWithLook(
	{host, clock, memoryThresholdMiB}: World,
	snapshot: Snapshot,
	{request, leaseId, entryId, look, seen}: Options,
): Promise<Advance | 'read again'> {
	const options = {
		lease: leaseFor(request, leaseId, host, snapshot.now),
		isAwake: isAwakeOn(host),
		host: host.hostname,
		force: request.force,
	};
	const blind = planAdvance(snapshot, entryId, {...options, isUsable: () => true});
	if (blind.kind === 'nothing' || request.force === true) {
		return blind;
	}

	const readAtMs = clock.monotonicMs();
	const observation = await look();
	if (observation.takenAtMs > readAtMs) {
		return 'read again';
	}

	seen?.(observation);

	const isUsable = (index: number): boolean => blockOfUse(index, observation, memoryThresholdMiB) === undefined;
	return planAdvance(snapshot, entryId, {...options, isUsable});
}

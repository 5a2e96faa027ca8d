import {isAwakeOn, leaseFor, type AcquireRequest} from './acquisition.js';
import {planAdvance, type Advance} from './advance.js';
import type {World} from './ports.js';
import type {Observation, Snapshot} from './types.js';
import {useOf} from './use.js';

type Options = {
	readonly request: AcquireRequest;
	readonly leaseId: string;
	readonly entryId: string;
	readonly look: () => Promise<Observation>;
};

/**
What whoever waits may take now. The GPUs are looked at only when there is something to take by the records: a release wakes one scan
and not a herd.

@returns `read again` when the look is newer than what was read: scan, then read, then commit.
*/
export async function planWithLook(
	{host, clock, memoryThresholdMiB}: World,
	snapshot: Snapshot,
	{request, leaseId, entryId, look}: Options,
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
	const {takenAtMs, failure, gpus} = await look();
	if (takenAtMs > readAtMs) {
		return 'read again';
	}

	const isIdle = (index: number): boolean =>
		useOf(
			gpus.find((gpu) => gpu.index === index),
			memoryThresholdMiB,
		).kind === 'idle';
	return planAdvance(snapshot, entryId, {...options, isUsable: (index) => failure === undefined && isIdle(index)});
}

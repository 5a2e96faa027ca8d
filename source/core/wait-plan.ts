import {isAwakeOn, leaseFor, type AcquireRequest} from './acquisition.js';
import {blockOfUse, type UnusableGpu} from './allocation.js';
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

/** `unusable`: what by the records is nobody's, and by the look not to be had, of what is waited for. */
export type LookedAdvance =
	| Exclude<Advance, {kind: 'nothing'}>
	| (Extract<Advance, {kind: 'nothing'}> & {readonly unusable: readonly UnusableGpu[]});

/**
What whoever waits may take now. The GPUs are looked at only when there is something to take by the records: a release wakes one scan
and not a herd.

@returns `read again` when the look is newer than what was read: scan, then read, then commit.
*/
export async function planWithLook(
	{host, clock, memoryThresholdMiB}: World,
	snapshot: Snapshot,
	{request, leaseId, entryId, look, seen}: Options,
): Promise<LookedAdvance | 'read again'> {
	const options = {
		lease: leaseFor(request, leaseId, host, snapshot.now),
		isAwake: isAwakeOn(host),
		host: host.hostname,
		force: request.force,
	};
	const blind = planAdvance(snapshot, entryId, {...options, isUsable: () => true});
	if (blind.kind === 'nothing') {
		return {...blind, unusable: []};
	}

	if (request.force === true) {
		return blind;
	}

	const readAtMs = clock.monotonicMs();
	const observation = await look();
	if (observation.takenAtMs > readAtMs) {
		return 'read again';
	}

	seen?.(observation);

	const blockAt = (index: number) => blockOfUse(index, observation, memoryThresholdMiB);
	const advance = planAdvance(snapshot, entryId, {...options, isUsable: (index) => blockAt(index) === undefined});
	if (advance.kind !== 'nothing') {
		return advance;
	}

	const unusable = snapshot.gpus.flatMap(({kind, index}) => {
		const block = kind === 'free' && (request.ids?.includes(index) ?? true) ? blockAt(index) : undefined;
		return block === undefined ? [] : [{index, block}];
	});
	return {...advance, unusable};
}

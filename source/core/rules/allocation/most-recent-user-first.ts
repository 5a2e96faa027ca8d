import type {Candidate, Strategy} from './strategy.js';

const rank = (a: Candidate, b: Candidate): number => {
	if (a.lastUsedByRequester !== b.lastUsedByRequester) {
		return (b.lastUsedByRequester ?? -Infinity) - (a.lastUsedByRequester ?? -Infinity);
	}

	return a.lastReleased === b.lastReleased
		? a.index - b.index
		: (a.lastReleased ?? -Infinity) - (b.lastReleased ?? -Infinity);
};

/**
The GPUs that this user used last come first (their caches and habits are there); then the one released longest ago, never
used before all others; then the lowest index.
*/
export const mostRecentUserFirst: Strategy = (candidates) => [...candidates].toSorted(rank);

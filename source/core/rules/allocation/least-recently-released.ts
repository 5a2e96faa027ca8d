import type {Strategy} from './strategy.js';

/** The GPU that was given back longest ago comes first, one that was never used before all others; then the lowest index. */
export const leastRecentlyReleased: Strategy = (candidates) =>
	[...candidates].toSorted((a, b) =>
		a.lastReleased === b.lastReleased
			? a.index - b.index
			: (a.lastReleased ?? -Infinity) - (b.lastReleased ?? -Infinity),
	);

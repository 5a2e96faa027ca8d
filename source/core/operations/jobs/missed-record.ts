import type {World} from '../../model/ports.js';
import {longestMissSeconds} from '../../rules/jobs/start.js';

/**
Returns a function that is called after each attempt to read the record of a job, with whether the record was missing. It returns true once the record
has been missing for so long that no wrapper will write it back. An attempt that failed counts as not missing, because the wrapper may not reach the
store either.
*/
export function watchForLoss({clock}: Pick<World, 'clock'>): (isMissing: boolean) => boolean {
	let missedSinceMs: number | undefined;
	return (isMissing) => {
		missedSinceMs = isMissing ? (missedSinceMs ?? clock.monotonicMs()) : undefined;
		return missedSinceMs !== undefined && clock.monotonicMs() - missedSinceMs > longestMissSeconds * 1000;
	};
}

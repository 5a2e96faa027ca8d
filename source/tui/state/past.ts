/** The past as the monitor shows it, for graphs that go further back than it has been open. */
import type {Past} from '../../core/operations/history/past.js';
import type {PastRange} from './panels/state.js';

/** What was read, or why it could not be. */
export type ShownPast =
	{readonly kind: 'read'; readonly past: Past} | {readonly kind: 'failed'; readonly reason: string};

export type PastUpdate = {readonly kind: 'past-arrived'; readonly past: ShownPast};

/** The range that the monitor sees for itself: all others are read from the store. */
export const ownRange: PastRange = 5;

/** Such as `6h`. */
export const rangeWord = (range: PastRange): string => (range < 60 ? `${range}m` : `${range / 60}h`);

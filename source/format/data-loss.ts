/** What every face says after the store had lost its data. */
import type {DataLoss} from '../core/model/types.js';

/**
One line for people.

@param formatTime - Writes seconds since the epoch as a time of day.
*/
export function dataLossText({restoredAt, readAt}: DataLoss, formatTime: (seconds: number) => string): string {
	const read = formatTime(readAt);
	return `The store lost its data; restored at ${formatTime(restoredAt)} from what was read at ${read}: what was reserved, released or changed after ${read} is lost`;
}

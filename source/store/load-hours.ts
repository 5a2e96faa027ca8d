import {loadHours, longestLoadHour} from '../core/model/ports.js';

/** Returns the hours to read: at most as many as are kept, the newest, and none before the epoch. */
export function hoursBetween(fromHour: number, toHour: number): readonly number[] {
	const first = Math.max(0, fromHour, oldestLoadHour(toHour));
	return Array.from({length: Math.max(0, toHour - first + 1)}, (_, index) => first + index);
}

/** Returns the oldest hour to keep. */
export const oldestLoadHour = (hour: number): number => hour - loadHours + 1;

export const isLoadText = (text: string | undefined): text is string =>
	text !== undefined && text.length <= longestLoadHour;

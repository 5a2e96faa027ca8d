import {loadHours, longestLoadHour} from '../core/model/ports.js';

/** Returns the hours to read, without hours before the epoch. If the range is longer than the history, returns its newest hours. */
export function hoursBetween(fromHour: number, toHour: number): readonly number[] {
	const first = Math.max(0, fromHour, oldestLoadHour(toHour));
	return Array.from({length: Math.max(0, toHour - first + 1)}, (_, index) => first + index);
}

export const oldestLoadHour = (hour: number): number => hour - loadHours + 1;

export const isLoadText = (text: string | undefined): text is string =>
	text !== undefined && text.length <= longestLoadHour;

/** The hours of the load history, as every store keeps them. */
import {loadHours, longestLoadHour} from '../core/model/ports.js';

/** The hours that may be asked for; none before the epoch, and of more than are kept the newest. */
export function hoursBetween(fromHour: number, toHour: number): readonly number[] {
	const first = Math.max(0, fromHour, oldestLoadHour(toHour));
	return Array.from({length: Math.max(0, toHour - first + 1)}, (_, index) => first + index);
}

/** The first hour that is kept beside this one. */
export const oldestLoadHour = (hour: number): number => hour - loadHours + 1;

export const isLoadText = (text: string | undefined): text is string =>
	text !== undefined && text.length <= longestLoadHour;

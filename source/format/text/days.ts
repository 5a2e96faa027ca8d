import {timestamp, twoDigits} from './durations.js';

export function localDay(time: number): {readonly key: string; readonly next: number} {
	const date = new Date(time * 1000);
	const key = `${date.getFullYear()}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())}`;
	return {key, next: new Date(date.getFullYear(), date.getMonth(), date.getDate() + 1).getTime() / 1000};
}

export function localHour(time: number): {readonly key: string; readonly next: number} {
	const date = new Date(time * 1000);
	// `setMinutes` would go to the first of two equal hours when clocks are set back.
	const start = Math.floor(time) - date.getMinutes() * 60 - date.getSeconds();
	return {key: timestamp(start), next: start + 3600};
}

/** Formats a local time, with the date if it is not today. */
function timeOfDay(time: number, now: number, parts: (date: Date) => readonly number[]): string {
	const clock = parts(new Date(time * 1000))
		.map((part) => twoDigits(part))
		.join(':');
	const {key} = localDay(time);
	return key === localDay(now).key ? clock : `${key} ${clock}`;
}

export const clockTime = (time: number, now: number): string =>
	timeOfDay(time, now, (date) => [date.getHours(), date.getMinutes()]);

export const eventTime = (time: number, now: number): string =>
	timeOfDay(time, now, (date) => [date.getHours(), date.getMinutes(), date.getSeconds()]);

/** Parses a local day as seconds since the epoch, from midnight to midnight. Undefined for anything else. */
export function dayNamed(name: string): {readonly from: number; readonly to: number} | undefined {
	const isDay = /^\d{4}-\d\d-\d\d$/v.test(name);
	// `Date` reads a time without an offset as local.
	const from = isDay ? new Date(`${name}T00:00:00`).getTime() / 1000 : NaN;
	// `Date` turns a date that does not exist, such as February 30, into another.
	return Number.isNaN(from) || localDay(from).key !== name ? undefined : {from, to: localDay(from).next};
}

import {timestamp, twoDigits} from './durations.js';

/** A day of this machine's time zone: its name, and when the next begins. */
export function localDay(time: number): {readonly key: string; readonly next: number} {
	const date = new Date(time * 1000);
	const key = `${date.getFullYear()}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())}`;
	return {key, next: new Date(date.getFullYear(), date.getMonth(), date.getDate() + 1).getTime() / 1000};
}

/** An hour of this machine's time zone: when it begins, and when the next does. */
export function localHour(time: number): {readonly key: string; readonly next: number} {
	const start = new Date(time * 1000).setMinutes(0, 0, 0) / 1000;
	return {key: timestamp(start), next: start + 3600};
}

/** A time of day here, with its date where that is not today's. */
function timeOfDay(time: number, now: number, parts: (date: Date) => readonly number[]): string {
	const clock = parts(new Date(time * 1000))
		.map((part) => twoDigits(part))
		.join(':');
	const {key} = localDay(time);
	return key === localDay(now).key ? clock : `${key} ${clock}`;
}

/** `15:20`, `2026-05-01 15:20`. */
export const clockTime = (time: number, now: number): string =>
	timeOfDay(time, now, (date) => [date.getHours(), date.getMinutes()]);

/** `15:20:05`, `2026-05-01 15:20:05`. */
export const eventTime = (time: number, now: number): string =>
	timeOfDay(time, now, (date) => [date.getHours(), date.getMinutes(), date.getSeconds()]);

/** The day of this name, from its midnight to the next, in seconds since the epoch. Undefined for what is no day. */
export function dayNamed(name: string): {readonly from: number; readonly to: number} | undefined {
	const isDay = /^\d{4}-\d\d-\d\d$/v.test(name);
	// Without an offset the time is of this machine's time zone.
	const from = isDay ? new Date(`${name}T00:00:00`).getTime() / 1000 : NaN;
	// A date that there is not, such as February 30, is another one by its time.
	return Number.isNaN(from) || localDay(from).key !== name ? undefined : {from, to: localDay(from).next};
}

import {timestamp} from './durations.js';

/** A day of this machine's time zone: its name, and when the next begins. */
export function localDay(time: number): {readonly key: string; readonly next: number} {
	const date = new Date(time * 1000);
	const pad = (value: number): string => String(value).padStart(2, '0');
	const key = `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
	return {key, next: new Date(date.getFullYear(), date.getMonth(), date.getDate() + 1).getTime() / 1000};
}

/** An hour of this machine's time zone: when it begins, and when the next does. */
export function localHour(time: number): {readonly key: string; readonly next: number} {
	const start = new Date(time * 1000).setMinutes(0, 0, 0) / 1000;
	return {key: timestamp(start), next: start + 3600};
}

/** A time of day here, to the minute, with its date where that is not today's: `15:20`, `2026-05-01 15:20`. */
export function clockTime(time: number, now: number): string {
	const date = new Date(time * 1000);
	const clock = [date.getHours(), date.getMinutes()].map((part) => String(part).padStart(2, '0')).join(':');
	const {key} = localDay(time);
	return key === localDay(now).key ? clock : `${key} ${clock}`;
}

/** The day of this name, from its midnight to the next, in seconds since the epoch. Undefined for what is no day. */
export function dayNamed(name: string): {readonly from: number; readonly to: number} | undefined {
	const isDay = /^\d{4}-\d\d-\d\d$/v.test(name);
	// Without an offset the time is of this machine's time zone.
	const from = isDay ? new Date(`${name}T00:00:00`).getTime() / 1000 : NaN;
	// A date that there is not, such as February 30, is another one by its time.
	return Number.isNaN(from) || localDay(from).key !== name ? undefined : {from, to: localDay(from).next};
}

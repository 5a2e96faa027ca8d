/** Parses and formats stored times, which are either seconds since the Unix epoch or RFC 3339 as printed by Go. */
import {latestTime} from '../../../core/model/types.js';

/** The last second of the year 9999, after which RFC 3339 has no years. */
const lastToSay = 253_402_300_799;

/** The first second of the year 1. Go prints this zero time if a time is not set. */
const goZeroTime = -62_135_596_800;

const rfc3339Pattern =
	/^(?<date>\d{4}-\d\d-\d\d)[ t](?<time>\d\d:\d\d:\d\d)(?:[,.](?<fraction>\d+))?(?<offset>z|[+\-]\d\d:?\d\d)$/iv;

const zero = 48;

/** Parses digits at a position. Returns NaN if there are other characters. */
function digitsAt(text: string, index: number, count: number): number {
	let value = 0;
	for (let at = index; at < index + count; at++) {
		const digit = (text.codePointAt(at) ?? 0) - zero;
		value = digit >= 0 && digit <= 9 ? value * 10 + digit : NaN;
	}

	return value;
}

const secondsOfDay = 86_400;

/** Cache of midnights by date, because a history has millions of times on few days. */
const midnights = new Map<string, number>();
const mostMidnights = 1000;

function midnightOf(date: string): number {
	const known = midnights.get(date);
	if (known !== undefined) {
		return known;
	}

	if (midnights.size >= mostMidnights) {
		midnights.clear();
	}

	const midnight = parseRfc3339(`${date}T00:00:00Z`) ?? NaN;
	midnights.set(date, midnight);
	return midnight;
}

/** Parses the usual format, `2026-11-21T14:32:07.25Z`, six times as fast as a regular expression would. Returns undefined for other formats. */
function parseCanonical(text: string): number | undefined {
	const last = text.length - 1;
	const isCanonical =
		last >= 19 && last <= 29 && text[10] === 'T' && text[13] === ':' && text[16] === ':' && text[last] === 'Z';
	if (!isCanonical || (last > 19 && text[19] !== '.')) {
		return undefined;
	}

	const hours = digitsAt(text, 11, 2);
	const minutes = digitsAt(text, 14, 2);
	const seconds = digitsAt(text, 17, 2);
	const fractionLength = Math.max(0, last - 20);
	const fraction = fractionLength === 0 ? 0 : digitsAt(text, 20, fractionLength) / 10 ** fractionLength;
	const isPossible = hours < 24 && minutes < 60 && seconds < 60 && last !== 20;
	const time = midnightOf(text.slice(0, 10)) + hours * 3600 + minutes * 60 + seconds + fraction;
	return isPossible && !Number.isNaN(time) ? time : undefined;
}

function parseRfc3339(text: string): number | undefined {
	const {date, time, fraction, offset} = rfc3339Pattern.exec(text)?.groups ?? {};
	if (date === undefined || time === undefined || offset === undefined) {
		return undefined;
	}

	// Treats a leap second (:60) as the second before it.
	const utc = Date.parse(`${date}T${time.endsWith(':60') ? time.replace(/:60$/v, ':59') : time}Z`);
	// JavaScript accepts February 30 as March 2, and 24:00 as the next day.
	if (new Date(utc).getUTCDate() !== Number(date.slice(-2))) {
		return undefined;
	}

	let offsetSeconds = 0;
	if (offset.length > 1) {
		const hours = Number(offset.slice(1, 3));
		const minutes = Number(offset.slice(-2));
		if (hours > 23 || minutes > 59) {
			return undefined;
		}

		offsetSeconds = (offset.startsWith('-') ? -1 : 1) * (hours * 3600 + minutes * 60);
	}

	return utc / 1000 - offsetSeconds + Number(`0.${fraction ?? 0}`);
}

/** Parses seconds (a number or text) or RFC 3339. Undefined if not set (`null`, an empty string, Go's zero time). `'invalid'` for anything else. */
export function parseTime(value: unknown): number | undefined | 'invalid' {
	// Three comparisons are faster than a list, and a report of a million records calls this function twice per record.
	// eslint-disable-next-line unicorn/prefer-includes-over-repeated-comparisons
	if (value === undefined || value === null || value === '') {
		return undefined;
	}

	let seconds: number | undefined;
	if (typeof value === 'number') {
		seconds = value;
	} else if (typeof value === 'string') {
		seconds = parseCanonical(value) ?? (/^-?\d+(?:\.\d+)?$/v.test(value) ? Number(value) : parseRfc3339(value));
	}

	if (seconds === goZeroTime) {
		return undefined;
	}

	return seconds !== undefined && seconds > goZeroTime && seconds <= latestTime ? seconds : 'invalid';
}

/** Returns its argument. Throws RangeError (a bug of the caller) for a time that cannot be stored. */
export function checkTime(seconds: number): number {
	if (!(seconds > goZeroTime && seconds <= latestTime)) {
		throw new RangeError(`A time to be stored is ${seconds}`);
	}

	return seconds;
}

/** Cache of the last formatted day, because most written times are on the same day. */
let lastDate = {day: 0, text: '1970-01-01'};

/** Formats a date. `day` is the number of days since the epoch. */
function dateOf(day: number): string {
	if (day !== lastDate.day) {
		lastDate = {day, text: new Date(day * secondsOfDay * 1000).toISOString().slice(0, 10)};
	}

	return lastDate.text;
}

const twoDigits = (value: number): string => (value < 10 ? `0${value}` : String(value));

/** Formats a time like Go: RFC 3339 in UTC with up to six decimals. Times after the year 9999 become the end of 9999. */
export function formatRfc3339(seconds: number): string {
	const microseconds = Math.round(Math.min(checkTime(seconds), lastToSay) * 1e6);
	const whole = Math.floor(microseconds / 1e6);
	const ofDay = whole - Math.floor(whole / secondsOfDay) * secondsOfDay;
	const clock = [Math.floor(ofDay / 3600), Math.floor(ofDay / 60) % 60, ofDay % 60].map((part) => twoDigits(part));
	const fraction = microseconds - whole * 1e6;
	// JavaScript prints a fraction without trailing zeros: 0.25 is `.25`.
	return `${dateOf(Math.floor(whole / secondsOfDay))}T${clock.join(':')}${fraction === 0 ? '' : String(fraction / 1e6).slice(1)}Z`;
}

/** Rounds the time of an event down to whole seconds, so that it is never later than the event. */
export function wholePast(seconds: number): number {
	checkTime(seconds);
	return Math.floor(seconds);
}

/** Rounds the end of a lease up to whole seconds, so that the lease never ends earlier than promised. */
export function wholePromise(seconds: number): number {
	// An end before 1970 would make the record invalid: see `end` in fields.ts.
	if (seconds < 0) {
		throw new RangeError(`Cannot store an end time before 1970: ${seconds}`);
	}

	return Math.ceil(checkTime(seconds));
}

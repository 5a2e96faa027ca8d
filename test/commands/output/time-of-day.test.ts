/** Checks `--until` and `--since` against clocks that are read minute by minute. */
import process from 'node:process';
import fc from 'fast-check';
import {afterEach, describe, expect, test} from 'vitest';
import {parseSince, parseTimeOfDay} from '../../../source/commands/shared/time-of-day.js';

const given = process.env['TZ'];

afterEach(() => {
	if (given === undefined) {
		delete process.env['TZ'];
	} else {
		process.env['TZ'] = given;
	}
});

const minuteMs = 60_000;

/**
Zones with and without summer time, with offsets of half and quarter hours, with a change of half an hour, and beyond
the date line.
*/
const zones = [
	'UTC',
	'Europe/Berlin',
	'America/New_York',
	'America/St_Johns',
	'Australia/Lord_Howe',
	'Asia/Kathmandu',
	'Pacific/Chatham',
	'Pacific/Kiritimati',
	'America/Santiago',
	'Africa/Cairo',
];

const formats = new Map(
	zones.map((zone) => [
		zone,
		new Intl.DateTimeFormat('en-GB', {
			timeZone: zone,
			hourCycle: 'h23',
			year: 'numeric',
			month: '2-digit',
			day: '2-digit',
			hour: '2-digit',
			minute: '2-digit',
		}),
	]),
);

/** Returns the local time as minutes, independent of the zone. */
function shownMinutes(zone: string, instantMs: number): number {
	const parts = Object.fromEntries(
		formats
			.get(zone)!
			.formatToParts(instantMs)
			.map(({type, value}) => [type, Number(value)]),
	);
	return Date.UTC(parts['year']!, parts['month']! - 1, parts['day'], parts['hour'], parts['minute']) / minuteMs;
}

/** Returns the next instant at which the clock shows or skips the time of day, found minute by minute. */
function nextByScanning(zone: string, nowMs: number, minuteOfDay: number): number {
	const first = Math.floor(nowMs / minuteMs);
	let before = shownMinutes(zone, first * minuteMs);
	for (let minute = first + 1; minute < first + 3 * 1440; minute++) {
		const shown = shownMinutes(zone, minute * minuteMs);
		if (shown % 1440 === minuteOfDay) {
			return minute * 60;
		}

		for (let skipped = before + 1; skipped < shown; skipped++) {
			if (skipped % 1440 === minuteOfDay) {
				return (minute + skipped - before - 1) * 60;
			}
		}

		before = shown;
	}

	throw new Error('The clock never showed it');
}

const twoDigits = (value: number): string => String(value).padStart(2, '0');

/** Nights with clock changes, and other times. */
const changes = [
	'2026-03-08T07:00Z',
	'2026-03-29T01:00Z',
	'2026-04-04T15:00Z',
	'2026-04-05T03:00Z',
	'2026-09-06T04:00Z',
	'2026-09-26T14:00Z',
	'2026-10-03T15:30Z',
	'2026-10-25T01:00Z',
	'2026-11-01T06:00Z',
	'2026-04-23T22:00Z',
	'2026-10-29T21:00Z',
].map((text) => Date.parse(text));

const anyNow = fc.oneof(
	fc
		.tuple(fc.constantFrom(...changes), fc.integer({min: -180, max: 180}))
		.map(([change, minutes]) => change + minutes * minuteMs),
	fc.integer({min: Date.UTC(2025, 0), max: Date.UTC(2035, 0)}),
);

test('parseTimeOfDay returns the next instant at which the local clock shows the time', () => {
	fc.assert(
		fc.property(fc.constantFrom(...zones), anyNow, fc.integer({min: -120, max: 1440}), (zone, nowMs, ahead) => {
			process.env['TZ'] = zone;
			const minuteOfDay = (((shownMinutes(zone, nowMs) + ahead) % 1440) + 1440) % 1440;
			const typed = `${twoDigits(Math.floor(minuteOfDay / 60))}:${twoDigits(minuteOfDay % 60)}`;
			expect([zone, new Date(nowMs), typed, parseTimeOfDay(typed, {now: new Date(nowMs)})]).toEqual([
				zone,
				new Date(nowMs),
				typed,
				nextByScanning(zone, nowMs, minuteOfDay),
			]);
		}),
		{numRuns: 300},
	);
});

test('parseSince accepts each local time that the clock has shown, and returns when it was first shown', () => {
	fc.assert(
		fc.property(fc.constantFrom(...zones), anyNow, fc.integer({min: 0, max: 180}), (zone, nowMs, agoMinutes) => {
			process.env['TZ'] = zone;
			const then = Math.floor(nowMs / minuteMs) - agoMinutes;
			const wall = shownMinutes(zone, then * minuteMs);
			// Clocks are set back by at most a day, to the same minute or half hour.
			const first = [1440, 60, 30]
				.map((back) => then - back)
				.find((minute) => shownMinutes(zone, minute * minuteMs) === wall);
			const typed = new Date(wall * minuteMs).toISOString().slice(0, 16);
			expect([zone, typed, parseSince(typed, new Date(nowMs))]).toEqual([zone, typed, {time: (first ?? then) * 60}]);
		}),
		{numRuns: 300, examples: [['Europe/Berlin', Date.parse('2026-10-25T00:40Z'), 10]]},
	);
});

const leapYear = (year: number): boolean => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
const daysOf = (year: number, month: number): number =>
	[31, leapYear(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0;

test('parseTimeOfDay accepts only existing dates and returns the instant at which the local clock shows the date', () => {
	fc.assert(
		fc.property(
			fc.constantFrom(...zones),
			fc.integer({min: 2000, max: 2099}),
			fc.integer({min: 0, max: 13}),
			fc.integer({min: 0, max: 32}),
			fc.integer({min: 0, max: 25}),
			fc.integer({min: 0, max: 61}),
			fc.constantFrom('', 'Z', '+05:30', '-08:00'),
			(zone, year, month, day, hours, minutes, offset) => {
				process.env['TZ'] = zone;
				const typed = `${year}-${twoDigits(month)}-${twoDigits(day)}T${twoDigits(hours)}:${twoDigits(minutes)}${offset}`;
				const isReal = day >= 1 && day <= daysOf(year, month) && hours < 24 && minutes < 60;
				if (!isReal) {
					expect(() => parseTimeOfDay(typed)).toThrow(`--until: "${typed}" is not a time`);
					return;
				}

				const instant = parseTimeOfDay(typed);
				const wall = Date.UTC(year, month - 1, day, hours, minutes) / minuteMs;
				if (offset === '') {
					const ahead = shownMinutes(zone, instant * 1000) - wall;
					// The time is in a gap, where the clock is ahead by the length of the gap.
					expect(ahead === 0 || shownMinutes(zone, instant * 1000 - ahead * minuteMs) !== wall).toBe(true);
					expect([0, 30, 60, 1440]).toContain(ahead);
				} else {
					const offsetMinutes = {Z: 0, '+05:30': 330, '-08:00': -480}[offset];
					expect(instant).toBe((wall - offsetMinutes) * 60);
				}
			},
		),
		{numRuns: 2000},
	);
});

describe('parseTimeOfDay around clock changes in Berlin', () => {
	// Clocks go back from 03:00 to 02:00 at 01:00 UTC, and forward from 02:00 to 03:00 on March 29.
	test.each([
		['2026-10-25T00:15Z', '02:30', '2026-10-25T00:30Z'],
		['2026-10-25T00:45Z', '02:30', '2026-10-25T01:30Z'],
		['2026-10-25T01:45Z', '02:30', '2026-10-26T01:30Z'],
		['2026-10-25T00:45Z', '2026-10-25T02:30', '2026-10-25T01:30Z'],
		['2026-10-24T12:00Z', '2026-10-25T02:30', '2026-10-25T00:30Z'],
		['2026-10-25T12:00Z', '2026-10-25T02:30', '2026-10-25T01:30Z'],
		['2026-03-29T00:45Z', '02:30', '2026-03-29T01:30Z'],
		['2026-03-29T01:10Z', '02:30', '2026-03-30T00:30Z'],
		['2026-03-28T12:00Z', '2026-03-29', '2026-03-28T23:00Z'],
	])('at %s, %s means %s', (now, typed, expected) => {
		process.env['TZ'] = 'Europe/Berlin';
		expect(new Date(parseTimeOfDay(typed, {now: new Date(now)}) * 1000)).toEqual(new Date(expected));
	});
});

test.each([
	'2027-02-31',
	'2027-02-31T10:00',
	'2027-02-31T10:00Z',
	'2027-02-29',
	'2026-04-31',
	'2026-13-01',
	'2026-00-10',
	'2026-01-00',
	'2026-05-01T24:00',
	'2026-05-01T10:60',
	'2026-05-01T10:00:60',
	'2026-05-01T10:00+25:00',
])('parseTimeOfDay refuses %s because there is no such date or time', (typed) => {
	expect(() => parseTimeOfDay(typed)).toThrow(
		expect.objectContaining({
			code: 'usage',
			message: `--until: "${typed}" is not a time`,
			hint: 'There is no such date or time. Write 18:30, 2026-05-01 or 2026-05-01T18:30.',
		}),
	);
});

test.each(['24:00', '18:60', 'tomorrow', '', '2026-5-1', '18', '2026-05-01T18'])('%j is refused as a time', (typed) => {
	expect(() => parseTimeOfDay(typed)).toThrow('is not a time');
});

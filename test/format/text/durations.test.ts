import {expect, test} from 'vitest';
import {
	longDuration,
	setDuration,
	shortDuration,
	timestamp,
	typedDuration,
} from '../../../source/format/text/durations.js';

test.each([
	[0, '0h 0m 0s', '0s'],
	[5.9, '0h 0m 5s', '5s'],
	[-3, '0h 0m 0s', '0s'],
	[60, '0h 1m 0s', '1m'],
	[3735, '1h 2m 15s', '1h02m'],
	[86_400, '24h 0m 0s', '24h00m'],
	[360_000, '100h 0m 0s', '4d04h'],
])('%d seconds is written as "%s" in the long form and "%s" in the short form', (seconds, long, short) => {
	expect(longDuration(seconds)).toBe(long);
	expect(shortDuration(seconds)).toBe(short);
});

test('typedDuration writes a duration in its shortest form', () => {
	expect([1, 59, 5400, 28_800, 93_784].map((seconds) => typedDuration(seconds))).toEqual([
		'1s',
		'59s',
		'1h30m',
		'8h',
		'1d2h3m4s',
	]);
});

test('timestamp returns a time in UTC', () => {
	expect(timestamp(1_800_000_000)).toBe('2027-01-15T08:00:00Z');
	expect(timestamp(1_800_000_000.25)).toBe('2027-01-15T08:00:00.250Z');
});

test.each([
	[0.3, '0h 0m 0.3s'],
	[1.5, '0h 0m 1.5s'],
	[5400.3, '1h 30m 0.3s'],
	[59.9999, '0h 0m 59.9999s'],
	[3600, '1h 0m 0s'],
])('setDuration writes %d seconds as "%s"', (seconds, text) => {
	expect(setDuration(seconds)).toBe(text);
});

import process from 'node:process';
import fc from 'fast-check';
import {afterEach, beforeEach, expect, test} from 'vitest';
import {afterQuiet, parseQuietTime, quietEnd, quietTimeText} from '../../../../source/core/rules/notices/quiet.js';

let zone: string | undefined;

beforeEach(() => {
	zone = process.env['TZ'];
	process.env['TZ'] = 'Europe/Berlin';
});

afterEach(() => {
	if (zone === undefined) {
		delete process.env['TZ'];
	} else {
		process.env['TZ'] = zone;
	}
});

const at = (local: string): number => new Date(local).getTime() / 1000;

test.each(['', '22:00', '22-07', '24:00-07:00', '22:60-07:00', '22:00-22:00', '22:00-07:00-08:00', 'x22:00-07:00'])(
	'parseQuietTime rejects %j',
	(text) => {
		expect(parseQuietTime(text)).toBeUndefined();
	},
);

test('parseQuietTime reads what quietTimeText writes', () => {
	expect(parseQuietTime(' 22:00 - 7:05 ')).toEqual({from: 1320, until: 425});
	expect(quietTimeText({from: 1320, until: 425})).toBe('22:00-07:05');
});

test.each([
	['2026-05-01T21:59', undefined],
	['2026-05-01T22:00', '2026-05-02T07:00'],
	['2026-05-01T23:30', '2026-05-02T07:00'],
	['2026-05-02T06:59', '2026-05-02T07:00'],
	['2026-05-02T07:00', undefined],
	['2026-12-31T23:00', '2027-01-01T07:00'],
	// The clocks change in these nights.
	['2026-03-28T23:00', '2026-03-29T07:00'],
	['2026-10-24T23:00', '2026-10-25T07:00'],
])('quietEnd for 22:00-07:00 at %s returns %s', (now, end) => {
	expect(quietEnd(at(now), {from: 1320, until: 420})).toBe(end === undefined ? undefined : at(end));
});

test('quietEnd for a quiet time within one day returns a time on that day', () => {
	const noon = {from: 720, until: 780};
	expect(quietEnd(at('2026-05-01T12:30'), noon)).toBe(at('2026-05-01T13:00'));
	expect(quietEnd(at('2026-05-01T23:30'), noon)).toBeUndefined();
});

test("afterQuiet delays a notice to the end of the quiet time, but not beyond the notice's latest time", () => {
	const quiet = {from: 1320, until: 420};
	const night = at('2026-05-01T23:00');
	const morning = at('2026-05-02T07:00');
	expect(afterQuiet(night, quiet, Infinity)).toBe(morning);
	expect(afterQuiet(night, quiet, morning)).toBe(morning);
	expect(afterQuiet(night, quiet, morning - 1)).toBe(night);
	expect(afterQuiet(night, undefined, Infinity)).toBe(night);
});

test('quietEnd returns a later time outside of the quiet time, less than 25 hours away', () => {
	const minute = fc.integer({min: 0, max: 1439});
	fc.assert(
		fc.property(minute, minute, fc.integer({min: 1_700_000_000, max: 1_900_000_000}), (from, until, now) => {
			fc.pre(from !== until);
			const end = quietEnd(now, {from, until});
			if (end === undefined) {
				return;
			}

			expect(end).toBeGreaterThan(now);
			expect(end - now).toBeLessThanOrEqual(25 * 3600);
			expect(quietEnd(end, {from, until}) ?? end).toBe(end);
		}),
	);
});

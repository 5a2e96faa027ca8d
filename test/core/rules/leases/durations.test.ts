import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {parseDuration} from '../../../../source/core/rules/leases/durations.js';
import {typedDuration} from '../../../../source/format/text/durations.js';

describe('parseDuration', () => {
	test.each([
		['30s', 30],
		['30m', 1800],
		['2h', 7200],
		['1d', 86_400],
		['0.5h', 1800],
		['1.5d', 129_600],
		['1h30m', 5400],
		[' 2h ', 7200],
		['1d2h3m4s', 93_784],
	])('reads %s as %d seconds', (text, seconds) => {
		expect(parseDuration(text, '--duration')).toBe(seconds);
	});

	test.each([
		['90', '--duration: "90" has no unit'],
		['0', '--duration: "0" is not a duration'],
		['', '--duration: "" is not a duration'],
		['abc', '--duration: "abc" is not a duration'],
		['-1h', '--duration: "-1h" is not a duration'],
		['1h1h', '--duration: "1h1h" repeats a unit, or its units are out of order'],
		['5m1h', '--duration: "5m1h" repeats a unit, or its units are out of order'],
		['0h', '--duration must be more than zero, not "0h"'],
		['0.0s', '--duration must be more than zero, not "0.0s"'],
		['99999d', '--duration: "99999d" is longer than a hundred years'],
		['1e3h', '--duration: "1e3h" is not a duration'],
		['Infinityh', '--duration: "Infinityh" is not a duration'],
		['1 h', '--duration: "1 h" is not a duration'],
		['١h', '--duration: "١h" is not a duration'],
	])('rejects %j', (text, message) => {
		expect(() => parseDuration(text, '--duration')).toThrow(message);
	});

	test('accepts every duration that typedDuration writes', () => {
		fc.assert(
			fc.property(fc.integer({min: 1, max: 3_000_000_000}), (seconds) => {
				expect(parseDuration(typedDuration(seconds), 'x')).toBe(seconds);
			}),
		);
	});

	test('throws only usage errors', () => {
		fc.assert(
			fc.property(fc.string({unit: 'binary', maxLength: 20}), (text) => {
				try {
					expect(parseDuration(text, 'x')).toBeGreaterThan(0);
				} catch (error) {
					expect(error).toMatchObject({code: 'usage', exitCode: 2});
				}
			}),
		);
	});
});

import fc from 'fast-check';
import {expect, test} from 'vitest';
import {harmlessJson} from '../../../source/format/text/json.js';
import {sanitize, shorten, stackText} from '../../../source/format/text/text.js';
import {cpuMsOf} from '../../_helpers/program/timed.js';

const hostile = fc.array(
	fc.oneof(
		fc.string({unit: 'binary', maxLength: 5}),
		fc.constantFrom(
			'\u{1B}[2J',
			'\u{1B}]0;title\u{7}',
			'\u{1B}]8;;http://x\u{1B}\\',
			'\u{9B}31m',
			'\u{9D}0;x\u{9C}',
			'\u{202E}',
			'\u{2066}',
			'\r',
			'\n',
			'\u{D800}',
			'\u{FEFF}',
			'\u{1B}P1$r\u{1B}\\',
		),
	),
);

test('sanitize removes every character that controls a terminal', () => {
	fc.assert(
		fc.property(hostile, (parts) => {
			expect(sanitize(parts.join(''))).not.toMatch(
				/[[\p{Control}\p{Format}\p{Line_Separator}\p{Paragraph_Separator}\p{Surrogate}]--\u{200D}]/v,
			);
		}),
		{numRuns: 10_000},
	);
});

test('sanitize removes a megabyte of escape sequences in less than a second', () => {
	const took = cpuMsOf(() => {
		expect(sanitize('\u{1B}['.repeat(500_000)).length).toBeLessThanOrEqual(4096);
	});
	expect(took).toBeLessThan(1000);
});

test.each([
	['plain', 'plain'],
	['  a  b ', 'a b'],
	['red: \u{1B}[31mred\u{1B}[0m.', 'red: red.'],
	['one\r\ntwo\tthree', 'one two three'],
	['👩‍🚀 日本', '👩‍🚀 日本'],
	['\u{0}', ''],
])('sanitize turns %j into %j', (text, harmless) => {
	expect(sanitize(text)).toBe(harmless);
});

test('shorten never cuts a character in half', () => {
	expect(shorten('abcdef', 6)).toBe('abcdef');
	expect(shorten('abcdefg', 6)).toBe('abcde…');
	expect(shorten('😀😀😀', 2)).toBe('😀…');
});

test('harmlessJson escapes control characters without changing the data', () => {
	fc.assert(
		fc.property(hostile, (parts) => {
			const value = {text: parts.join('').toWellFormed()};
			const json = harmlessJson(value);
			expect(JSON.parse(json)).toEqual(value);
			expect(json.replaceAll('\n', '')).not.toMatch(
				/[\p{Control}\p{Format}\p{Line_Separator}\p{Paragraph_Separator}]/v,
			);
		}),
	);
});

test('stackText sanitizes each line of a stack trace', () => {
	fc.assert(
		fc.property(hostile, (parts) => {
			const lines = stackText(new Error(parts.join(''))).split('\n', 100);
			expect(lines.join('')).not.toMatch(
				/[[\p{Control}\p{Format}\p{Line_Separator}\p{Paragraph_Separator}\p{Surrogate}]--\u{200D}]/v,
			);
			expect(lines.length).toBeLessThanOrEqual(50);
		}),
	);
	expect(stackText(new TypeError('plain'))).toMatch(/^TypeError: plain\n {4}at \S/v);
	expect(stackText('\u{1B}[2Jno error')).toBe('no error');
});

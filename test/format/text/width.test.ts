import fc from 'fast-check';
import stringWidth from 'string-width';
import {expect, test} from 'vitest';
import {shellCommand, shellQuote} from '../../../source/format/text/shell.js';
import {fit, truncate, widthOf, wrap} from '../../../source/format/text/width.js';

const text = fc.oneof(fc.string(), fc.string({unit: 'grapheme'}));

test('truncate and fit never cut a wide character in half', () => {
	expect(truncate('訓練訓練', 8)).toBe('訓練訓練');
	expect(truncate('訓練訓練', 6)).toBe('訓練…');
	expect(fit('訓練', 6)).toBe('訓練  ');
	expect(fit('7', 3, 'end')).toBe('  7');
	expect(truncate('abc', 0)).toBe('');
});

test('widthOf returns the same width as the string-width package', () => {
	const characters = [
		...Array.from({length: 0x7e - 0x20 + 1}, (_, index) => String.fromCodePoint(0x20 + index)),
		...Array.from({length: 0x25_9f - 0x25_00 + 1}, (_, index) => String.fromCodePoint(0x25_00 + index)),
		...'…●⚠✗✓',
	];
	for (const character of characters) {
		expect(widthOf(character), character).toBe(stringWidth(character));
	}

	fc.assert(
		fc.property(
			fc.oneof(text, fc.string({unit: fc.constantFrom(...characters, '\u{FE0F}', '訓', '\u{301}')})),
			(words) => {
				expect(widthOf(words)).toBe(stringWidth(words));
			},
		),
	);
});

test('fit returns text of exactly the given width', () => {
	fc.assert(
		fc.property(text, fc.nat(60), (words, columns) => {
			expect(widthOf(fit(words, columns))).toBe(columns);
		}),
	);
});

test('wrap keeps to the width and the number of lines, and drops no text that fits', () => {
	expect(wrap('Not enough GPUs available', 12, 4)).toEqual(['Not enough', 'GPUs', 'available']);
	expect(wrap('one two three', 5, 2)).toEqual(['one', 'two…']);
	fc.assert(
		fc.property(text, fc.integer({min: 2, max: 40}), fc.integer({min: 1, max: 5}), (words, columns, most) => {
			const lines = wrap(words, columns, most);
			expect(lines.length).toBeLessThanOrEqual(most);
			for (const line of lines) {
				expect(widthOf(line)).toBeLessThanOrEqual(columns);
			}
		}),
	);
});

test('shellCommand quotes an argument only if a shell would change it', () => {
	expect(shellCommand(['canhazgpu', 'run', '--gpu-ids', '0,1', '--note', "it's $HOME"])).toBe(
		String.raw`canhazgpu run --gpu-ids 0,1 --note 'it'\''s $HOME'`,
	);
	expect(shellQuote('')).toBe("''");
});

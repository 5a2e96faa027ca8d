/** Mouse reports among keys, whole and in parts. */
import fc from 'fast-check';
import {expect, test} from 'vitest';
import {createMouseFilter, mayHaveMouse, type MouseEvent} from '../../../source/tui/mouse/input.js';

function filtered(chunks: readonly string[]) {
	const events: MouseEvent[] = [];
	const filter = createMouseFilter((event) => {
		events.push(event);
	});
	return {keys: chunks.map((chunk) => filter.push(chunk)).join(''), events};
}

const click = (column: number, row: number): MouseEvent => ({kind: 'click', column, row});

test('the mouse filter separates clicks and turns of the wheel from keys', () => {
	expect(filtered(['j\u{1B}[<0;10;5Mk\u{1B}[<0;10;5m\u{1B}[<64;1;1M\u{1B}[<65;300;70M\u{1B}[A'])).toEqual({
		keys: 'jk\u{1B}[A',
		events: [click(9, 4), {kind: 'wheel-up', column: 0, row: 0}, {kind: 'wheel-down', column: 299, row: 69}],
	});
});

test.each([
	['another button', '\u{1B}[<2;10;5M'],
	['a click with Ctrl', '\u{1B}[<16;10;5M'],
	['a motion', '\u{1B}[<35;10;5M'],
	['a click at 0,0', '\u{1B}[<0;0;0M'],
	['a report with two numbers', '\u{1B}[<0;1M'],
	['a report with four numbers', '\u{1B}[<0;1;1;1M'],
	['a report with an endless number', `\u{1B}[<0;1;${'1'.repeat(50)}M`],
	['another end', '\u{1B}[<0;1;1~'],
	['the form before SGR', '\u{1B}[M qq'],
])('the mouse filter reads %s as neither a click nor a key', (_, bytes) => {
	expect(filtered([`a${bytes}b`])).toEqual({keys: 'ab', events: []});
});

test('the mouse filter leaves pasted text unchanged, even if the text contains a mouse report', () => {
	const paste = '\u{1B}[200~x\u{1B}[<0;1;1My\u{1B}[201~';
	expect(filtered([`${paste}\u{1B}[<0;1;1M`])).toEqual({keys: paste, events: [click(0, 0)]});
});

test('the mouse filter forwards Escape at once, even before a mouse report', () => {
	expect(filtered(['\u{1B}'])).toEqual({keys: '\u{1B}', events: []});
	expect(filtered(['\u{1B}\u{1B}[<0;1;1M'])).toEqual({keys: '\u{1B}', events: [click(0, 0)]});
});

const piece = fc.oneof(
	fc.constantFrom('j', 'q', '\r', '\u{1B}[A', '\u{1B}[5~', '模', '\u{1B}OP', 'M', '0;1;1M'),
	fc
		.tuple(fc.constantFrom(0, 2, 35, 64, 65), fc.integer({min: 1, max: 400}), fc.integer({min: 1, max: 99}))
		.map(([button, column, row]) => `\u{1B}[<${button};${column};${row}M`),
	fc.constantFrom('\u{1B}[200~\u{1B}[<0;9;9Mtext\u{1B}[201~', '\u{1B}[Mabc'),
);

/** A chunk that ends after an Escape is excluded: there, the Escape is a key, as without a mouse. */
test('the mouse filter reads the same events however the input is divided into chunks', () => {
	fc.assert(
		fc.property(fc.array(piece, {maxLength: 12}), fc.array(fc.nat(200), {maxLength: 12}), (pieces, cuts) => {
			const whole = pieces.join('');
			const places = [0, ...cuts.map((cut) => cut % (whole.length + 1)), whole.length]
				.filter((index) => whole[index - 1] !== '\u{1B}')
				.toSorted((a, b) => a - b);
			const chunks = places.slice(1).map((offset, position) => whole.slice(places[position], offset));
			expect(filtered(chunks)).toEqual(filtered([whole]));
		}),
		{numRuns: 500},
	);
});

test('the mouse filter forwards no part of a mouse report as a key', () => {
	fc.assert(
		fc.property(fc.string({unit: fc.constantFrom(...'0123456789;<MmA~'), maxLength: 30}), (text) => {
			const {keys} = filtered([`\u{1B}[<${text}`, '\u{1B}']);
			expect(/^[\d;]*[\u{40}-\u{7E}]/v.test(text) ? text.endsWith(keys.slice(0, -1)) : true).toBe(true);
			expect(keys.startsWith('\u{1B}[')).toBe(false);
		}),
	);
});

test('mayHaveMouse is false for terminals without a mouse', () => {
	expect(['xterm-256color', 'screen', 'tmux-256color', 'foot', 'alacritty'].every((name) => mayHaveMouse(name))).toBe(
		true,
	);
	expect([undefined, '', 'dumb', 'linux', 'vt100', 'vt220'].some((name) => mayHaveMouse(name))).toBe(false);
});

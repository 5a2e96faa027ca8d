import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {createPaint} from '../../../source/format/text/paint.js';
import {statusSacrifices} from '../../../source/format/tables/status-table.js';
import {ruledTable} from '../../../source/format/text/table.js';
import {widthOf} from '../../../source/format/text/width.js';

const paint = createPaint(false, {});
const header = ['GPU', 'STATUS', 'USER', 'DURATION', 'TYPE', 'DETAILS', 'VALIDATION', 'NOTE'];
const red = (text: string): string => `<${text}>`;
const rows = [
	['0', '● IN_USE', 'alice', '0h 15m 9s', 'MANUAL', 'expires in 7h 59m 51s', '8452MB, 1 processes', 'for the paper'],
	['1', '● AVAILABLE', '-', '-', '-', 'free for 0h 30m 15s', '45MB used', '-'],
];
const table = (width?: number): string => ruledTable(header, rows, paint, {width, sacrifices: statusSacrifices});

describe('a table', () => {
	const whole = [
		' GPU │ STATUS      │ USER  │ DURATION  │ TYPE   │ DETAILS               │ VALIDATION          │ NOTE',
		'─────┼─────────────┼───────┼───────────┼────────┼───────────────────────┼─────────────────────┼───────────────',
		' 0   │ ● IN_USE    │ alice │ 0h 15m 9s │ MANUAL │ expires in 7h 59m 51s │ 8452MB, 1 processes │ for the paper',
		' 1   │ ● AVAILABLE │ -     │ -         │ -      │ free for 0h 30m 15s   │ 45MB used           │ -',
	];

	test('keeps all columns on a wide terminal and in a pipe', () => {
		expect(table().split('\n')).toEqual(whole);
		expect(table(113).split('\n')).toEqual(whole);
	});

	test('drops the least important columns on a narrow terminal', () => {
		expect(table(80).split('\n')).toEqual([
			' GPU │ STATUS      │ USER  │ DETAILS               │ VALIDATION │ NOTE',
			'─────┼─────────────┼───────┼───────────────────────┼────────────┼───────────────',
			' 0   │ ● IN_USE    │ alice │ expires in 7h 59m 51s │ 8452MB, 1… │ for the paper',
			' 1   │ ● AVAILABLE │ -     │ free for 0h 30m 15s   │ 45MB used  │ -',
		]);
		expect(table(42).split('\n')).toEqual([
			' GPU │ STATUS      │ USER  │ DETAILS',
			'─────┼─────────────┼───────┼──────────────',
			' 0   │ ● IN_USE    │ alice │ expires in…',
			' 1   │ ● AVAILABLE │ -     │ free for 0h…',
		]);
	});

	test('dims missing values', () => {
		const dimming = {...paint, dim: (text: string) => (text === '-' ? '(-)' : text)};
		expect(
			ruledTable(['A', 'B'], [['-', 'b']], dimming)
				.split('\n')
				.at(-1),
		).toMatch(/^ \(-\) +│ b$/v);
	});

	test('colors only the visible part of a truncated cell', () => {
		expect(
			ruledTable(['A'], [[{text: 'a long error', paint: red}]], paint, {width: 8, sacrifices: [['A', 3]]})
				.split('\n')
				.at(-1),
		).toBe(' <a lon…>');
	});

	test('is never wider than the terminal while a column can still shrink', () => {
		const word = fc
			.string({unit: fc.constantFrom('a', 'ß', '訓', '🚀', ' '), maxLength: 30})
			.map((text) => text.trim());
		fc.assert(
			fc.property(
				fc.array(fc.tuple(word, word, word), {minLength: 1, maxLength: 5}),
				fc.integer({min: 12, max: 120}),
				(cells, width) => {
					const drawn = ruledTable(['A', 'B', 'C'], cells, paint, {
						width,
						sacrifices: [
							['A', 3],
							['B', 0],
							['C', 2],
						],
					});
					for (const line of drawn.split('\n')) {
						expect(widthOf(line)).toBeLessThanOrEqual(width);
					}
				},
			),
		);
	});
});

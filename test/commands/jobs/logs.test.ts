import fc from 'fast-check';
import {expect, test} from 'vitest';
import {linesOfLog} from '../../../source/commands/top/job-logs.js';

test('linesOfLog keeps the indentation, and reduces a progress bar to its last state', () => {
	expect(linesOfLog('start\n\tloss 0.5\r\n  3%|#\r100%|####\n\ndone\n')).toEqual([
		'start',
		'    loss 0.5',
		'100%|####',
		'',
		'done',
	]);
	expect(linesOfLog('\u{1B}[31mred\u{1B}[0m \u{1B}]0;title\u{7}text')).toEqual(['red text']);
});

test('linesOfLog never returns control characters', () => {
	fc.assert(
		fc.property(fc.string({unit: 'binary'}), (text) => {
			expect(linesOfLog(text).join('')).not.toMatch(/\p{Control}/v);
		}),
	);
});

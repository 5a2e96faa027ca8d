import fc from 'fast-check';
import {expect, test} from 'vitest';
import {idWordsOf} from '../../../../source/core/rules/request/gpu-ids.js';
import {gpuRanges} from '../../../../source/format/text/gpu-list.js';

test.each<[typed: string, words: readonly string[]]>([
	['1,3', ['1', '3']],
	['0-3', ['0', '1', '2', '3']],
	['6, 0 - 1 ,4', ['6', '0', '1', '4']],
	['2-2', ['2']],
	['0:1,2-3', ['0:1', '2', '3']],
	// Invalid words are returned unchanged, and the caller rejects them.
	['3-1', ['3-1']],
	['1-', ['1-']],
	['-1', ['-1']],
	['0-3-5', ['0-3-5']],
	['0-999999999', ['0-999999999']],
	['', ['']],
	['1,', ['1', '']],
])('idWordsOf splits "%s" into %j', (typed, words) => {
	expect(idWordsOf(typed)).toEqual(words);
});

test('idWordsOf reads the GPU lists that gpuRanges writes', () => {
	fc.assert(
		fc.property(fc.uniqueArray(fc.nat(63), {minLength: 1}), (ids) => {
			expect(idWordsOf(gpuRanges(ids)).map(Number)).toEqual(ids.toSorted((a, b) => a - b));
		}),
	);
});

import fc from 'fast-check';
import {expect, test} from 'vitest';
import {gpuRanges} from '../../../source/format/text/gpu-list.js';

test('gpuRanges names each index exactly once, in ascending order', () => {
	expect(gpuRanges([6, 0, 1, 2, 3, 7])).toBe('0-3,6,7');
	fc.assert(
		fc.property(fc.uniqueArray(fc.nat(40)), (indexes) => {
			const named = gpuRanges(indexes)
				.split(',')
				.filter((part) => part !== '')
				.flatMap((part) => {
					const [first, last = first] = part.split('-').map(Number);
					return Array.from({length: last! - first! + 1}, (_, position) => first! + position);
				});
			expect(named).toEqual(indexes.toSorted((a, b) => a - b));
		}),
	);
});

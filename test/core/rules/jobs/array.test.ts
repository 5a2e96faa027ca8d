import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {parseArray} from '../../../../source/core/rules/jobs/array.js';

describe('parseArray', () => {
	test.each([
		['0-3', [0, 1, 2, 3], undefined],
		['5', [5], undefined],
		['3,1,1-2', [1, 2, 3], undefined],
		['0-20:5%2', [0, 5, 10, 15, 20], 2],
		['0-999', Array.from({length: 1000}, (_, index) => index), undefined],
	] as const)('reads %s', (typed, indices, limit) => {
		expect(parseArray(typed)).toEqual({indices, ...(limit !== undefined && {limit})});
	});

	test.each([
		['0-1000000', 'an array has at most 1000 jobs'],
		['0-999999999', 'an array has at most 1000 jobs'],
		['', 'not a list of indices'],
		['a-b', 'not a list of indices'],
		['-3', 'neither an index nor a range'],
		['3-1', 'contains no index'],
		['0-9:0', 'contains no index'],
		['0-9%0', 'no job would ever start'],
		['0-9%', 'not a list of indices'],
	])('rejects %j', (typed, problem) => {
		expect(() => parseArray(typed)).toThrow(problem);
	});

	test('returns each index once, in ascending order', () => {
		fc.assert(
			fc.property(fc.array(fc.nat(99), {minLength: 1}), (indices) => {
				expect(parseArray(indices.join(',')).indices).toEqual([...new Set(indices)].toSorted((a, b) => a - b));
			}),
		);
	});
});

import fc from 'fast-check';
import {expect, test} from 'vitest';
import {mostRecentUserFirst} from '../../../../source/core/rules/allocation/most-recent-user-first.js';

const order = (
	...candidates: ReadonlyArray<readonly [lastReleased: number | undefined, lastUsed: number | undefined]>
) =>
	mostRecentUserFirst(
		candidates.map(([lastReleased, lastUsedByRequester], index) => ({index, lastReleased, lastUsedByRequester})),
	).map(({index}) => index);

test('the GPU this user had last comes first', () => {
	expect(order([10, undefined], [20, 5], [30, 9])).toEqual([2, 1, 0]);
});

test('then never used ones, then the one released longest ago, then the lowest index', () => {
	expect(order([30, undefined], [10, undefined], [undefined, undefined], [10, undefined])).toEqual([2, 1, 3, 0]);
});

test('ranks every candidate once, whatever order they come in', () => {
	const time = fc.option(fc.integer({min: 0, max: 5}), {nil: undefined});
	const candidates = fc
		.array(fc.record({lastReleased: time, lastUsedByRequester: time}), {maxLength: 12})
		.map((list) => list.map((candidate, index) => ({...candidate, index})));
	fc.assert(
		fc.property(candidates, fc.infiniteStream(fc.integer()), (list, keys) => {
			const shuffled = list
				.map((candidate) => ({candidate, key: keys.next().value as number}))
				.toSorted((a, b) => a.key - b.key)
				.map(({candidate}) => candidate);
			const ranked = mostRecentUserFirst(list);
			expect(mostRecentUserFirst(shuffled)).toEqual(ranked);
			expect(ranked.map(({index}) => index).toSorted((a, b) => a - b)).toEqual(list.map(({index}) => index));
		}),
	);
});

import fc from 'fast-check';
import {expect, test} from 'vitest';
import {holdersByColumn} from '../../../../source/core/rules/pool/occupancy.js';
import type {UsageRecord} from '../../../../source/core/model/types.js';

const held = (user: string, startTime: number, endTime: number, gpuId = 0): UsageRecord => ({
	user,
	gpuId,
	startTime,
	endTime,
	durationSeconds: endTime - startTime,
	reservationType: 'run',
});

const usersOf = (records: readonly UsageRecord[]) =>
	holdersByColumn(records, 0, {start: 100, columnSeconds: 10, columns: 5}).map((column) =>
		column.map(({user}) => user).join('+'),
	);

test('a column names who held the GPU for most of it', () => {
	expect(usersOf([held('ann', 0, 112), held('bob', 112, 131), held('cy', 145, 146), held('eve', 100, 150, 1)])).toEqual(
		['ann', 'bob', 'bob', 'bob', 'cy'],
	);
});

test('those who share a GPU stand together', () => {
	expect(usersOf([held('bob', 100, 130), held('ann', 110, 140)])).toEqual(['bob', 'ann+bob', 'ann+bob', 'ann', '']);
});

test('a column is empty where no one held the GPU, and nowhere else', () => {
	const record = fc
		.tuple(
			fc.constantFrom('ann', 'bob'),
			fc.double({min: -1e9, max: 1e9, noNaN: true}),
			fc.double({min: 0.001, max: 100}),
		)
		.map(([user, start, seconds]) => held(user, start > 1e6 ? start : (start % 100) + 100, 100 + seconds));
	fc.assert(
		fc.property(fc.array(record, {maxLength: 20}), (records) => {
			for (const [column, users] of usersOf(records).entries()) {
				const [from, to] = [100 + column * 10, 110 + column * 10];
				const isHeld = records.some(({startTime, endTime}) => Math.min(to, endTime) > Math.max(from, startTime));
				expect(users !== '').toBe(isHeld);
			}
		}),
		{numRuns: 200},
	);
});

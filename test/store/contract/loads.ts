import {describe, expect, test} from 'vitest';
import {loadHours, longestLoadHour} from '../../../source/core/model/ports.js';
import type {Subject} from '../contract.js';
import {plan, poolWrite} from '../samples.js';

const hour = 491_234;

export function loadContract({store, harness}: Subject): void {
	describe('the load history in a store', () => {
		test('keeps the order of the lines of an hour', async () => {
			const other = await harness().open();
			await store().loads.append(hour, 'first');
			await other.loads.append(hour, 'second');
			await other.loads.append(hour + 1, 'third');
			expect(await store().loads.read(hour - 3, hour + 1)).toEqual(
				new Map([
					[hour, 'first\nsecond\n'],
					[hour + 1, 'third\n'],
				]),
			);
			expect(await other.loads.read(hour + 1, hour + 1)).toEqual(new Map([[hour + 1, 'third\n']]));
			expect(await store().loads.read(hour + 2, hour)).toEqual(new Map());
		});

		test('loses no lines of two concurrent writers', async () => {
			const other = await harness().open();
			const lines = Array.from({length: 20}, (_, index) => `line ${index}`);
			await Promise.all(lines.map(async (line, index) => (index % 2 === 0 ? store() : other).loads.append(hour, line)));
			const text = (await store().loads.read(hour, hour)).get(hour)!;
			expect(text.trimEnd().split('\n').toSorted()).toEqual(lines.toSorted());
		});

		test('returns at most a week and one hour', async () => {
			for (const back of [loadHours, loadHours - 1, 1, 0]) {
				await harness().setLoads(hour - back, 'x\n');
			}

			const found = await store().loads.read(-1_000_000_000, hour);
			expect(found.keys().toArray()).toEqual([hour - loadHours + 1, hour - 1, hour]);
		});

		test('keeps newer hours if the clock is set back', async () => {
			for (const at of [hour - 2, hour - 1, hour]) {
				await harness().setLoads(at, 'x\n');
			}

			await store().loads.append(hour - 3, 'late');
			expect(await store().loads.read(hour - 3, hour)).toEqual(
				new Map([
					[hour - 3, 'late\n'],
					[hour - 2, 'x\n'],
					[hour - 1, 'x\n'],
					[hour, 'x\n'],
				]),
			);
		});

		test('accepts no more lines in an hour that is full', async () => {
			await harness().setLoads(hour, 'x'.repeat(longestLoadHour - 5));
			await store().loads.append(hour, 'four');
			await store().loads.append(hour, 'more');
			expect((await store().loads.read(hour, hour)).get(hour)).toHaveLength(longestLoadHour);
			await harness().setLoads(hour, 'x'.repeat(longestLoadHour + 1));
			await store().loads.append(hour + 1, 'more');
			expect(await store().loads.read(hour, hour + 1)).toEqual(new Map([[hour + 1, 'more\n']]));
		});

		test('does not change the pool when a line is added', async () => {
			await store().commit(plan({writes: [poolWrite(2)]}));
			const {now: _before, ...before} = await store().read();
			await store().loads.append(hour, 'line');
			const {now: _after, ...after} = await store().read();
			expect(after).toEqual({...before, storeUptimeSeconds: after.storeUptimeSeconds});
		});
	});
}

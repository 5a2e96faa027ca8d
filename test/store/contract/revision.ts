import {describe, expect, test} from 'vitest';
import {emptyPlan, type Write} from '../../../source/core/model/plan.js';
import type {Subject} from '../contract.js';
import {audit, entry, join, lineOf, plan, poolWrite, start, stateOf, write} from '../samples.js';

export function revisionContract({store, harness}: Subject): void {
	describe('the revision number of a store', () => {
		test('is 0 in a new store and grows by one with each commit', async () => {
			expect((await store().read()).revision).toMatchObject({count: 0, base: 0, since: undefined, raw: undefined});
			await write(store(), poolWrite(2), join('a'));
			await store().commit({...emptyPlan, audit: [audit()]});
			const {revision} = await store().read();
			expect(revision).toMatchObject({count: 2, base: 0});
			expect(await write(store(), join('a'))).toBe('conflict');
			expect((await store().read()).revision).toEqual(revision);
			await write(await harness().open(), join('b'));
			const after = await store().read();
			expect(after.revision).toMatchObject({count: 3, base: 0, run: revision.run, since: revision.since});
			expect(Math.abs(after.now - after.revision.since!)).toBeLessThan(60);
		});

		test('does not count an empty commit', async () => {
			expect(await store().commit(emptyPlan)).toBe('done');
			expect((await store().read()).revision).toMatchObject({count: 0, since: undefined, raw: undefined});
			await write(store(), poolWrite(1));
			const {revision} = await store().read();
			expect(await store().commit({...emptyPlan, expect: [{kind: 'pool', gpuCount: 1}]})).toBe('done');
			expect((await store().read()).revision).toEqual(revision);
		});

		test('must match byte for byte what a commit expects', async () => {
			expect(await store().commit(plan({expect: [{kind: 'revision', raw: '1'}], writes: [poolWrite(1)]}))).toBe(
				'conflict',
			);
			const first = plan({expect: [{kind: 'revision', raw: undefined}], writes: [poolWrite(1)]});
			expect(await store().commit(first)).toBe('done');
			expect(await store().commit(first)).toBe('conflict');
			const {raw} = (await store().read()).revision;
			expect(await store().commit(plan({expect: [{kind: 'revision', raw}], writes: [join('a')]}))).toBe('done');
			expect(lineOf(await store().read())).toEqual(['a']);
		});

		test('continues from a restored value and never decreases', async () => {
			await write(store(), poolWrite(1));
			await write(store(), {kind: 'restored', count: 100});
			expect((await store().read()).revision).toMatchObject({count: 101, base: 100});
			await write(store(), join('a'));
			expect((await store().read()).revision).toMatchObject({count: 102, base: 100});
			await write(store(), {kind: 'restored', count: 7});
			expect((await store().read()).revision).toMatchObject({count: 103, base: 7});
		});
	});

	describe('restoring a lost queue position', () => {
		const again = (id: string, at: number): Write => ({kind: 'join', entry: entry(id), at});

		test('puts the entry ahead of later arrivals', async () => {
			const {now} = await store().read();
			for (const id of ['a', 'b', 'c']) {
				await write(store(), join(id));
			}

			await write(store(), {kind: 'leave', id: 'a'}, {kind: 'leave', id: 'b'});
			expect(await write(store(), again('b', now - 1))).toBe('done');
			expect(await write(store(), again('a', now - 2))).toBe('done');
			await write(store(), join('d'));
			expect(lineOf(await store().read())).toEqual(['a', 'b', 'c', 'd']);
		});

		test('puts the entry after others with the same time', async () => {
			const {now} = await store().read();
			await write(store(), again('x', now - 5), again('b', now - 5), again('a', now - 5), again('first', now - 6));
			await write(store(), again('y', now - 5));
			expect(lineOf(await store().read())).toEqual(['first', 'x', 'b', 'a', 'y']);
		});

		test('is rejected for an entry that is in the queue', async () => {
			await write(store(), join('a'), join('b'));
			const before = stateOf(await store().read());
			expect(await write(store(), again('b', start))).toBe('conflict');
			expect(stateOf(await store().read())).toEqual(before);
		});
	});
}

import {describe, expect, test} from 'vitest';
import {withdrawn} from '../../../source/core/model/plan.js';
import type {Subject} from '../contract.js';
import {audit, leaseWrite, plan, poolWrite, write} from '../samples.js';

export function changeContract({store, harness}: Subject): void {
	describe('the attempts to commit a change', () => {
		const attempt = (number: number, index: number, id = 'change-1') =>
			plan({writes: [leaseWrite(index)], audit: [audit()], change: {id, attempt: number}});

		test('lead to at most one commit, in whatever order they arrive', async () => {
			await write(store(), poolWrite(4));
			const other = await harness().open();
			expect((await store().read({change: 'change-1'})).attemptDone).toBeUndefined();
			expect(await other.commit(attempt(2, 1))).toBe('done');
			expect(await store().commit(attempt(1, 0))).toBe('conflict');
			expect(await store().commit(attempt(2, 1))).toBe('conflict');
			const snapshot = await store().read({change: 'change-1'});
			expect(snapshot.attemptDone).toBe(2);
			expect(snapshot.gpus.map(({kind}) => kind)).toEqual(['free', 'leased', 'free', 'free']);
			expect(await store().audit()).toHaveLength(1);
		});

		test('are rejected after the change was withdrawn', async () => {
			await write(store(), poolWrite(4));
			expect(await store().commit(plan({change: {id: 'change-1', attempt: withdrawn}}))).toBe('done');
			expect(await store().commit(attempt(1, 0))).toBe('conflict');
			const snapshot = await store().read({change: 'change-1'});
			expect(snapshot.attemptDone).toBe(withdrawn);
			expect(snapshot.gpus.every(({kind}) => kind === 'free')).toBe(true);
		});

		test('are recorded only if they succeeded', async () => {
			await write(store(), poolWrite(4));
			const late = {...attempt(1, 0), expect: [{kind: 'pool', gpuCount: 5} as const]};
			expect(await store().commit(late)).toBe('conflict');
			expect((await store().read({change: 'change-1'})).attemptDone).toBeUndefined();
			expect(await store().commit(attempt(1, 0))).toBe('done');
			expect(await store().commit(attempt(1, 1, 'change-2'))).toBe('done');
			expect((await store().read()).attemptDone).toBeUndefined();
		});
	});
}

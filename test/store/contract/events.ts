import {describe, expect, test} from 'vitest';
import type {Store} from '../../../source/core/model/ports.js';
import type {PoolEvent} from '../../../source/core/model/types.js';
import {eventually} from '../../_helpers/eventually.js';
import type {Subject} from '../contract.js';
import {leaseWrite, plan, poolWrite, rawOn} from '../samples.js';

const granted: PoolEvent = {kind: 'granted', gpus: [0], user: 'alice'};

type Heard = Array<PoolEvent | undefined>;

/** Subscribes and collects the events. */
async function listen(store: Store): Promise<{heard: Heard; stop: () => Promise<void>}> {
	const heard: Heard = [];
	const stop = await store.subscribe({
		changed(event) {
			heard.push(event);
		},
	});
	return {heard, stop};
}

export function eventContract({store, harness}: Subject): void {
	describe('the events of a store', () => {
		test('reach the connection that caused them and all other connections', async () => {
			const other = await harness().open();
			const {heard: own, stop: stopOwn} = await listen(store());
			const {heard, stop: stopOther} = await listen(other);
			await store().commit(plan({writes: [poolWrite(1), leaseWrite(0)], event: granted}));
			await eventually(() => own.length > 0 && heard.length > 0);
			expect(own).toEqual([granted]);
			expect([granted, undefined]).toContainEqual(heard[0]);

			await stopOwn();
			await store().commit(plan({writes: [leaseWrite(0, {note: 'again'})], event: {kind: 'extended', gpus: [0]}}));
			await eventually(() => heard.length > 1);
			expect(own).toHaveLength(1);
			await stopOther();
		});

		test('arrive only after the change can be read', async () => {
			const other = await harness().open();
			await store().commit(plan({writes: [poolWrite(1)]}));
			const seen: unknown[] = [];
			const pollEvents = async () => {
				const snapshot = await other.read();
				seen.push(rawOn(snapshot, 0));
			};

			const stop = await other.subscribe({
				changed() {
					void pollEvents();
				},
			});
			await store().commit(plan({writes: [leaseWrite(0)], event: granted}));
			await eventually(() => seen.length > 0);
			expect(seen[0]).toBeTypeOf('string');
			await stop();
		});

		test('are not sent for a commit that conflicts', async () => {
			const {heard, stop} = await listen(store());
			const conflict = plan({expect: [{kind: 'pool', gpuCount: 5}], writes: [poolWrite(1)], event: granted});
			expect(await store().commit(conflict)).toBe('conflict');
			const last: PoolEvent = {kind: 'pool', gpus: []};
			await store().commit(plan({writes: [poolWrite(1)], event: last}));
			await eventually(() => heard.length > 0);
			expect(heard).toEqual([last]);
			await stop();
		});
	});
}

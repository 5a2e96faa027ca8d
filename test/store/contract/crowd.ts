import {setTimeout as sleep} from 'node:timers/promises';
import {describe, expect, test} from 'vitest';
import type {Plan} from '../../../source/core/model/plan.js';
import type {Store} from '../../../source/core/model/ports.js';
import type {Snapshot} from '../../../source/core/model/types.js';
import type {Subject} from '../contract.js';
import {leaseOn, leaseWrite, plan, poolWrite, write} from '../samples.js';

const clients = 50;

/** Reads, plans and commits like the core, and repeats after a conflict. Stops when `planFor` returns undefined. */
async function change(store: Store, planFor: (snapshot: Snapshot) => Plan | undefined): Promise<boolean> {
	for (let attempt = 0; ; attempt++) {
		const next = planFor(await store.read());
		if (next === undefined) {
			return false;
		}

		if ((await store.commit(next)) === 'done') {
			return true;
		}

		await sleep(Math.random() * Math.min(50, 2 ** attempt));
	}
}

function planForFirstFree({gpus}: Snapshot, leaseId: string): Plan | undefined {
	const free = gpus.find(({kind}) => kind === 'free');
	return (
		free &&
		plan({
			expect: [{kind: 'gpu', index: free.index, raw: free.raw}],
			writes: [leaseWrite(free.index, {leaseId})],
			grants: true,
		})
	);
}

export function crowdContract({store, harness}: Subject): void {
	describe('concurrent clients', () => {
		const openAll = async () => Promise.all(Array.from({length: clients}, async () => harness().open()));

		test('that compete for 8 GPUs have exactly one winner per GPU', async () => {
			const stores = await openAll();
			await write(store(), poolWrite(8));
			const winners = await Promise.all(
				stores.map(async (other, who) => {
					const leaseId = `client-${who}`;
					return (await change(other, (snapshot) => planForFirstFree(snapshot, leaseId))) ? leaseId : undefined;
				}),
			);
			const snapshot = await store().read();
			const holders = snapshot.gpus.map(({index}) => leaseOn(snapshot, index).leaseId);
			expect(new Set(holders).size).toBe(8);
			expect(winners.filter((id) => id !== undefined).toSorted()).toEqual(holders.toSorted());
		});

		test('that increment a counter lose no increment', async () => {
			const stores = await openAll();
			await write(store(), poolWrite(1), leaseWrite(0, {note: '0'}));
			await Promise.all(
				stores.map(async (other) => {
					for (let round = 0; round < 4; round++) {
						await change(other, (snapshot) =>
							plan({
								expect: [{kind: 'gpu', index: 0, raw: snapshot.gpus[0]?.raw}],
								writes: [leaseWrite(0, {note: String(Number(leaseOn(snapshot, 0).note) + 1)})],
							}),
						);
					}
				}),
			);
			expect(leaseOn(await store().read(), 0).note).toBe(String(clients * 4));
		});

		test('never see a partly written commit', async () => {
			const [reader, ...writers] = await Promise.all(Array.from({length: 5}, async () => harness().open()));
			await write(store(), poolWrite(8), ...Array.from({length: 8}, (_, index) => leaseWrite(index, {note: 'none'})));
			const over = new AbortController();
			const writing = Promise.all(
				writers.map(async (writer, who) => {
					for (let round = 0; !over.signal.aborted; round++) {
						const note = `${who}-${round}`;
						await write(writer, ...Array.from({length: 8}, (_, index) => leaseWrite(index, {note})));
						await sleep(0);
					}
				}),
			);
			const notes = new Set<string | undefined>();
			for (let attempt = 0; attempt < 200; attempt++) {
				const snapshot = await reader!.read();
				const seen = new Set(snapshot.gpus.map(({index}) => leaseOn(snapshot, index).note));
				expect(seen.size).toBe(1);
				notes.add([...seen][0]);
				await sleep(0);
			}

			over.abort();
			await writing;
			expect(notes.size).toBeGreaterThan(5);
		});
	});
}

import {describe, expect, test} from 'vitest';
import type {Subject} from '../contract.js';
import {entry, join, leaseWrite, lineOf, poolWrite, start, stateOf, write} from '../samples.js';

export function queueContract({store, harness}: Subject): void {
	describe('the queue in a store', () => {
		test('keeps the order of arrival, even within one commit', async () => {
			await write(store(), join('b'), join('a'));
			await write(store(), join('0'));
			await write(store(), join('c'));
			expect(lineOf(await store().read())).toEqual(['b', 'a', '0', 'c']);
		});

		test('keeps the order of arrival of many concurrent clients', async () => {
			const stores = await Promise.all(Array.from({length: 5}, async () => harness().open()));
			const done: string[] = [];
			await Promise.all(
				stores.map(async (other, who) => {
					for (let round = 0; round < 10; round++) {
						const id = `${who}-${round}`;
						await write(other, join(id));
						done.push(id);
					}
				}),
			);
			const line = lineOf(await store().read());
			expect(line.toSorted()).toEqual(done.toSorted());
			for (const who of stores.keys()) {
				const own = line.filter((id) => id.startsWith(`${who}-`));
				expect(own).toEqual(Array.from({length: 10}, (_, round) => `${who}-${round}`));
			}
		});

		test('returns an entry as it was written', async () => {
			const waiting = entry('q', {
				requestedCount: 2,
				requestedIds: [3, 1],
				allocatedGpus: [1],
				reservationType: 'manual',
				expirySeconds: 5400,
				note: 'soon',
				enqueueTime: start + 0.125,
				lastHeartbeat: start + 30.5,
				waitTimeout: start + 600,
				machine: 'machine-1',
				bootId: 'boot-1',
				holder: {pid: 7, startTicks: 8},
				unknownFields: {colour: {deep: [1, null, 'x']}},
			});
			await write(store(), {kind: 'join', entry: waiting});
			expect((await store().read()).queue).toMatchObject([{kind: 'entry', id: 'q', entry: waiting}]);
		});

		test('is omitted from a read with `withoutQueue`', async () => {
			await write(store(), poolWrite(2), leaseWrite(0), join('a'));
			const whole = await store().read();
			const {now, storeUptimeSeconds, ...rest} = await store().read({withoutQueue: true});
			expect(whole.queue).toHaveLength(1);
			expect({...whole, ...rest}).toEqual({...whole, queue: []});
			expect(storeUptimeSeconds).toBeGreaterThanOrEqual(whole.storeUptimeSeconds);
			expect(now).toBeGreaterThanOrEqual(whole.now);
		});

		test('returns the same record from readEntry as from a full read', async () => {
			await write(store(), join('a'), join('b', {note: 'Füße \u{1F600}'}));
			const {queue} = await store().read();
			expect(await store().readEntry('b')).toEqual(queue[1]);
			expect(await store().readEntry('c')).toBeUndefined();
			await write(store(), {kind: 'leave', id: 'b'});
			expect(await store().readEntry('b')).toBeUndefined();
		});

		test('replaces an entry without changing its position', async () => {
			await write(store(), join('a'), join('b'));
			expect(await write(store(), {kind: 'entry', entry: entry('a', {note: 'still here'})})).toBe('done');
			const {queue} = await store().read();
			expect(queue).toMatchObject([{id: 'a', entry: {note: 'still here'}}, {id: 'b'}]);
		});

		test('rejects joining twice as a conflict', async () => {
			await write(store(), join('a'), join('b'));
			const before = stateOf(await store().read());
			expect(await write(store(), poolWrite(1), join('a'))).toBe('conflict');
			expect(stateOf(await store().read())).toEqual(before);
		});

		test('rejects replacing a missing entry as a conflict', async () => {
			expect(await write(store(), poolWrite(1), {kind: 'entry', entry: entry('a')})).toBe('conflict');
			expect(stateOf(await store().read())).toEqual({pool: undefined, gpus: [], queue: []});
		});

		test('removes an entry together with its position', async () => {
			await write(store(), join('a'), join('b'), join('c'));
			expect(await write(store(), {kind: 'leave', id: 'b'})).toBe('done');
			expect(await write(store(), {kind: 'leave', id: 'b'})).toBe('done');
			expect(lineOf(await store().read())).toEqual(['a', 'c']);
			await write(store(), join('b'));
			expect(lineOf(await store().read())).toEqual(['a', 'c', 'b']);
		});

		test('keeps the order of arrival after the last entry has left', async () => {
			await write(store(), join('a'), join('b'));
			await write(store(), {kind: 'leave', id: 'b'});
			await write(store(), join('d'), join('c'));
			expect(lineOf(await store().read())).toEqual(['a', 'd', 'c']);
		});
	});
}

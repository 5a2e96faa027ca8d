import {describe, expect, test} from 'vitest';
import type {Expectation, Write} from '../../../source/core/model/plan.js';
import type {Subject} from '../contract.js';
import {
	collect,
	entry,
	join,
	lease,
	leaseOn,
	leaseWrite,
	plan,
	poolWrite,
	rawOn,
	start,
	stateOf,
	usage,
	write,
} from '../samples.js';

export function recordContract({store, harness}: Subject): void {
	describe('the records of a pool', () => {
		test('are empty in a new store', async () => {
			const before = Date.now() / 1000;
			const snapshot = await store().read();
			expect(stateOf(snapshot)).toEqual({pool: undefined, gpus: [], queue: []});
			expect(snapshot.lastUsed.size).toBe(0);
			expect(Math.abs(snapshot.now - before)).toBeLessThan(5);
			expect(snapshot.storeUptimeSeconds).toBeGreaterThanOrEqual(0);
		});

		test('are created with a pool, and replaced when the pool is created again', async () => {
			expect(await write(store(), poolWrite(2))).toBe('done');
			const made = await store().read();
			expect(made.pool).toEqual({gpuCount: 2, provider: 'fake', machine: {id: 'machine-1', bootId: 'boot-1'}});
			expect(made.gpus).toEqual([
				{kind: 'free', index: 0, raw: undefined},
				{kind: 'free', index: 1, raw: undefined},
			]);
			await write(store(), {kind: 'pool', pool: {gpuCount: 1, provider: 'nvidia'}});
			expect((await store().read()).pool).toEqual({gpuCount: 1, provider: 'nvidia'});
		});

		test('include a lease as it was written, on every connection', async () => {
			const held = lease({
				type: 'run',
				lastHeartbeat: start + 1,
				note: 'training',
				partialQueueId: 'q',
				machine: 'machine-1',
				bootId: 'boot-1',
				holder: {pid: 10, startTicks: 20},
				job: {pid: 11, startTicks: 21},
			});
			await write(store(), poolWrite(2), {kind: 'lease', index: 1, lease: held});
			const other = await (await harness().open()).read();
			expect(leaseOn(other, 1)).toEqual(held);
			expect(other.gpus[0]?.kind).toBe('free');
		});

		test('contain the times of a lease in whole seconds', async () => {
			await write(
				store(),
				poolWrite(1),
				leaseWrite(0, {startTime: start + 0.9, lastHeartbeat: start + 1.9, expiryTime: start + 2.1}),
			);
			expect(leaseOn(await store().read(), 0)).toMatchObject({
				startTime: start,
				lastHeartbeat: start + 1,
				expiryTime: start + 3,
			});
		});

		test('contain the release time of a freed GPU, if the time is known', async () => {
			await write(store(), poolWrite(2), leaseWrite(0), leaseWrite(1));
			await write(
				store(),
				{kind: 'free', index: 0, lastReleased: start + 0.25},
				{kind: 'free', index: 1, lastReleased: undefined},
			);
			const {gpus} = await store().read();
			expect(gpus[0]).toMatchObject({kind: 'free', lastReleased: start + 0.25});
			expect(gpus[1]).toEqual({kind: 'free', index: 1, raw: undefined});
		});

		test('contain the id of the lease that ended on a freed GPU, and the reason for the end', async () => {
			const ended = {reason: 'released', leaseId: 'lease-1'};
			await write(store(), poolWrite(1), {kind: 'free', index: 0, lastReleased: start, ended});
			expect((await store().read()).gpus[0]).toMatchObject({kind: 'free', lastReleased: start, ended});
		});

		const hostile = [
			'\u{1B}[31mred\u{1B}[0m\r\n\u{7}\u{0}',
			'‮evil‬ 🤖 日本語 \u{2028} \u{FEFF}',
			String.raw`"}],\"user\":\"root\" \ud800 \\ud800`,
			"'; DROP TABLE gpus; -- %s {} $1",
			'__proto__',
		];
		test.each(hostile)('contain the text %j unchanged', async (text) => {
			await write(store(), poolWrite(1), leaseWrite(0, {note: text, user: text}), join('q', {note: text, user: text}));
			const snapshot = await store().read({user: text});
			expect(leaseOn(snapshot, 0)).toMatchObject({note: text, user: text});
			expect(snapshot.queue[0]).toMatchObject({kind: 'entry', entry: {note: text, user: text}});
			const raw = rawOn(snapshot, 0);
			expect(await store().commit(plan({expect: [{kind: 'gpu', index: 0, raw}]}))).toBe('done');
		});

		test('contain U+FFFD in place of a lone surrogate', async () => {
			const unknownFields = {'\u{DC00}': ['\u{D800}x', String.raw`\ud800`]};
			await write(store(), poolWrite(1), leaseWrite(0, {note: 'a\u{D800}b', unknownFields}));
			const snapshot = await store().read();
			expect(leaseOn(snapshot, 0).note).toBe('a\u{FFFD}b');
			expect(leaseOn(snapshot, 0).unknownFields).toEqual({'\u{FFFD}': ['\u{FFFD}x', String.raw`\ud800`]});
			expect(rawOn(snapshot, 0)).not.toMatch(/[^\\]\\ud/v);
		});

		test('can contain a note of a megabyte', async () => {
			const note = 'x'.repeat(1_000_000);
			await write(store(), poolWrite(1), leaseWrite(0, {note}));
			expect(leaseOn(await store().read(), 0).note).toBe(note);
		});

		test('are not written if a label is empty or a time is invalid', async () => {
			await write(store(), poolWrite(1));
			const before = stateOf(await store().read());
			await expect(write(store(), join('q'), leaseWrite(0, {user: ''}))).rejects.toThrow(TypeError);
			await expect(write(store(), join('q'), leaseWrite(0, {startTime: NaN}))).rejects.toThrow(RangeError);
			expect(stateOf(await store().read())).toEqual(before);
		});

		test('accept a commit with an empty plan', async () => {
			expect(await store().commit(plan({}))).toBe('done');
		});
	});

	describe('the expectations of a commit', () => {
		const wrong: ReadonlyArray<readonly [string, Expectation]> = [
			['another lease than the current one', {kind: 'gpu', index: 0, raw: '{}'}],
			['a free GPU in place of a lease', {kind: 'gpu', index: 0, raw: undefined}],
			['a lease on a free GPU', {kind: 'gpu', index: 1, raw: '{}'}],
			['an entry with other content', {kind: 'entry', id: 'first', raw: '{}'}],
			['no entry in place of an entry', {kind: 'entry', id: 'first', raw: undefined}],
			['an unknown entry', {kind: 'entry', id: 'nobody', raw: '{}'}],
			['a shorter queue', {kind: 'queue', ids: ['first'], scope: 'whole'}],
			['an empty queue', {kind: 'queue', ids: [], scope: 'whole'}],
			['a longer queue', {kind: 'queue', ids: ['first', 'second', 'third'], scope: 'whole'}],
			['a longer beginning of the queue', {kind: 'queue', ids: ['first', 'second', 'third'], scope: 'prefix'}],
			['another order of the queue', {kind: 'queue', ids: ['second', 'first'], scope: 'whole'}],
			['another beginning of the queue', {kind: 'queue', ids: ['second'], scope: 'prefix'}],
			['another pool size', {kind: 'pool', gpuCount: 3}],
			['no pool', {kind: 'pool', gpuCount: undefined}],
			['another machine', {kind: 'machine', raw: '{}'}],
		];
		test.each(wrong)('prevent the commit if they name %s', async (_, expectation) => {
			await write(store(), poolWrite(2), leaseWrite(0), join('first'), join('second'));
			const before = stateOf(await store().read());
			const writes: readonly Write[] = [
				poolWrite(7),
				{kind: 'free', index: 0, lastReleased: start},
				leaseWrite(1),
				join('third'),
				{kind: 'entry', entry: entry('first', {note: 'changed'})},
				{kind: 'leave', id: 'second'},
			];
			const outcome = await store().commit(plan({expect: [expectation], writes, usage: [usage()], grants: true}));
			expect(outcome).toBe('conflict');
			expect(stateOf(await store().read())).toEqual(before);
			expect(await collect(store().history(0, start * 2))).toEqual([]);
		});

		test('match the records that were read, until one of these records changes', async () => {
			await write(store(), poolWrite(2), leaseWrite(0), join('first'), join('second'));
			const {gpus, queue, stored} = await store().read();
			const expectations: readonly Expectation[] = [
				...gpus.map(({index, raw}) => ({kind: 'gpu', index, raw}) as const),
				...queue.map(
					(record) => ({kind: 'entry', id: record.id, raw: 'raw' in record ? record.raw : undefined}) as const,
				),
				{kind: 'entry', id: 'nobody', raw: undefined},
				{kind: 'queue', ids: ['first', 'second'], scope: 'whole'},
				{kind: 'queue', ids: ['first', 'second'], scope: 'prefix'},
				{kind: 'queue', ids: ['first'], scope: 'prefix'},
				{kind: 'queue', ids: [], scope: 'prefix'},
				{kind: 'pool', gpuCount: 2},
				{kind: 'machine', raw: stored.machine},
			];
			expect(await store().commit(plan({expect: expectations}))).toBe('done');
			const change = plan({expect: expectations, writes: [leaseWrite(0, {note: 'mine'})]});
			expect(await store().commit(change)).toBe('done');
			expect(await store().commit(change)).toBe('conflict');
		});

		test('can include that there is no pool and that the queue is empty', async () => {
			const making = plan({
				expect: [
					{kind: 'pool', gpuCount: undefined},
					{kind: 'queue', ids: [], scope: 'whole'},
				],
				writes: [poolWrite(2)],
			});
			expect(await store().commit(making)).toBe('done');
			expect(await store().commit(making)).toBe('conflict');
		});
	});
}

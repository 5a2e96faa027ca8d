import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import type {AuditEntry, AuditRecord} from '../../../source/core/model/types.js';
import {anyAudit} from '../records/arbitraries.js';
import type {Subject} from '../contract.js';
import {audit, leaseWrite, plan, poolWrite, start} from '../samples.js';

const cap = 10_000;

const bare = ({id: _, ...record}: AuditEntry): AuditRecord => record;

export function auditLogContract({store, harness}: Subject): void {
	const append = async (...records: readonly AuditRecord[]) => store().commit(plan({audit: records}));
	const times = (entries: readonly AuditEntry[]) => entries.map(({time}) => time - start);

	describe('the audit log', () => {
		test('is empty in a new store', async () => {
			expect(await store().audit()).toEqual([]);
			expect(await store().audit({fromTime: 5, newest: 3, afterId: 'nonsense'})).toEqual([]);
		});

		test('returns its records in the order in which they were written', async () => {
			await fc.assert(
				fc.asyncProperty(fc.array(anyAudit, {minLength: 1, maxLength: 5}), async (records) => {
					await harness().clear();
					await append(...records);
					expect((await store().audit()).map((entry) => bare(entry))).toEqual(records);
				}),
				{numRuns: 50},
			);
		});

		test('can be read from a time, after an id, or from its end', async () => {
			// In Redis an id contains the time of the server, so these records must not predate it.
			await append(...[10, 20, 30].map((offset) => audit({time: start + offset})));
			await append(audit({time: start + 40}));
			const all = await store().audit();
			expect(times(all)).toEqual([10, 20, 30, 40]);
			expect(new Set(all.map(({id}) => id)).size).toBe(4);
			expect(times(await store().audit({fromTime: start + 20}))).toEqual([20, 30, 40]);
			expect(times(await store().audit({newest: 3}))).toEqual([20, 30, 40]);
			expect(times(await store().audit({newest: 0}))).toEqual([]);
			for (const [position, {id}] of all.entries()) {
				expect(await store().audit({afterId: id})).toEqual(all.slice(position + 1));
			}

			expect(times(await store().audit({afterId: all[0]!.id, fromTime: start + 30}))).toEqual([30, 40]);
			expect(times(await store().audit({afterId: all[0]!.id, newest: 2}))).toEqual([30, 40]);
			expect(times(await store().audit({afterId: 'not an id'}))).toEqual([10, 20, 30, 40]);
		});

		test('returns only newer entries after an older copy of the store was restored', async () => {
			await append(...[10, 20, 30].map((offset) => audit({time: start + offset})));
			const {id} = (await store().audit()).at(-1)!;
			const read = Date.now();
			await harness().clear();
			// In Redis an id contains the time of the server in milliseconds, and restoring takes longer than one.
			await expect.poll(() => Date.now(), {interval: 1}).toBeGreaterThan(read);
			await append(audit({time: start + 10}));
			await append(...[40, 50, 60].map((offset) => audit({time: start + offset})));
			const newer = await store().audit({afterId: id, newest: 3});
			expect(times(newer)).toEqual([40, 50, 60]);
			expect(newer.map((entry) => entry.id)).not.toContain(id);
		});

		test('records a change if and only if the change was committed', async () => {
			await store().commit(plan({writes: [poolWrite(1)], audit: [audit({kind: 'pool', gpus: []})]}));
			const grant = plan({
				expect: [{kind: 'gpu', index: 0, raw: undefined}],
				writes: [leaseWrite(0)],
				audit: [audit({leaseId: 'lease-1'})],
				grants: true,
			});
			expect(await store().commit(grant)).toBe('done');
			expect(await store().commit(grant)).toBe('conflict');
			expect((await store().audit()).map(({kind}) => kind)).toEqual(['pool', 'granted']);
		});

		test('truncates long texts and keeps the newest ten thousand records', async () => {
			await append(audit({note: 'x'.repeat(1_000_000), reason: `${'y'.repeat(199)}🤖`}));
			const [first] = await store().audit();
			expect(first?.note).toBe('x'.repeat(200));
			expect(first?.reason).toBe(`${'y'.repeat(199)}\u{FFFD}`);
			const last = 10_500;
			await append(...Array.from({length: last}, (_, index) => audit({time: start + index})));
			const entries = await store().audit();
			expect(entries.length).toBeGreaterThanOrEqual(cap);
			expect(entries.length).toBeLessThan(cap + 200);
			expect(entries.at(-1)?.time).toBe(start + last - 1);
			expect((await store().audit({newest: 2})).map(({time}) => time)).toEqual([start + last - 2, start + last - 1]);
		});

		test('truncates an oversized record that another program wrote', async () => {
			await append(audit({note: 'x', gpus: [3]}));
			const [{id: _, ...own}] = (await store().audit()) as [AuditEntry];
			const long = 'y'.repeat(100_000);
			const fields = {
				account: long,
				label: long,
				owner: long,
				host: long,
				lease_id: long,
				entry_id: long,
				reason: long,
			};
			const gpus = Array.from({length: 5000}, (__, index) => index);
			await harness().addAudit(JSON.stringify({time: own.time, kind: own.kind, note: long, gpus, ...fields}));
			const [, stranger] = await store().audit();
			expect(stranger).toMatchObject({time: own.time, kind: own.kind, note: 'y'.repeat(200)});
			expect(JSON.stringify(stranger).length).toBeLessThan(8000);
		});

		test('skips invalid records', async () => {
			await append(audit({time: start}));
			for (const raw of ['', 'not json', '[]', '{"kind":"granted"}', '{"kind":"danced","time":1}', '{"time":"x"}']) {
				await harness().addAudit(raw);
			}

			await append(audit({time: start + 1}));
			expect(times(await store().audit())).toEqual([0, 1]);
		});
	});
}

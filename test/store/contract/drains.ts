import {describe, expect, test} from 'vitest';
import type {Drain, Alert} from '../../../source/core/model/types.js';
import type {Subject} from '../contract.js';
import {plan, poolWrite, start, write} from '../samples.js';

const drains = new Map<number, Drain>([
	[1, {reason: 'fan\u{1B}[31m', by: 'root', since: start + 0.25}],
	[3, {since: start}],
]);

const alerts: readonly Alert[] = [
	{kind: 'unreserved', gpu: 0, account: 'bob', since: start},
	{kind: 'squatter', gpu: 1, account: 'eve', owner: 'bob', since: start + 0.5},
	{kind: 'health', gpu: 2, problem: 'needs-reset', since: start},
];

export function drainContract({store, harness}: Subject): void {
	describe('drains and notices', () => {
		test('are none at first', async () => {
			await write(store(), poolWrite(2));
			expect(await store().read()).toMatchObject({
				drains: new Map(),
				alerts: [],
				stored: {drains: undefined, notices: undefined},
			});
		});

		test('are read back as they were written, by others too, until there are none', async () => {
			await write(store(), poolWrite(4), {kind: 'drains', drains}, {kind: 'notices', alerts});
			const other = await harness().open();
			expect(await other.read()).toMatchObject({drains, alerts});
			await write(store(), {kind: 'drains', drains: new Map()}, {kind: 'notices', alerts: []});
			expect((await other.read()).stored).toEqual({drains: undefined, notices: undefined});
		});

		test('the last loss of data stands beside the notices', async () => {
			const dataLoss = {restoredAt: start + 0.5, readAt: start - 7};
			await write(store(), poolWrite(2), {kind: 'notices', alerts: [], dataLoss});
			expect(await store().read()).toMatchObject({alerts: [], dataLoss});
			await write(store(), {kind: 'notices', alerts, dataLoss});
			expect(await store().read()).toMatchObject({alerts, dataLoss});
			await write(store(), {kind: 'notices', alerts});
			expect((await store().read()).dataLoss).toBeUndefined();
			await harness().setValue('notices', '{"restored_at":1,"restored_read_at":"soon"}');
			expect((await store().read()).dataLoss).toBeUndefined();
		});

		test('the baselines of the memory stand beside the notices, and alone', async () => {
			const baselines = new Map([[1, {memoryMiB: 3.5, uuid: 'GPU-1\u{1B}', bootId: 'boot-1'}]]);
			await write(store(), poolWrite(2), {kind: 'notices', alerts, baselines});
			expect(await store().read()).toMatchObject({alerts, baselines});
			await write(store(), {kind: 'notices', alerts: [], baselines});
			expect(await store().read()).toMatchObject({alerts: [], baselines});
			await write(store(), {kind: 'notices', alerts: []});
			expect((await store().read()).stored.notices).toBeUndefined();
			await harness().setValue('notices', '{"baselines":[{"gpu":1,"memory_mib":"much"}]}');
			expect((await store().read()).baselines).toEqual(new Map());
		});

		test('shares that use too much stand beside the notices, and alone', async () => {
			const common = {gpu: 1, leaseId: 'lease\u{1B}', since: start + 0.25, countedAt: start + 9, usedMiB: 9000.5};
			const overuse = [
				{...common, scans: 2, isTold: false, isReminded: false},
				{...common, gpu: 0, scans: 0, isTold: true, isReminded: true},
			];
			await write(store(), poolWrite(2), {kind: 'notices', alerts, overuse});
			expect(await store().read()).toMatchObject({alerts, overuse});
			await write(store(), {kind: 'notices', alerts: [], overuse});
			expect(await store().read()).toMatchObject({alerts: [], overuse});
			await write(store(), {kind: 'notices', alerts: []});
			expect(await store().read()).toMatchObject({overuse: [], stored: {notices: undefined}});
			await harness().setValue('notices', '{"overuse":[{"gpu":1,"scans":"many"}]}');
			expect((await store().read()).overuse).toEqual([]);
		});

		test.each(['drains', 'notices'] as const)('%s are compared byte for byte', async (kind) => {
			await write(store(), poolWrite(4), {kind: 'drains', drains}, {kind: 'notices', alerts});
			const {stored} = await store().read();
			const change = plan({
				expect: [{kind, raw: stored[kind]}],
				writes: [kind === 'drains' ? {kind, drains: new Map()} : {kind, alerts: []}],
			});
			for (const raw of [undefined, '{}', `${stored[kind]} `]) {
				expect(await store().commit({...change, expect: [{kind, raw}]})).toBe('conflict');
			}

			expect((await store().read()).stored).toEqual(stored);
			expect(await store().commit(change)).toBe('done');
			expect(await store().commit(change)).toBe('conflict');
			expect((await store().read()).stored[kind]).toBeUndefined();
		});

		test('a record of drains that cannot be read takes every GPU out of service, and says so', async () => {
			const cases: ReadonlyArray<readonly [raw: string, problem: string]> = [
				['not json', 'it is not JSON'],
				['[]', 'it is not a JSON object'],
				['{"drains":5}', 'drains is 5, which is not a list of JSON objects'],
				['{"drains":[7]}', 'drains is [7], which is not a list of JSON objects'],
				['{"drains":[{"gpu":1}]}', 'since is missing'],
				['{"drains":[{"since":1}]}', 'gpu is missing'],
				['{"drains":[{"gpu":-1,"since":1}]}', 'gpu is -1, which is not a number'],
			];
			await write(store(), poolWrite(2));
			for (const [raw, problem] of cases) {
				await harness().setValue('drains', raw);

				const snapshot = await store().read();
				expect(snapshot.drainProblem).toBe(problem);
				expect(snapshot.stored.drains).toBe(raw);
				expect([...snapshot.drains]).toEqual(
					[0, 1].map((gpu) => [
						gpu,
						{reason: `the record of drained GPUs cannot be read: ${problem}`, since: snapshot.now},
					]),
				);
			}
		});

		test('a record of notices that cannot be read is as good as none, and can be replaced', async () => {
			await harness().setValue('notices', '{"notices":[{"kind":"dance"}]}');
			const snapshot = await store().read();
			expect(snapshot.alerts).toEqual([]);
			const {notices: raw} = snapshot.stored;
			expect(await store().commit(plan({expect: [{kind: 'notices', raw}], writes: [{kind: 'notices', alerts}]}))).toBe(
				'done',
			);
			expect((await store().read()).alerts).toEqual(alerts);
		});
	});
}

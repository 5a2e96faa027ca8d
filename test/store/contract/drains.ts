import {describe, expect, test} from 'vitest';
import type {Drain, Alert} from '../../../source/core/model/types.js';
import type {Subject} from '../contract.js';
import {plan, poolWrite, start, write} from '../samples.js';

const drains = new Map<number, Drain>([
	[1, {reason: 'fan\u{1B}[31m', by: 'root', since: start + 0.25}],
	[3, {since: start}],
]);

const alerts: readonly Alert[] = [
	{kind: 'unreserved', gpu: 0, account: 'bob', since: start, isTold: true},
	{kind: 'squatter', gpu: 1, account: 'eve', owner: 'bob', since: start + 0.5},
	{kind: 'health', gpu: 2, problem: 'needs-reset', since: start},
];

export function drainContract({store, harness}: Subject): void {
	describe('the records of drains and alerts', () => {
		test('are empty in a new store', async () => {
			await write(store(), poolWrite(2));
			expect(await store().read()).toMatchObject({
				drains: new Map(),
				alerts: [],
				stored: {drains: undefined, alerts: undefined},
			});
		});

		test('are returned as written on every connection', async () => {
			await write(store(), poolWrite(4), {kind: 'drains', drains}, {kind: 'alerts', alerts});
			const other = await harness().open();
			expect(await other.read()).toMatchObject({drains, alerts});
			await write(store(), {kind: 'drains', drains: new Map()}, {kind: 'alerts', alerts: []});
			expect((await other.read()).stored).toMatchObject({drains: undefined, alerts: undefined});
		});

		test('include the last data loss in the alerts record', async () => {
			const dataLoss = {restoredAt: start + 0.5, readAt: start - 7};
			await write(store(), poolWrite(2), {kind: 'alerts', alerts: [], dataLoss});
			expect(await store().read()).toMatchObject({alerts: [], dataLoss});
			await write(store(), {kind: 'alerts', alerts, dataLoss});
			expect(await store().read()).toMatchObject({alerts, dataLoss});
			await write(store(), {kind: 'alerts', alerts});
			expect((await store().read()).dataLoss).toBeUndefined();
			await harness().setValue('alerts', '{"restored_at":1,"restored_read_at":"soon"}');
			expect((await store().read()).dataLoss).toBeUndefined();
		});

		test('include the memory baselines in the alerts record, even if there is no alert', async () => {
			const baselines = new Map([[1, {memoryMiB: 3.5, uuid: 'GPU-1\u{1B}', bootId: 'boot-1'}]]);
			await write(store(), poolWrite(2), {kind: 'alerts', alerts, baselines});
			expect(await store().read()).toMatchObject({alerts, baselines});
			await write(store(), {kind: 'alerts', alerts: [], baselines});
			expect(await store().read()).toMatchObject({alerts: [], baselines});
			await write(store(), {kind: 'alerts', alerts: []});
			expect((await store().read()).stored.alerts).toBeUndefined();
			await harness().setValue('alerts', '{"baselines":[{"gpu":1,"memory_mib":"much"}]}');
			expect((await store().read()).baselines).toEqual(new Map());
		});

		test('include shares that exceed their memory in the alerts record, even if there is no alert', async () => {
			const common = {gpu: 1, leaseId: 'lease\u{1B}', since: start + 0.25, countedAt: start + 9, usedMiB: 9000.5};
			const overuse = [
				{...common, scans: 2, isRecorded: false, isReminded: false},
				{...common, gpu: 0, scans: 0, isRecorded: true, isReminded: true},
			];
			await write(store(), poolWrite(2), {kind: 'alerts', alerts, overuse});
			expect(await store().read()).toMatchObject({alerts, overuse});
			await write(store(), {kind: 'alerts', alerts: [], overuse});
			expect(await store().read()).toMatchObject({alerts: [], overuse});
			await write(store(), {kind: 'alerts', alerts: []});
			expect(await store().read()).toMatchObject({overuse: [], stored: {alerts: undefined}});
			await harness().setValue('alerts', '{"overuse":[{"gpu":1,"scans":"many"}]}');
			expect((await store().read()).overuse).toEqual([]);
		});

		test('include the reservations that went back to the pool in the alerts record, even if there is no alert', async () => {
			const returned = [
				{
					account: 'ada',
					label: 'ada\u{1B}',
					gpus: [0, 1],
					leaseId: 'a',
					reason: 'reclaimed',
					endedAt: start,
					note: 'eval',
				},
				{account: 'bob', gpus: [2], leaseId: 'b', reason: 'beyond-limit', endedAt: start + 9},
			] as const;
			await write(store(), poolWrite(2), {kind: 'alerts', alerts, returned});
			expect(await store().read()).toMatchObject({alerts, returned});
			await write(store(), {kind: 'alerts', alerts: [], returned});
			expect(await store().read()).toMatchObject({alerts: [], returned});
			await write(store(), {kind: 'alerts', alerts: []});
			expect((await store().read()).stored.alerts).toBeUndefined();
			await harness().setValue('alerts', '{"returned":[{"account":"ada","reason":"lost"}]}');
			expect((await store().read()).returned).toBeUndefined();
		});

		test.each(['drains', 'alerts'] as const)(
			'cause a conflict if their bytes differ from those that a commit expects: %s',
			async (kind) => {
				await write(store(), poolWrite(4), {kind: 'drains', drains}, {kind: 'alerts', alerts});
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
			},
		);

		test('take every GPU out of service if the drains record cannot be read', async () => {
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

		test('return no alerts if the alerts record cannot be read', async () => {
			await harness().setValue('alerts', '{"notices":[{"kind":"dance"}]}');
			const snapshot = await store().read();
			expect(snapshot.alerts).toEqual([]);
			const {alerts: raw} = snapshot.stored;
			expect(await store().commit(plan({expect: [{kind: 'alerts', raw}], writes: [{kind: 'alerts', alerts}]}))).toBe(
				'done',
			);
			expect((await store().read()).alerts).toEqual(alerts);
		});
	});
}

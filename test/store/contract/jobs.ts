import {describe, expect, test} from 'vitest';
import type {Job} from '../../../source/core/model/jobs.js';
import type {Plan} from '../../../source/core/model/plan.js';
import type {PoolEvent} from '../../../source/core/model/types.js';
import {eventually} from '../../_helpers/eventually.js';
import {job} from '../../core/rules/jobs/_jobs.js';
import type {Subject} from '../contract.js';
import {plan, poolWrite, write} from '../samples.js';

const submission = (raw: string | undefined, ...jobs: readonly Job[]): Plan =>
	plan({
		expect: [{kind: 'jobs', raw}],
		writes: [
			...jobs.map((each) => ({kind: 'job', job: each}) as const),
			{kind: 'jobs', index: {next: jobs.at(-1)!.number + 1, numbers: jobs.map(({number}) => number)}},
		],
		event: {kind: 'job', gpus: [], jobs: jobs.map(({number}) => number)},
	});

export function jobContract({store, harness}: Subject): void {
	describe('the jobs in a store', () => {
		test('are empty in a new store, and the first job number is 1', async () => {
			await write(store(), poolWrite(2));
			expect(await store().readJobs()).toMatchObject({records: [], index: {next: 1, numbers: [], raw: undefined}});
			expect((await store().readJobs([4])).records).toEqual([]);
		});

		test('are returned by every connection as written', async () => {
			await write(store(), poolWrite(2));
			const jobs = [job(1), job(2, {state: 'running', gpus: [1]}), job(3)];
			expect(await store().commit(submission(undefined, ...jobs))).toBe('done');
			const other = await harness().open();
			const all = await other.readJobs();
			expect(all.records).toMatchObject(jobs.map((each) => ({kind: 'job', number: each.number, job: each})));
			expect(all.index).toMatchObject({next: 4, numbers: [1, 2, 3]});
			expect((await other.readJobs([3, 9, 1])).records.map(({number}) => number)).toEqual([3, 1]);
			expect((await other.read()).gpus).toHaveLength(2);
		});

		test('change only if the record and the index match the expected bytes', async () => {
			await write(store(), poolWrite(2));
			await store().commit(submission(undefined, job(1)));
			expect(await store().commit(submission(undefined, job(1, {account: 'eve'})))).toBe('conflict');
			const {records, index} = await store().readJobs();
			const change = (raw: string | undefined) =>
				plan({expect: [{kind: 'job', number: 1, raw}], writes: [{kind: 'job', job: job(1, {state: 'running'})}]});
			expect(await store().commit(change(undefined))).toBe('conflict');
			expect(await store().commit(change(`${records[0]!.raw} `))).toBe('conflict');
			expect(await store().commit(change(records[0]!.raw))).toBe('done');
			expect(await store().commit(change(records[0]!.raw))).toBe('conflict');
			expect((await store().readJobs()).records).toMatchObject([{job: {state: 'running', account: 'alice'}}]);
			expect(await store().commit(submission(index.raw, job(2)))).toBe('done');
		});

		test('are removed from the index with their record', async () => {
			await write(store(), poolWrite(2));
			await store().commit(submission(undefined, job(1), job(2)));
			const {index} = await store().readJobs();
			await store().commit(
				plan({
					expect: [{kind: 'jobs', raw: index.raw}],
					writes: [
						{kind: 'forget-job', number: 1},
						{kind: 'jobs', index: {next: 3, numbers: [2]}},
					],
				}),
			);
			expect((await store().readJobs()).records.map(({number}) => number)).toEqual([2]);
			expect((await store().readJobs([1])).records).toEqual([]);
		});

		test('cause events that contain their numbers', async () => {
			await write(store(), poolWrite(2));
			const heard: Array<PoolEvent | undefined> = [];
			const stop = await store().subscribe({
				changed(event) {
					heard.push(event);
				},
			});
			await store().commit(submission(undefined, job(1), job(2)));
			await eventually(() => heard.length > 0);
			expect(heard).toEqual([{kind: 'job', gpus: [], jobs: [1, 2]}]);
			await stop();
		});
	});
}

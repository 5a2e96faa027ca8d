/** `wait` while the store loses records of jobs. */
import {expect, onTestFinished, test, vi} from 'vitest';
import {awaitJobs} from '../../../source/commands/jobs/wait.js';
import {takeJob} from '../../../source/core/operations/jobs/job-keeper.js';
import {emptyPlan} from '../../../source/core/model/plan.js';
import {ended, queued, started} from '../../../source/core/rules/jobs/changes.js';
import {submitTestJobs} from '../../_helpers/jobs.js';
import {createTestWorld} from '../../_helpers/world.js';

test('wait ends if the store has lost the record of a job that had ended, and later that of a job whose process is gone', async () => {
	const world = await createTestWorld();
	const never = new AbortController();
	onTestFinished(() => {
		never.abort();
	});
	const jobs = await submitTestJobs(world, {array: {indices: [0, 1]}});
	const [first, second] = await Promise.all(jobs.map(async (job) => takeJob(world, job, never.signal)));
	await first!.update((job) => queued(job));
	await first!.update((job, now) => started(job, {leaseId: 'a', gpus: [0]}, now));
	await first!.update((job, now) => ended(job, {exitCode: 0}, now));
	await second!.update((job) => queued(job));
	const forget = async (number: number) =>
		world.memory.commit({
			...emptyPlan,
			writes: [{kind: 'forget-job', number}],
			event: {kind: 'job', gpus: [], jobs: [number]},
		});

	const hasRead = Promise.withResolvers<void>();
	const {readJobs} = world.store;
	const read = vi.spyOn(world.store, 'readJobs').mockImplementation(async (...numbers) => {
		const list = await readJobs(...numbers);
		hasRead.resolve();
		return list;
	});
	const waiting = awaitJobs(world, world, ['1'], never.signal);
	await hasRead.promise;
	await forget(1);
	await forget(2);
	// Every read lets the time of the test pass.
	read.mockImplementation(async (...numbers) => {
		world.pass(60);
		return readJobs(...numbers);
	});
	expect(await waiting).toMatchObject([
		{number: 1, state: 'completed', exitCode: 0},
		{number: 2, state: 'lost', reason: 'the store has lost its record'},
	]);
});

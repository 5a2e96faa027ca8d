import {describe, expect, test} from 'vitest';
import type {JobRequest} from '../../../source/core/rules/jobs/submit.js';
import {cancelJobs, changeJob, readCurrentJobs, retryJobs} from '../../../source/core/operations/jobs/jobs.js';
import {takeJob} from '../../../source/core/operations/jobs/job-keeper.js';
import {CanhazgpuError} from '../../../source/errors.js';
import {acquireNow} from '../../../source/core/operations/acquire-now.js';
import {readStatus, release} from '../../../source/core/operations/reservations.js';
import {ended, lost, queued, started, taken} from '../../../source/core/rules/jobs/changes.js';
import {submitTestJobs as submit} from '../../_helpers/jobs.js';
import {createTestWorld, person, type TestWorld} from '../../_helpers/world.js';

const states = async (world: TestWorld) =>
	(await readCurrentJobs(world)).records.map((record) => [record.number, record.kind === 'job' && record.job.state]);

describe('submitted jobs', () => {
	test('get consecutive numbers, and a job array gets one number for each index', async () => {
		const world = await createTestWorld();
		expect((await submit(world)).map(({number, log}) => [number, log])).toEqual([[1, '/jobs/1.log']]);
		const members = await submit(world, {array: {indices: [0, 3], limit: 1}});
		expect(members.map(({number, array, log}) => [number, array, log])).toEqual([
			[2, {id: 2, index: 0, limit: 1}, '/jobs/2_0.log'],
			[3, {id: 2, index: 3, limit: 1}, '/jobs/2_3.log'],
		]);
		expect((await submit(world))[0]!.number).toBe(4);
		expect((await world.store.audit()).filter(({kind}) => kind === 'submitted')).toMatchObject([
			{jobId: '1', count: 1, account: 'alice'},
			{jobId: '2', count: 2},
			{jobId: '4', count: 1},
		]);
	});

	test('get different numbers when they are submitted concurrently', async () => {
		const world = await createTestWorld();
		const jobs = await Promise.all(Array.from({length: 20}, async () => submit(world)));
		expect(
			jobs
				.flat()
				.map(({number}) => number)
				.toSorted((a, b) => a - b),
		).toEqual(Array.from({length: 20}, (_, index) => index + 1));
	});

	test('are refused if a dependency is unknown or was cancelled', async () => {
		const world = await createTestWorld();
		await expect(submit(world, {after: [{id: '1', isAny: false}]})).rejects.toMatchObject({
			code: 'usage',
			message: 'There is no job 1 to wait for',
		});
		await submit(world);
		await cancelJobs(world, person('alice'), ['1']);
		await expect(submit(world, {after: [{id: '1', isAny: false}]})).rejects.toMatchObject({
			code: 'usage',
			message: 'The command would never start: job 1 was cancelled',
		});
		expect(await submit(world, {after: [{id: '1', isAny: true}]})).toMatchObject([{number: 2}]);
		expect(await states(world)).toEqual([
			[1, 'cancelled'],
			[2, 'pending'],
		]);
	});

	test('are deleted 30 days after their end, unless another job waits for them', async () => {
		const world = await createTestWorld();
		await submit(world);
		await submit(world);
		await cancelJobs(world, person('alice'), ['1', '2']);
		await submit(world, {after: [{id: '2', isAny: true}], begin: world.now() + 90 * 86_400});
		world.pass(31 * 86_400);
		await submit(world);
		expect((await states(world)).map(([number]) => number)).toEqual([2, 3, 4]);
		expect((await world.store.readJobs([1])).records).toEqual([]);
	});
});

describe('a wrapper', () => {
	test("starts its job only once, and only with the job's token", async () => {
		const world = await createTestWorld();
		const [job] = await submit(world);
		const take = async (token: string) => changeJob(world, 1, (found) => taken(found, token, world.host));
		expect(await take('another')).toBeUndefined();
		const takers = await Promise.all([take(job!.token), take(job!.token)]);
		expect(takers.filter((each) => each !== undefined)).toHaveLength(1);
	});

	test('does not start a job that was cancelled while it waited', async () => {
		const world = await createTestWorld();
		const [job] = await submit(world);
		await changeJob(world, 1, (found) => taken(found, job!.token, world.host));
		await changeJob(world, 1, queued);
		await cancelJobs(world, person('alice'), ['1']);
		const start = await changeJob(world, 1, (found, now) => started(found, {leaseId: 'lease', gpus: [0]}, now));
		expect(start).toBeUndefined();
		expect(await states(world)).toEqual([[1, 'cancelled']]);
	});

	test('reruns a failed job as often as --retries says, and never reruns a cancelled job', async () => {
		const world = await createTestWorld();
		await submit(world, {retries: 2});
		const run = async () => {
			await changeJob(world, 1, (found, now) => started(queued(found), {leaseId: 'lease', gpus: [0]}, now));
			return (await changeJob(world, 1, (found, now) => ended(found, {exitCode: 3}, now)))?.state;
		};

		expect([await run(), await run(), await run()]).toEqual(['queued', 'queued', 'failed']);
		await submit(world, {retries: 2});
		await changeJob(world, 2, (found, now) => started(queued(found), {leaseId: 'lease', gpus: [0]}, now));
		await cancelJobs(world, person('alice'), ['2']);
		const end = await changeJob(world, 2, (found, now) => ended(found, {exitCode: 143}, now));
		expect(end).toMatchObject({state: 'cancelled', exitCode: 143, reason: 'cancelled by alice'});
	});
});

describe('a job of another account', () => {
	test('can be cancelled by its owner and root, and retried by its owner alone', async () => {
		const world = await createTestWorld();
		await submit(world);
		const [bob, root] = [person('bob'), {...person('root'), uid: 0}];
		await expect(cancelJobs(world, bob, ['1'])).rejects.toMatchObject({code: 'not-owner'});
		expect(await cancelJobs(world, root, ['1'])).toMatchObject([{after: {state: 'cancelled'}}]);
		await expect(retryJobs(world, bob, ['1'], () => true)).rejects.toMatchObject({code: 'not-owner'});
		await expect(retryJobs(world, root, ['1'], () => true)).rejects.toMatchObject({code: 'not-owner'});
		await expect(retryJobs(world, person('alice'), ['1'], () => false)).rejects.toMatchObject({
			code: 'not-owner',
			message: 'The record of job 1 was written by somebody else or by an older version, or somebody changed it',
		});
	});
});

describe('a retried job', () => {
	test('is pending again with a new token, so that the earlier wrapper cannot take the job', async () => {
		const world = await createTestWorld();
		const [first] = await submit(world);
		await expect(retryJobs(world, person('alice'), ['1'], () => true)).rejects.toMatchObject({
			message: 'Job 1 has not ended',
		});
		await cancelJobs(world, person('alice'), ['1']);
		const [again] = await retryJobs(world, person('alice'), ['1'], () => true);
		expect(again).toMatchObject({state: 'pending', isHeld: false, reason: undefined});
		expect(await changeJob(world, 1, (found) => taken(found, first!.token, world.host))).toBeUndefined();
		expect(await changeJob(world, 1, (found) => taken(found, again!.token, world.host))).toMatchObject({isHeld: true});
		await expect(retryJobs(world, person('alice'), ['9'], () => true)).rejects.toMatchObject({code: 'usage'});
	});

	test('has one minute to get a wrapper, even if it was first submitted long ago', async () => {
		const world = await createTestWorld();
		await submit(world);
		await cancelJobs(world, person('alice'), ['1']);
		world.pass(7200);
		await retryJobs(world, person('alice'), ['1'], () => true);
		world.processes.set(world.host.self.pid, 'dead');
		expect(await states(world)).toEqual([[1, 'pending']]);
		world.pass(61);
		expect(await states(world)).toEqual([[1, 'lost']]);
	});
});

describe('a running job whose processes cannot be seen', () => {
	const setScene = async () => {
		const world = await createTestWorld();
		await submit(world);
		await acquireNow(world, {requester: person('alice'), count: 1, tenure: {type: 'run'}}, 'lease');
		await changeJob(world, 1, (job) => taken(job, job.token, world.host));
		await changeJob(world, 1, (job, now) => started(queued(job), {leaseId: 'lease', gpus: [0]}, now));
		world.processes.set(world.host.self.pid, 'unknown');
		return world;
	};

	test('is lost when its reservation has ended because no heartbeat came, and then a cancellation also ends it', async () => {
		for (const isCancelled of [false, true]) {
			const world = await setScene();
			if (isCancelled) {
				await cancelJobs(world, person('alice'), ['1']);
			}

			world.pass(15 * 60 + 1);
			await readStatus(world);
			expect(await states(world)).toEqual([[1, 'running']]);
			world.pass(71);
			await readStatus(world);
			expect(await states(world)).toEqual([[1, isCancelled ? 'cancelled' : 'lost']]);
			const [record] = (await readCurrentJobs(world)).records;
			expect(record).toMatchObject({
				job: {reason: isCancelled ? 'cancelled by alice' : 'its heartbeat stopped', endTime: world.now()},
			});
		}
	});

	test('continues if somebody has released its GPUs, because its command may still run', async () => {
		const world = await setScene();
		await release(world, person('alice'), {by: 'gpus', ids: [0]});
		world.pass(3600);
		await readStatus(world);
		expect(await states(world)).toEqual([[1, 'running']]);
	});
});

describe('a retried job with a dependency', () => {
	const setScene = async () => {
		const world = await createTestWorld();
		await submit(world);
		await submit(world, {after: [{id: '1', isAny: false}]});
		await cancelJobs(world, person('alice'), ['1']);
		expect(await states(world)).toEqual([
			[1, 'cancelled'],
			[2, 'cancelled'],
		]);
		return {world, retry: async (...ids: readonly string[]) => retryJobs(world, person('alice'), ids, () => true)};
	};

	test('is refused and stays unchanged if the dependency has failed', async () => {
		const {world, retry} = await setScene();
		const before = await readCurrentJobs(world);
		await expect(retry('2')).rejects.toMatchObject({
			code: 'failed',
			message: 'Job 2 would never start: job 1 was cancelled',
			hint: 'Retry both: canhazgpu retry 1 2',
		});
		expect((await readCurrentJobs(world)).records).toEqual(before.records);
	});

	test.each([[['1', '2']], [['2', '1']]])(
		'waits for a dependency that is retried with the job: retry %s',
		async (ids) => {
			const {world, retry} = await setScene();
			await retry(...ids);
			expect(await states(world)).toEqual([
				[1, 'pending'],
				[2, 'pending'],
			]);
		},
	);

	test('is refused if the record of the dependency was removed', async () => {
		const world = await createTestWorld();
		await submit(world);
		await changeJob(world, 1, (job, now) => ended(job, {exitCode: 0}, now));
		await submit(world, {after: [{id: '1', isAny: false}]});
		world.pass(31 * 86_400);
		await cancelJobs(world, person('alice'), ['2']);
		await submit(world);
		await expect(retryJobs(world, person('alice'), ['2'], () => true)).rejects.toMatchObject({
			code: 'failed',
			message: 'Job 2 would never start: there is no job 1 any more',
		});
	});
});

describe('the keeper of a job', () => {
	const keep = async (world: TestWorld, part?: Partial<JobRequest>) => {
		const [job] = await submit(world, part);
		const keeper = await takeJob(world, job!, new AbortController().signal);
		return keeper!;
	};

	test('restores the job record if the store has lost all jobs', async () => {
		const world = await createTestWorld();
		await submit(world);
		const keeper = await keep(world);
		expect(await keeper.awaitStart(new AbortController().signal)).toBe(true);
		await keeper.update((job, now) => started(queued(job), {leaseId: 'lease', gpus: [1]}, now));
		world.memory.state.jobs = undefined;
		world.memory.state.jobRecords.clear();
		await keeper.update((job, now) => ended(job, {exitCode: 0}, now));
		expect(await states(world)).toEqual([[2, 'completed']]);
		// Lost numbers are not reused.
		expect((await submit(world))[0]!.number).toBe(3);
	});

	test('overwrites an outdated state and a false report that the job was lost', async () => {
		const world = await createTestWorld();
		const keeper = await keep(world);
		const early = new Map(world.memory.state.jobRecords);
		await keeper.awaitStart(new AbortController().signal);
		await keeper.update((job, now) => started(queued(job), {leaseId: 'lease', gpus: [1]}, now));
		world.memory.state.jobRecords.set(1, early.get(1)!);
		await changeJob(world, 1, (job, now) => lost(job, 'its processes were killed', now));
		const end = await keeper.update((job, now) => ended(job, {exitCode: 0}, now));
		expect(end).toMatchObject({state: 'completed', starts: 1, reason: undefined});
	});

	test('does not overwrite the job of a later wrapper', async () => {
		const world = await createTestWorld();
		const keeper = await keep(world);
		await cancelJobs(world, person('alice'), ['1']);
		await retryJobs(world, person('alice'), ['1'], () => true);
		expect(await keeper.update((job, now) => ended(job, {exitCode: 0}, now))).toBeUndefined();
		expect(await states(world)).toEqual([[1, 'pending']]);
	});

	test('starts its job when the dependency has completed, and cancels it if the dependency failed', async () => {
		const world = await createTestWorld();
		const first = await keep(world);
		const second = await keep(world, {after: [{id: '1', isAny: false}]});
		const waiting = second.awaitStart(new AbortController().signal);
		await first.update((job, now) => ended(job, {exitCode: 0}, now));
		expect(await waiting).toBe(true);
		const third = await keep(world, {after: [{id: '2', isAny: false}]});
		const hopeless = third.awaitStart(new AbortController().signal);
		await second.update((job, now) => started(queued(job), {leaseId: 'lease', gpus: [1]}, now));
		await second.update((job, now) => ended(job, {exitCode: 9}, now));
		expect(await hopeless).toBe(false);
		expect((await readCurrentJobs(world, [3])).records).toMatchObject([
			{job: {state: 'cancelled', reason: 'job 2 failed'}},
		]);
	});

	describe('after the store has lost the record of a dependency', () => {
		async function lose(state: 'running' | 'completed') {
			const world = await createTestWorld();
			const first = await keep(world);
			const second = await keep(world, {after: [{id: '1', isAny: true}]});
			await first.update((job, now) => started(queued(job), {leaseId: 'lease', gpus: [1]}, now));
			if (state === 'completed') {
				await first.update((job, now) => ended(job, {exitCode: 0}, now));
			}

			world.memory.state.jobs = undefined;
			world.memory.state.jobRecords.clear();
			return {world, first, second};
		}

		test('cancels its job if the record is still missing after five minutes', async () => {
			const {world, second} = await lose('completed');
			const before = world.now();
			expect(await second.awaitStart(new AbortController().signal)).toBe(false);
			expect(world.now() - before).toBeGreaterThanOrEqual(300);
			expect(world.now() - before).toBeLessThan(310);
			expect((await readCurrentJobs(world)).records).toMatchObject([
				{job: {number: 2, state: 'cancelled', reason: 'job 1 is unknown, because its record was lost'}},
			]);
		});

		test('continues to wait when the wrapper of the dependency restores the record', async () => {
			const {world, first, second} = await lose('running');
			const waiting = second.awaitStart(new AbortController().signal);
			await first.update((job) => job);
			await first.update((job, now) => ended(job, {exitCode: 0}, now));
			expect(await waiting).toBe(true);
			expect(await states(world)).toEqual([
				[1, 'completed'],
				[2, 'queued'],
			]);
		});

		test('does not count the time in which the store is unreachable', async () => {
			let isAway = false;
			const world = await createTestWorld({
				wrap: (store) => ({
					...store,
					async readJobs(numbers) {
						if (isAway) {
							throw new CanhazgpuError('store-unreachable', 'away');
						}

						return store.readJobs(numbers);
					},
				}),
			});
			await keep(world);
			const second = await keep(world, {after: [{id: '1', isAny: true}]});
			const lostAt = world.now();
			world.memory.state.jobs = undefined;
			world.memory.state.jobRecords.clear();
			const waiting = second.awaitStart(new AbortController().signal);
			while (world.now() < lostAt + 200) {
				await world.clock.sleep(1);
			}

			isAway = true;
			while (world.now() < lostAt + 600) {
				await world.clock.sleep(1);
			}

			const backAt = world.now();
			isAway = false;
			expect(await waiting).toBe(false);
			expect(world.now() - backAt).toBeGreaterThanOrEqual(300);
		});
	});
});

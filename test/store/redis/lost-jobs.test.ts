/** A Redis server that is restarted without its data, while jobs wait for others. */
import {setTimeout as sleep} from 'node:timers/promises';
import {expect, onTestFinished, test} from 'vitest';
import type {World} from '../../../source/core/model/ports.js';
import {takeJob, type JobKeeper} from '../../../source/core/operations/jobs/job-keeper.js';
import {readCurrentJobs} from '../../../source/core/operations/jobs/jobs.js';
import {createPool} from '../../../source/core/operations/pool/create-pool.js';
import {ended} from '../../../source/core/rules/jobs/changes.js';
import {createClock} from '../../../source/host/clock.js';
import {openRedisStore} from '../../../source/store/redis/index.js';
import {submitTestJobs} from '../../_helpers/jobs.js';
import {testHost} from '../../_helpers/machine/host.js';
import {startRedis} from '../../_helpers/store/redis-server.js';

/** How many times faster than the real clock the clock of the wrappers runs. */
const speed = 40;

async function start() {
	const server = await startRedis();
	const store = await openRedisStore({host: server.host, port: server.port, db: 0, keepReconnecting: true});
	const ending = new AbortController();
	onTestFinished(async () => {
		ending.abort();
		await store.close();
		await server.stop();
	});
	const real = createClock();
	const world: World = {
		store,
		host: testHost(),
		clock: {
			...real,
			monotonicMs: () => performance.now() * speed,
			sleep: async (milliseconds, signal) => real.sleep(milliseconds / speed, signal),
		},
		gpus: {
			name: 'fake',
			simulated: true,
			count: async () => 1,
			observe: async () => expect.unreachable('a waiting job reads no GPUs'),
		},
		memoryThresholdMiB: 1024,
	};
	const makePool = async () => createPool(world, {gpuCount: 1, provider: 'fake', force: false});
	const keep = async (after: readonly string[], isKept = true): Promise<JobKeeper> => {
		const [job] = await submitTestJobs(world, {after: after.map((id) => ({id, isAny: true}))});
		const keeper = await takeJob(world, job!, ending.signal);
		if (isKept) {
			void keeper!.keep(ending.signal, () => undefined);
		}

		return keeper!;
	};

	await makePool();
	return {
		world,
		keep,
		wait: async (keeper: JobKeeper) => keeper.awaitStart(ending.signal),
		async restartEmpty() {
			await server.kill();
			await server.restart();
			await makePool();
		},
	};
}

const jobsOf = async (world: World) =>
	(await readCurrentJobs(world)).records.map(
		(record) => record.kind === 'job' && [record.number, record.job.state, record.job.reason],
	);

test('after Redis lost its data, a job still waits for a running job, but is cancelled if it waits for an ended job', async () => {
	const {world, keep, wait, restartEmpty} = await start();
	// The wrapper of a job that has ended is gone.
	const over = await keep([], false);
	const running = await keep([]);
	const [hopeless, patient] = [await keep(['1', '2']), await keep(['2'])];
	const waits = [wait(hopeless), wait(patient)];
	await over.update((job, now) => ended(job, {exitCode: 0}, now));
	await restartEmpty();
	// The records of the jobs that have not ended are back soon.
	await expect
		.poll(async () => (await jobsOf(world)).map((job) => (job === false ? undefined : job[0])))
		.toEqual([2, 3, 4]);
	expect(await waits[0]).toBe(false);
	await sleep(100);
	expect(await jobsOf(world)).toEqual([
		[2, 'pending', undefined],
		[3, 'cancelled', 'job 1 is unknown, because its record was lost'],
		[4, 'pending', undefined],
	]);
	await running.update((job, now) => ended(job, {exitCode: 0}, now));
	expect(await waits[1]).toBe(true);
});

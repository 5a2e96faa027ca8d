/** Reads and changes the records of detached jobs. */
import {CanhazgpuError, quoted, withFallback} from '../../../errors.js';
import {emptyPlan, isEmpty, type Plan} from '../../model/plan.js';
import type {Job, JobList, SoundJobRecord} from '../../model/jobs.js';
import type {World} from '../../model/ports.js';
import type {Requester} from '../../model/types.js';
import {isRoot} from '../../rules/leases/ownership.js';
import {cancelled, planJobChanges, retried} from '../../rules/jobs/changes.js';
import {isJobId, jobIdOf, jobsNamed} from '../../rules/jobs/ids.js';
import {planLook, soundRecords} from '../../rules/jobs/look.js';
import {isOver} from '../../rules/jobs/start.js';
import {planSubmission, type JobRequest} from '../../rules/jobs/submit.js';
import {requirePool} from '../../rules/pool/pool.js';
import {changeOnce} from '../change-once.js';

/** How often the jobs are read again because others changed them in the meantime. What is then still due is left to the next reader. */
const mostLooks = 5;

/** Reads jobs, and stores what every reader notices: that jobs are lost, or will never start. Reads those with these numbers, or all. */
export async function readCurrentJobs({store, host}: World, numbers?: readonly number[]): Promise<JobList> {
	let list = await store.readJobs(numbers);
	for (let looks = 0; looks < mostLooks; looks++) {
		const plan = planLook(list, host);
		if (isEmpty(plan)) {
			break;
		}

		// A store that rejects writes, as a replica does, is shown as it is.
		const isRefused = await withFallback(
			async () => store.commit(plan).then(() => false),
			() => true,
			'store-refused',
		);
		if (isRefused) {
			break;
		}

		list = await store.readJobs(numbers);
	}

	return list;
}

type Planned<Result> = {readonly plan: Plan; readonly result: Result};

type ChangeOptions<Result> = {
	readonly numbers?: readonly number[];
	readonly plan: (list: JobList) => Planned<Result>;
};

/** Makes one change of jobs, exactly once or not at all. Throws as {@link changeOnce}. */
export const changeJobs = async <Result>(world: World, {numbers, plan}: ChangeOptions<Result>): Promise<Result> =>
	changeOnce(world, {
		async read(change) {
			const snapshot = await world.store.read({change, withoutQueue: true});
			requirePool(snapshot, world.host, world.store.location);
			return snapshot;
		},
		attempt: async () => plan(await world.store.readJobs(numbers)),
	});

/** Changes one job. `change` returns undefined to leave the job as it is, which is then the result. */
export const changeJob = async (
	world: World,
	number: number,
	change: (job: Job, now: number) => Job | undefined,
): Promise<Job | undefined> =>
	changeJobs(world, {
		numbers: [number],
		plan(list) {
			const [record] = soundRecords(list);
			const job = record && change(record.job, list.now);
			return record === undefined || job === undefined
				? {plan: emptyPlan, result: undefined}
				: {plan: planJobChanges([{record, job}], {now: list.now, host: world.host.hostname}), result: job};
		},
	});

const unknownJob = (id: string): CanhazgpuError =>
	new CanhazgpuError('usage', isJobId(id) ? `There is no job ${id}` : `${quoted(id)} is not the id of a job`, {
		hint: 'See the ids: canhazgpu jobs --all',
	});

/** Returns the jobs with these ids. Throws `usage` for an unknown id. */
export function jobsWithIds(list: JobList, ids: readonly string[]): readonly SoundJobRecord[] {
	const records = soundRecords(list);
	const found = ids.flatMap((id) => {
		const named = new Set(
			jobsNamed(
				records.map(({job}) => job),
				id,
			),
		);
		if (named.size === 0) {
			throw unknownJob(id);
		}

		return records.filter(({job}) => named.has(job));
	});
	return [...new Set(found)];
}

const notOwner = (id: string): CanhazgpuError =>
	new CanhazgpuError('not-owner', `Job ${id} belongs to another account`, {
		hint: 'See whose it is: canhazgpu jobs --all',
	});

/** Throws `not-owner` for a job of another account. Root may see and cancel all jobs. */
export function requireOwn(requester: Requester, {job}: SoundJobRecord): void {
	if (job.account !== requester.account && !isRoot(requester)) {
		throw notOwner(jobIdOf(job));
	}
}

/** Throws `not-owner` for a job of another account, also for root. */
export function requireOwner(
	{account}: Requester,
	{id, account: owner}: {readonly id: string; readonly account: string},
): void {
	if (owner !== account) {
		throw notOwner(id);
	}
}

export const submitJobs = async (
	world: World,
	request: JobRequest,
	logOf: (id: string) => string,
): Promise<readonly Job[]> =>
	changeJobs(world, {
		plan(list) {
			const {plan, jobs} = planSubmission(list, request, {
				host: world.host,
				tokenOf: () => world.clock.uuid(),
				logOf,
			});
			return {plan, result: jobs};
		},
	});

/** Cancels jobs. Returns each as it was before and is now, without those that had already ended. */
export const cancelJobs = async (
	world: World,
	requester: Requester,
	ids: readonly string[],
	via?: string,
): Promise<ReadonlyArray<{readonly before: Job; readonly after: Job}>> =>
	changeJobs(world, {
		plan(list) {
			const records = jobsWithIds(list, ids);
			for (const record of records) {
				requireOwn(requester, record);
			}

			const changes = records
				.filter(({job}) => !isOver(job))
				.map((record) => ({record, job: cancelled(record.job, {account: requester.account, via}, list.now)}));
			return {
				plan: planJobChanges(changes, {now: list.now, host: world.host.hostname, account: requester.account}),
				result: changes.map(({record, job}) => ({before: record.job, after: job})),
			};
		},
	});

/**
Prepares ended jobs to start again, in the state before a wrapper has taken them. Throws `failed` for a job that has not ended, and `not-owner`.
@param isGenuine - Returns whether this account has written the command line of a job.
*/
export const retryJobs = async (
	world: World,
	requester: Requester,
	ids: readonly string[],
	isGenuine: (job: Job) => boolean,
): Promise<readonly Job[]> =>
	changeJobs(world, {
		plan(list) {
			const records = jobsWithIds(list, ids);
			for (const record of records) {
				// Not even root may run the command lines of others.
				requireOwner(requester, {id: jobIdOf(record.job), account: record.job.account});

				if (!isGenuine(record.job)) {
					throw new CanhazgpuError(
						'not-owner',
						`The record of job ${jobIdOf(record.job)} was not written by this account, or was changed since`,
						{hint: 'Submit the command again: canhazgpu run --detach -- COMMAND'},
					);
				}

				if (!isOver(record.job)) {
					throw new CanhazgpuError('failed', `Job ${jobIdOf(record.job)} has not ended`, {
						hint: `Cancel it first: canhazgpu cancel ${jobIdOf(record.job)}`,
					});
				}
			}

			const changes = records.map((record) => ({
				record,
				job: retried(record.job, world.clock.uuid(), world.host),
			}));
			return {
				plan: planJobChanges(changes, {now: list.now, host: world.host.hostname}),
				result: changes.map(({job}) => job),
			};
		},
	});

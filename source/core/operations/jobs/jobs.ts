import {CanhazgpuError, quoted, withFallback} from '../../../errors.js';
import {emptyPlan, isEmpty, type Plan} from '../../model/plan.js';
import type {Job, JobList, SoundJobRecord} from '../../model/jobs.js';
import type {World} from '../../model/ports.js';
import type {AuditRecord, Requester} from '../../model/types.js';
import {silentLeases} from '../../rules/leases/audit-entries.js';
import {holdingsIn} from '../../rules/leases/holdings.js';
import {isRoot} from '../../rules/leases/ownership.js';
import {cancelled, planJobChanges, retried} from '../../rules/jobs/changes.js';
import {isJobId, jobIdOf, jobsNamed} from '../../rules/jobs/ids.js';
import {isUnseen, planLook, soundJobs, soundRecords} from '../../rules/jobs/look.js';
import {isOver} from '../../rules/jobs/start.js';
import {checkRetried, planSubmission, type JobRequest, type Submitting} from '../../rules/jobs/submit.js';
import {requirePool} from '../../rules/pool/pool.js';
import {changeOnce} from '../change-once.js';

/** How often jobs are read again after a conflict with other changes. Remaining changes are left to the next reader. */
const mostLooks = 5;

/** Returns the leases of jobs that ended because no heartbeat came. Looks only for jobs whose processes cannot be seen. */
async function silentLeasesOf({store, host}: World, list: JobList): Promise<ReadonlySet<string>> {
	const unseen = soundJobs(list).filter((job) => isUnseen(job, host));
	if (unseen.length === 0) {
		return new Set();
	}

	const held = new Set(holdingsIn((await store.read({withoutQueue: true})).gpus).map(({lease}) => lease.leaseId));
	const startTimes = unseen.filter(({leaseId}) => !held.has(leaseId)).map(({startTime = 0}) => startTime);
	if (startTimes.length === 0) {
		return new Set();
	}

	return silentLeases(
		await withFallback(
			async () => store.audit({fromTime: Math.min(...startTimes)}),
			() => [],
			'store-refused',
		),
	);
}

/** Reads all jobs, or only the jobs with these numbers. Marks jobs in the store that are lost or will never start. */
export async function readCurrentJobs(world: World, numbers?: readonly number[]): Promise<JobList> {
	const {store, host} = world;
	let list = await store.readJobs(numbers);
	for (let looks = 0; looks < mostLooks; looks++) {
		const plan = planLook(list, host, await silentLeasesOf(world, list));
		if (isEmpty(plan)) {
			break;
		}

		// If the store rejects writes, as a replica does, jobs are shown as stored.
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

/** Makes one change of jobs, exactly once or not at all. Throws like {@link changeOnce}. */
export const changeJobs = async <Result>(world: World, {numbers, plan}: ChangeOptions<Result>): Promise<Result> =>
	changeOnce(world, {
		shownBy: 'jobs',
		async read(change) {
			const snapshot = await world.store.read({change, withoutQueue: true});
			requirePool(snapshot, world.host, world.store);
			return snapshot;
		},
		attempt: async () => plan(await world.store.readJobs(numbers)),
	});

/** Changes one job, and returns the changed job. Changes nothing and returns undefined if `change` returns undefined. */
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
		agentHint: 'See the ids: gpu_job',
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
		agentHint: 'See the jobs of your account: gpu_job',
	});

/** Throws `not-owner` for a job of another account, unless the requester is root. */
export function requireOwn(requester: Requester, {job}: SoundJobRecord): void {
	if (job.account !== requester.account && !isRoot(requester)) {
		throw notOwner(jobIdOf(job));
	}
}

/** Throws `not-owner` for a job of another account, even if the requester is root. */
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
	{logOf, sealOf}: Pick<Submitting, 'logOf' | 'sealOf'>,
): Promise<readonly Job[]> =>
	changeJobs(world, {
		plan(list) {
			const {plan, jobs} = planSubmission(list, request, {
				host: world.host,
				tokenOf: () => world.clock.uuid(),
				logOf,
				sealOf,
			});
			return {plan, result: jobs};
		},
	});

/** Cancels jobs that have not ended. Returns each of them before and after the change. */
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
Resets ended jobs for a new wrapper. Throws `failed` for a job that has not ended or would never start, and `not-owner`
for a job of another account or if `isGenuine` returns false.
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
				// Not even root may run command lines that others have written.
				requireOwner(requester, {id: jobIdOf(record.job), account: record.job.account});

				if (!isGenuine(record.job)) {
					throw new CanhazgpuError(
						'not-owner',
						`The record of job ${jobIdOf(record.job)} was written by somebody else or by an older version, or somebody changed it`,
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
				job: retried(record.job, world.clock.uuid(), world.host, list.now),
			}));
			const changed = new Map(changes.map(({job}) => [job.number, job]));
			const jobs = soundJobs(list).map((job) => changed.get(job.number) ?? job);
			for (const {job} of changes) {
				checkRetried(job, jobs);
			}

			const {account} = requester;
			const {hostname: host} = world.host;
			const submitted = [...new Set(ids)].map((id): AuditRecord => ({
				time: list.now,
				host,
				kind: 'submitted',
				value: 'again',
				account,
				jobId: id,
				count: jobsWithIds(list, [id]).length,
				gpus: [],
			}));
			const plan = planJobChanges(changes, {now: list.now, host});
			return {plan: {...plan, audit: [...plan.audit, ...submitted]}, result: changes.map(({job}) => job)};
		},
	});

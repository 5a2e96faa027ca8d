import {CanhazgpuError} from '../../../errors.js';
import {emptyPlan, type Plan} from '../../model/plan.js';
import type {Job, JobList, SoundJobRecord} from '../../model/jobs.js';
import type {Host} from '../../model/ports.js';
import type {ArrayRequest} from './array.js';
import {jobIdOf} from './ids.js';
import {soundJobs, soundRecords} from './look.js';
import {dependencyState, endText, isOver} from './start.js';

export const keptSeconds = 30 * 86_400;

/** The maximum number of records. Beyond that, the oldest ended jobs are removed early. */
export const mostKept = 10_000;

export type JobRequest = Pick<
	Job,
	'account' | 'directory' | 'words' | 'command' | 'via' | 'count' | 'need' | 'after' | 'begin' | 'retries'
> & {
	readonly array?: ArrayRequest | undefined;
};

export type Submitting = {
	readonly host: Host;
	readonly tokenOf: () => string;
	readonly logOf: (id: string) => string;
	/** Returns the seal of {@link sealedParts}. */
	readonly sealOf: (parts: unknown) => string;
};

/** Returns what `retry` takes from the record of a job. Every account can write to the store, so the seal proves that nobody else has written this. */
export const sealedParts = ({
	number,
	array,
	directory,
	words,
	command,
	log,
}: Pick<Job, 'number' | 'array' | 'directory' | 'words' | 'command' | 'log'>): unknown => [
	number,
	array && [array.id, array.index, array.limit],
	directory,
	words,
	command,
	log,
];

/** Throws `usage` if a job in `after` does not exist, or has ended in a way that prevents the new job from ever starting. */
export function checkAfter(after: JobRequest['after'], jobs: readonly Job[]): void {
	for (const dependency of after) {
		const state = dependencyState(dependency, jobs);
		if (state.kind === 'unknown') {
			throw new CanhazgpuError('usage', `There is no job ${dependency.id} to wait for`, {
				hint: 'See the ids: canhazgpu jobs --all',
			});
		}

		if (state.kind === 'failed') {
			throw new CanhazgpuError('usage', `The command would never start: ${endText(state.by)}`, {
				hint: `To start it even if that job fails: --after any:${dependency.id}`,
			});
		}
	}
}

/** Throws `failed` if a job that is retried would never start. `jobs` must contain the other retried jobs as they will be. */
export function checkRetried(job: Job, jobs: readonly Job[]): void {
	const id = jobIdOf(job);
	const again = 'Submit the command again: canhazgpu run --detach -- COMMAND';
	for (const dependency of job.after) {
		const state = dependencyState(dependency, jobs);
		if (state.kind === 'unknown') {
			throw new CanhazgpuError('failed', `Job ${id} would never start: there is no job ${dependency.id} any more`, {
				hint: again,
			});
		}

		if (state.kind === 'failed') {
			throw new CanhazgpuError('failed', `Job ${id} would never start: ${endText(state.by)}`, {
				hint: state.by.account === job.account ? `Retry both: canhazgpu retry ${jobIdOf(state.by)} ${id}` : again,
			});
		}
	}
}

function outdated(records: readonly SoundJobRecord[], now: number): readonly SoundJobRecord[] {
	const jobs = records.map(({job}) => job);
	const awaited = new Set(jobs.filter((job) => !isOver(job)).flatMap(({after}) => after.map(({id}) => id)));
	const over = records.filter(
		({job}) => isOver(job) && !awaited.has(jobIdOf(job)) && !awaited.has(String(job.array?.id ?? job.number)),
	);
	const surplus = Math.max(0, jobs.length - mostKept);
	return over
		.toSorted((a, b) => a.number - b.number)
		.filter(({job}, position) => position < surplus || now - (job.endTime ?? now) > keptSeconds);
}

/** Plans the records of a new job or a whole array, with the next numbers. Throws `usage` like {@link checkAfter}. */
export function planSubmission(
	list: JobList,
	{array, ...request}: JobRequest,
	{host, tokenOf, logOf, sealOf}: Submitting,
): {readonly plan: Plan; readonly jobs: readonly Job[]} {
	const {now, index} = list;
	const known = soundJobs(list);
	checkAfter(request.after, known);
	const places = array?.indices.map((each) => ({
		id: index.next,
		index: each,
		...(array.limit !== undefined && {limit: array.limit}),
	})) ?? [undefined];
	const jobs = places.map((place, position): Job => {
		const number = index.next + position;
		const job = {...request, number, array: place, log: logOf(jobIdOf({number, array: place}))};
		return {
			...job,
			seal: sealOf(sealedParts(job)),
			token: tokenOf(),
			state: 'pending',
			starts: 0,
			submitTime: now,
			machine: host.machineId,
			bootId: host.bootId,
			holder: host.self,
			isHeld: false,
		};
	});
	const gone = outdated(soundRecords(list), now);
	const forgotten = new Set(gone.map(({number}) => number));
	const numbers = [...index.numbers.filter((number) => !forgotten.has(number)), ...jobs.map(({number}) => number)];
	return {
		jobs,
		plan: {
			...emptyPlan,
			expect: [{kind: 'jobs', raw: index.raw}, ...gone.map(({number, raw}) => ({kind: 'job', number, raw}) as const)],
			writes: [
				...gone.map(({number}) => ({kind: 'forget-job', number}) as const),
				...jobs.map((job) => ({kind: 'job', job}) as const),
				{kind: 'jobs', index: {next: index.next + jobs.length, numbers}},
			],
			audit: [
				{
					time: now,
					host: host.hostname,
					kind: 'submitted',
					account: request.account,
					jobId: String(index.next),
					count: jobs.length,
					gpus: [],
				},
			],
			event: {kind: 'job', gpus: [], jobs: jobs.map(({number}) => number)},
		},
	};
}

/** Plans to store the record of a job again after the store has lost it. Undefined if another job has the same number now. */
export function planPutBack(list: JobList, job: Job): Plan | undefined {
	const {index, records} = list;
	return records.some(({number}) => number === job.number)
		? undefined
		: {
				...emptyPlan,
				expect: [
					{kind: 'jobs', raw: index.raw},
					{kind: 'job', number: job.number, raw: undefined},
				],
				writes: [
					{kind: 'job', job},
					{
						kind: 'jobs',
						index: {
							next: Math.max(index.next, job.number + 1),
							numbers: [...new Set([...index.numbers, job.number])].toSorted((a, b) => a - b),
						},
					},
				],
				event: {kind: 'job', gpus: [], jobs: [job.number]},
			};
}

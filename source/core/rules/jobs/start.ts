import type {Dependency, Job, JobState} from '../../model/jobs.js';
import {CanhazgpuError, quoted} from '../../../errors.js';
import {isJobId, jobIdOf, jobsNamed} from './ids.js';

const activeStates: ReadonlySet<JobState> = new Set<JobState>(['pending', 'queued', 'running']);

export const isOver = ({state}: Pick<Job, 'state'>): boolean => !activeStates.has(state);

/** Parses `7`, `7,8` and `any:7,8`, and Slurm's `afterok:7:8` and `afterany:7`. Throws `usage`. */
export function parseAfter(typed: string): readonly Dependency[] {
	const {kind = 'afterok', ids = ''} =
		/^(?:(?<kind>any|afterany|ok|afterok):)?(?<ids>[\d,:_]+)$/v.exec(typed.trim())?.groups ?? {};
	const list = ids.split(/[,:]/v);
	const wrong = list.find((id) => !isJobId(id));
	if (wrong !== undefined) {
		throw new CanhazgpuError('usage', `--after: ${quoted(typed)} is not valid`, {
			hint: 'Write job ids such as 7 or 7,8, or any:7 to start even if job 7 fails.',
		});
	}

	return [...new Set(list)].map((id) => ({id, isAny: kind === 'any' || kind === 'afterany'}));
}

type DependencyState =
	| {readonly kind: 'met'}
	| {readonly kind: 'waits'}
	| {readonly kind: 'unknown'}
	| {readonly kind: 'failed'; readonly by: Job};

export function dependencyState({id, isAny}: Dependency, jobs: readonly Job[]): DependencyState {
	const named = jobsNamed(jobs, id);
	if (named.length === 0) {
		return {kind: 'unknown'};
	}

	const by = isAny ? undefined : named.find((job) => isOver(job) && job.state !== 'completed');
	return by === undefined ? {kind: named.every((job) => isOver(job)) ? 'met' : 'waits'} : {kind: 'failed', by};
}

export function isInCycle(job: Job, jobs: readonly Job[]): boolean {
	const seen = new Set<number>();
	const reaches = ({after}: Job): boolean =>
		after
			.flatMap(({id}) => jobsNamed(jobs, id))
			.some((next) => {
				if (next.number === job.number) {
					return true;
				}

				if (seen.has(next.number)) {
					return false;
				}

				seen.add(next.number);
				return reaches(next);
			});
	return reaches(job);
}

export type Start =
	| {readonly kind: 'now'}
	| {readonly kind: 'after-jobs'; readonly ids: readonly string[]}
	| {readonly kind: 'at'; readonly time: number}
	/** `before` is the number of jobs that come first in the array. */
	| {readonly kind: 'in-turn'; readonly before: number}
	| {readonly kind: 'never'; readonly reason: string};

export const endWords: Readonly<Record<JobState, string>> = {
	pending: 'waits',
	queued: 'waits',
	running: 'runs',
	completed: 'completed',
	failed: 'failed',
	timeout: 'was stopped at its time limit',
	cancelled: 'was cancelled',
	lost: 'was lost',
};

export const endText = (job: Job): string => `job ${jobIdOf(job)} ${endWords[job.state]}`;

/** Returns how many jobs of the array come before this one: jobs that run or wait for GPUs, and pending jobs with a lower index. */
const beforeInArray = (job: Job, jobs: readonly Job[]): number =>
	jobs.filter(
		(other) =>
			other.array !== undefined &&
			other.array.id === job.array?.id &&
			other.number !== job.number &&
			!isOver(other) &&
			(other.state !== 'pending' || other.array.index < job.array.index),
	).length;

/**
How long the record of a dependency may be missing. After a loss of data, wrappers write the records of unfinished
jobs again within a minute. Other records stay lost.
*/
export const longestMissSeconds = 300;

export const missingIds = ({after}: Pick<Job, 'after'>, jobs: readonly Job[]): readonly string[] =>
	after.filter((dependency) => dependencyState(dependency, jobs).kind === 'unknown').map(({id}) => id);

/**
Decides whether a pending job may start. `jobs` must contain the jobs for which the job waits and all jobs of its array.
@param missedSeconds - How long a dependency of the job has been missing in every read. A single read cannot tell whether a missing record comes back.
*/
export function startOf(job: Job, jobs: readonly Job[], now: number, missedSeconds = 0): Start {
	const states = job.after.map((dependency) => ({dependency, state: dependencyState(dependency, jobs)}));
	for (const {state} of states) {
		if (state.kind === 'failed') {
			return {kind: 'never', reason: endText(state.by)};
		}
	}

	const [missing] = missedSeconds < longestMissSeconds ? [] : missingIds(job, jobs);
	if (missing !== undefined) {
		return {kind: 'never', reason: `job ${missing} is unknown, because its record was lost`};
	}

	const waits = states.filter(({state}) => state.kind !== 'met');
	if (waits.length > 0) {
		return isInCycle(job, jobs)
			? {kind: 'never', reason: 'the jobs wait for each other'}
			: {kind: 'after-jobs', ids: waits.map(({dependency}) => dependency.id)};
	}

	if (job.begin !== undefined && job.begin > now) {
		return {kind: 'at', time: job.begin};
	}

	const limit = job.array?.limit;
	const before = limit === undefined ? 0 : beforeInArray(job, jobs);
	return limit !== undefined && before >= limit ? {kind: 'in-turn', before} : {kind: 'now'};
}

/** Jobs as shown to users, no matter whether this program or an engine such as Slurm keeps them. */
import type {ArrayPlace, Dependency, Job, JobList, JobState} from '../../model/jobs.js';
import type {InstanceOfGpu, Need} from '../../model/types.js';
import {maskSecrets, maskWords} from '../processes/secrets.js';
import {jobIdOf} from './ids.js';
import {soundJobs} from './look.js';
import {isOver, startOf, type Start} from './start.js';

export type JobRow = {
	readonly id: string;
	readonly state: JobState;
	readonly account: string;
	/** The command line. Secrets in the command lines of other accounts are masked. */
	readonly command: string;
	readonly directory?: string | undefined;
	readonly via?: string | undefined;
	readonly count: number | undefined;
	readonly need?: Need | undefined;
	readonly gpus?: readonly number[] | undefined;
	readonly instances?: readonly InstanceOfGpu[] | undefined;
	readonly after: readonly Dependency[];
	readonly begin?: number | undefined;
	readonly array?: ArrayPlace | undefined;
	readonly start?: Start | undefined;
	readonly submitTime: number;
	readonly startTime?: number | undefined;
	readonly endTime?: number | undefined;
	readonly exitCode?: number | undefined;
	readonly reason?: string | undefined;
	readonly leaseId?: string | undefined;
	readonly log?: string | undefined;
	readonly starts?: number | undefined;
	readonly retries?: number | undefined;
};

export const recentSeconds = 86_400;

/** Quotes a word as in a shell. In the words of other accounts, `***` stands for a secret and needs no quotes. */
const wordOf = (word: string, isOwn: boolean): string =>
	/^[\w%+,\-.\/:=@]+$/v.test(isOwn ? word : word.replaceAll('***', '-'))
		? word
		: `'${word.replaceAll("'", String.raw`'\''`)}'`;

function rowOf(job: Job, jobs: readonly Job[], account: string | undefined, now: number): JobRow {
	const isOwn = job.account === account;
	const words = isOwn ? job.command : maskWords(job.command);
	const line = words.map((word) => wordOf(word, isOwn)).join(' ');
	return {
		id: jobIdOf(job),
		state: job.state,
		account: job.account,
		// Masks again, because a secret can follow another word, as in `Authorization: Bearer VALUE`.
		command: isOwn ? line : maskSecrets(line),
		directory: isOwn ? job.directory : undefined,
		via: job.via,
		count: job.count,
		need: job.need,
		gpus: job.gpus,
		instances: job.instances,
		after: job.after,
		begin: job.begin,
		array: job.array,
		start: job.state === 'pending' ? startOf(job, jobs, now) : undefined,
		submitTime: job.submitTime,
		startTime: job.startTime,
		endTime: job.endTime,
		exitCode: job.exitCode,
		reason: job.reason,
		leaseId: job.leaseId,
		log: isOwn ? job.log : undefined,
		starts: job.starts,
		retries: job.retries,
	};
}

/**
Combines two answers of an engine about the same job or array. Jobs that had ended stay as they were, because an engine forgets
them some time later. If it has forgotten a job that had not ended, the job is lost.
*/
export function combineAnswers(earlier: readonly JobRow[], later: readonly JobRow[]): readonly JobRow[] {
	const ids = new Set(later.map(({id}) => id));
	const missing = earlier.filter(({id}) => !ids.has(id));
	// Waiting jobs of an array have one row, which disappears when the last of them starts.
	const forgotten = missing.filter((row) => isOver(row) || row.array !== undefined || later.length === 0);
	return [
		...forgotten.map((row): JobRow =>
			isOver(row) ? row : {...row, state: 'lost', reason: 'how the job ended is unknown'},
		),
		...later,
	];
}

type RowOptions = {
	/** The account that asks. Undefined for the public, which sees no directories, outputs or secrets. */
	readonly account: string | undefined;
	readonly isAll: boolean;
};

/** Whether a job is listed by default: it waits, runs, or ended a short time ago. */
export const isRecent = (job: Pick<JobRow, 'state' | 'endTime'>, now: number): boolean =>
	!isOver(job) || now - (job.endTime ?? 0) < recentSeconds;

export function jobRows(list: JobList, {account, isAll}: RowOptions): readonly JobRow[] {
	const jobs = soundJobs(list);
	return jobs
		.filter((job) => isAll || (job.account === account && isRecent(job, list.now)))
		.map((job) => rowOf(job, jobs, account, list.now));
}

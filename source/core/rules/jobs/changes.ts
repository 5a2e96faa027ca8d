import {emptyPlan, type Plan} from '../../model/plan.js';
import type {Job, SoundJobRecord} from '../../model/jobs.js';
import type {Host} from '../../model/ports.js';
import type {AuditRecord} from '../../model/types.js';
import type {Grant} from '../request/request.js';
import {isOver} from './start.js';
import {jobIdOf} from './ids.js';

/**
Hands a job over to its wrapper. Returns undefined if the job has ended or has another wrapper. A job counts as lost while its wrapper cannot reach
the store for a minute, so the wrapper may still take over a lost job.
*/
export const taken = (job: Job, token: string, {machineId, bootId, self}: Host): Job | undefined =>
	job.token === token && (job.state === 'pending' || job.state === 'lost') && !job.isHeld
		? {
				...job,
				state: 'pending',
				endTime: undefined,
				reason: undefined,
				machine: machineId,
				bootId,
				holder: self,
				isHeld: true,
			}
		: undefined;

const cancellerText = ({cancelledBy = ''}: Job): string => `cancelled by ${cancelledBy}`;

const cancellationText = (job: Job): string =>
	cancellerText(job) + (job.cancelledVia === undefined ? '' : ` via ${job.cancelledVia}`);

export const queued = (job: Job): Job => ({...job, state: 'queued'});

type Granted = Pick<Grant, 'leaseId' | 'gpus' | 'instances'>;

/**
Marks a job as running. Stored before the command starts, so that no command ever starts twice. Returns undefined if the job must not start, because
it was cancelled in the meantime.
*/
export function started(job: Job, {leaseId, gpus, instances}: Granted, now: number): Job | undefined {
	if (job.state === 'running' && job.leaseId === leaseId) {
		// The change was made before, and only its answer was lost.
		return job;
	}

	return job.state === 'queued'
		? {
				...job,
				state: 'running',
				leaseId,
				gpus,
				instances,
				starts: job.starts + 1,
				startTime: job.startTime ?? now,
				exitCode: undefined,
				reason: undefined,
			}
		: undefined;
}

export type JobEnding = {
	readonly exitCode?: number;
	readonly isTimeout?: boolean;
	readonly isStopped?: boolean;
	readonly reason?: string;
};

/** Ends a job whose command has ended or cannot start. A failed job with retries left waits for GPUs again. */
export function ended(job: Job, {exitCode, isTimeout = false, isStopped = false, reason}: JobEnding, now: number): Job {
	const isCancelled = job.cancelledBy !== undefined;
	const common = {...job, exitCode, job: undefined};
	if (exitCode === 0) {
		return {...common, state: 'completed', endTime: now, reason: undefined};
	}

	if (!isCancelled && !isTimeout && !isStopped && exitCode !== undefined && job.starts <= job.retries) {
		return {...common, state: 'queued', reason};
	}

	return {
		...common,
		state: isCancelled ? 'cancelled' : isTimeout ? 'timeout' : 'failed',
		endTime: now,
		reason: isCancelled ? cancellationText(job) : reason,
	};
}

/** Cancels a job. A waiting job ends at once. A running job ends when its wrapper has ended the command. */
export function cancelled(
	job: Job,
	{account, via}: {readonly account: string; readonly via?: string | undefined},
	now: number,
): Job {
	const marked = {...job, cancelledBy: account, cancelledVia: via};
	return job.state === 'running'
		? marked
		: {...marked, state: 'cancelled', endTime: now, reason: cancellationText(marked)};
}

export const calledOff = (job: Job, reason: string, now: number): Job => ({
	...job,
	state: 'cancelled',
	endTime: now,
	reason,
});

/** Ends a job without a process. After a cancellation, its processes were meant to end, so the job is not lost. */
export const lost = (job: Job, reason: string, now: number): Job =>
	job.cancelledBy === undefined ? {...job, state: 'lost', endTime: now, reason} : ended(job, {reason}, now);

/** Resets an ended job for a new wrapper. As a new job, it has a minute from `now` to get its wrapper. */
export const retried = (job: Job, token: string, {machineId, bootId, self}: Host, now: number): Job => ({
	...job,
	token,
	state: 'pending',
	starts: 0,
	submitTime: now,
	startTime: undefined,
	endTime: undefined,
	leaseId: undefined,
	gpus: undefined,
	instances: undefined,
	exitCode: undefined,
	reason: undefined,
	cancelledBy: undefined,
	cancelledVia: undefined,
	machine: machineId,
	bootId,
	holder: self,
	isHeld: false,
	job: undefined,
});

export type JobContext = {
	readonly now: number;
	readonly host: string;
	readonly account?: string;
};

const exitText = ({exitCode}: Job): string | undefined =>
	exitCode === undefined || exitCode === 0 ? undefined : `exit code ${exitCode}`;

function auditOf(before: Job, after: Job, {now, host, account = after.account}: JobContext): readonly AuditRecord[] {
	const record = {
		time: now,
		host,
		account,
		owner: account === after.account ? undefined : after.account,
		jobId: jobIdOf(after),
		gpus: after.gpus ?? [],
		instances: after.instances,
	};
	if (isOver(before) || !isOver(after)) {
		return [];
	}

	const isCancelled = after.state === 'cancelled' && after.cancelledBy !== undefined;
	return [
		{
			...record,
			kind: 'finished',
			value: after.state,
			reason: isCancelled ? cancellerText(after) : (after.reason ?? exitText(after)),
			// `reason` does not name the interface, because the record has a separate field for it.
			via: isCancelled ? after.cancelledVia : undefined,
		},
	];
}

export type JobChange = {readonly record: SoundJobRecord; readonly job: Job};

/** Plans changes of jobs. The plan expects the records as they were read. */
export const planJobChanges = (changes: readonly JobChange[], context: JobContext): Plan =>
	changes.length === 0
		? emptyPlan
		: {
				...emptyPlan,
				expect: changes.map(({record: {number, raw}}) => ({kind: 'job', number, raw})),
				writes: changes.map(({job}) => ({kind: 'job', job})),
				audit: changes.flatMap(({record, job}) => auditOf(record.job, job, context)),
				event: {kind: 'job', gpus: [], jobs: changes.map(({job}) => job.number)},
			};

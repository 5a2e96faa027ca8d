import type {App, Job} from '../../../app/contract.js';
import type {JobLease} from '../../../core/operations/job-lease.js';
import type {AcquireRequest} from '../../../core/rules/request/request.js';
import type {JobEnded} from '../../../format/notices/notice.js';
import {sanitize} from '../../../format/text/text.js';

type EndedJob = {
	readonly request: AcquireRequest;
	readonly jobLease: JobLease;
	readonly end: Awaited<Job['ended']>;
	readonly seconds: number;
	/** Whether `--notify` asks for the report. Otherwise `notify.events` decides. */
	readonly isAsked: boolean;
};

async function report(app: App, notice: JobEnded): Promise<void> {
	for (const problem of await app.notify(notice)) {
		app.remark(`canhazgpu: the end of the job could not be reported: ${sanitize(problem)}`);
	}
}

const jobEnded = ({requester: {account, label}, note}: AcquireRequest) =>
	({kind: 'job-ended', account, label: label === account ? undefined : label, note}) as const;

export const reportEnd = async (app: App, {request, jobLease, end, seconds, isAsked}: EndedJob): Promise<void> =>
	report(app, {
		...jobEnded(request),
		gpus: jobLease.gpus,
		leaseId: jobLease.leaseId,
		exitCode: end.exitCode,
		seconds,
		isTimedOut: end.reason === 'timeout',
		isAsked,
	});

type NotStartedJob = Pick<EndedJob, 'request' | 'isAsked'> & {readonly jobId: string; readonly problem: string};

/** Reports the end of a detached job whose command never started. */
export const reportNotStarted = async (app: App, {request, ...end}: NotStartedJob): Promise<void> =>
	report(app, {...jobEnded(request), gpus: [], ...end});

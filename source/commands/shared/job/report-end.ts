import type {App, Job} from '../../../app/contract.js';
import type {JobLease} from '../../../core/operations/job-lease.js';
import type {AcquireRequest} from '../../../core/rules/request/request.js';
import {sanitize} from '../../../format/text/text.js';

/** Time in ms that a hanging target can delay the return to the shell. */
const longestMs = 2000;

type EndedJob = {
	readonly request: AcquireRequest;
	readonly jobLease: JobLease;
	readonly end: Awaited<Job['ended']>;
	readonly seconds: number;
	/** Whether `--notify` asks for the report. Otherwise `notify.events` decides. */
	readonly isAsked: boolean;
};

export async function reportEnd(
	app: App,
	{request: {requester, note}, jobLease, end, seconds, isAsked}: EndedJob,
): Promise<void> {
	const {account, label} = requester;
	const problems = await app.notify(
		{
			kind: 'job-ended',
			account,
			label: label === account ? undefined : label,
			gpus: jobLease.gpus,
			leaseId: jobLease.leaseId,
			note,
			exitCode: end.exitCode,
			seconds,
			isTimedOut: end.reason === 'timeout',
			isAsked,
		},
		AbortSignal.timeout(longestMs),
	);
	for (const problem of problems) {
		app.remark(`canhazgpu: the end of the job could not be reported: ${sanitize(problem)}`);
	}
}

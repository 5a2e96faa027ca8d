/** Finds jobs whose processes were killed, and jobs that will never start. Every process that reads the jobs stores these changes. */
import type {Host} from '../../model/ports.js';
import type {Plan} from '../../model/plan.js';
import type {Job, JobList, SoundJobRecord} from '../../model/jobs.js';
import {judge} from '../leases/liveness.js';
import {calledOff, lost, planJobChanges, type JobChange} from './changes.js';
import {jobsNamed} from './ids.js';
import {isOver, startOf} from './start.js';

const startSeconds = 60;

export const soundRecords = ({records}: Pick<JobList, 'records'>): readonly SoundJobRecord[] =>
	records.filter((record) => record.kind === 'job');

export const soundJobs = (list: Pick<JobList, 'records'>): readonly Job[] => soundRecords(list).map(({job}) => job);

/** Whether a running job has no process that can be seen from here, for example because the job runs in a container, or ran in one that is gone. */
export const isUnseen = (job: Job, host: Host): boolean => job.state === 'running' && judge(job, host) === 'unknown';

const noLeases: ReadonlySet<string> = new Set();

/**
Returns why a job is lost. Undefined while a process of the job is alive or may be alive. `silent` has the ids of leases that ended because no
heartbeat came: nothing else shows the end of a job whose processes cannot be seen.
*/
export function lossOf(job: Job, now: number, host: Host, silent = noLeases): string | undefined {
	if (isOver(job)) {
		return undefined;
	}

	const verdict = judge(job, host);
	if (verdict === 'other-boot') {
		const bootTime = now - host.uptimeSeconds();
		return Math.max(job.submitTime, job.startTime ?? 0) < bootTime ? 'the machine was restarted' : undefined;
	}

	if (verdict === 'unknown' && job.state === 'running' && silent.has(job.leaseId ?? '')) {
		return 'its heartbeat stopped';
	}

	if (verdict !== 'dead') {
		return undefined;
	}

	if (!job.isHeld) {
		return now - job.submitTime > startSeconds ? 'it could not be started' : undefined;
	}

	// If the wrapper was killed before it stored the process of its command, the command may still run.
	const mayRun = job.state === 'running' && job.job === undefined;
	return mayRun && host.orphansOf(job.holder!) !== 'dead' ? undefined : 'its processes were killed';
}

/**
Plans the changes that are due: marks lost jobs, and cancels jobs that can never start. A cancelled job can prevent further jobs from starting.
@param silent - See {@link lossOf}.
*/
export function planLook(list: JobList, host: Host, silent = noLeases): Plan {
	const {now} = list;
	const changes = new Map<number, JobChange>();
	const records = soundRecords(list);
	const current = (): readonly Job[] => records.map(({number, job}) => changes.get(number)?.job ?? job);
	for (const record of records) {
		const reason = lossOf(record.job, now, host, silent);
		if (reason !== undefined) {
			changes.set(record.number, {record, job: lost(record.job, reason, now)});
		}
	}

	for (let count = -1; count !== changes.size;) {
		count = changes.size;
		const jobs = current();
		for (const record of records) {
			const start =
				record.job.state === 'pending' && !changes.has(record.number) ? startOf(record.job, jobs, now) : undefined;
			if (start?.kind === 'never') {
				changes.set(record.number, {record, job: calledOff(record.job, start.reason, now)});
			}
		}
	}

	const plan = planJobChanges(changes.values().toArray(), {now, host: host.hostname});
	const jobs = records.map(({job}) => job);
	const reasons = new Set(
		changes
			.values()
			.filter(({job}) => job.state === 'cancelled')
			.flatMap(({job: {after}}) => after.flatMap(({id}) => jobsNamed(jobs, id))),
	);
	// A job that has ended can be retried during the read, so that the jobs that depend on it can start after all.
	const relied = records.filter(({number, job}) => reasons.has(job) && isOver(job) && !changes.has(number));
	return {...plan, expect: [...plan.expect, ...relied.map(({number, raw}) => ({kind: 'job', number, raw}) as const)]};
}

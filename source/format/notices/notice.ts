/** Everything that people can be notified of, in words and as JSON. */
import type {Reminder} from '../../core/rules/notices/reminder.js';
import {optionalTimestamp, shortDuration} from '../text/durations.js';
import {gpuList} from '../text/gpu-list.js';
import {harmlessJsonLine} from '../text/json.js';
import {sanitize} from '../text/text.js';
import {reminderText} from '../reminder-text.js';
import type {Message} from './requests.js';

type CommandEnd = {
	readonly exitCode: number;
	readonly seconds: number;
	readonly isTimedOut: boolean;
	readonly problem?: undefined;
};

/** The end of a detached job whose command did not start. */
type NeverStarted = {
	readonly jobId: string;
	readonly problem: string;
	readonly exitCode?: undefined;
	readonly seconds?: undefined;
};

export type JobEnded = Pick<Reminder, 'account' | 'label' | 'gpus' | 'leaseId' | 'note'> & {
	readonly kind: 'job-ended';
	/** Whether the user asked for this notice, whatever `notify.events` says. */
	readonly isAsked: boolean;
} & (CommandEnd | NeverStarted);

type TestNotice = {readonly kind: 'test'; readonly account: string; readonly gpus: readonly number[]};

export type Notice = Reminder | JobEnded | TestNotice;

function jobEndedText(ended: JobEnded): string {
	const {gpus, note} = ended;
	const about = note === undefined ? '' : ` (${sanitize(note)})`;
	if (ended.problem !== undefined) {
		return `your job ${ended.jobId}${about} did not start: ${sanitize(ended.problem)}`;
	}

	const {exitCode, seconds, isTimedOut} = ended;
	const how = isTimedOut ? 'reached its time limit' : exitCode === 0 ? 'succeeded' : 'failed';
	return `your job on ${gpuList(gpus)}${about} ${how} after ${shortDuration(seconds)} with exit code ${exitCode}`;
}

function textOf(notice: Notice, hostname: string): string {
	const where = `canhazgpu on ${sanitize(hostname)}:`;
	switch (notice.kind) {
		case 'job-ended': {
			return `${where} ${jobEndedText(notice)}`;
		}

		case 'test': {
			return `${where} this is a test. Notices arrive here.`;
		}

		default: {
			return reminderText(notice, hostname);
		}
	}
}

const whole = (seconds: number | undefined): number | undefined =>
	seconds === undefined ? undefined : Math.round(seconds);

export function messageOf(notice: Notice, hostname: string): Message {
	const text = textOf(notice, hostname);
	const {
		kind,
		account,
		gpus,
		label,
		leaseId,
		note,
		remainingSeconds,
		memoryMiB,
		usedMiB,
		idle,
		beyondLimit,
		parked,
		reclaimed,
		owner,
		exitCode,
		seconds,
		problem,
	} = notice as Partial<Reminder & Omit<JobEnded, 'kind'>> & Pick<Notice, 'kind' | 'account' | 'gpus'>;
	const json = harmlessJsonLine({
		kind,
		account,
		label,
		host: hostname,
		gpu_ids: gpus,
		lease_id: leaseId,
		remaining_seconds: whole(remainingSeconds),
		memory_mb: memoryMiB,
		memory_used_mb: usedMiB,
		idle_since: optionalTimestamp(idle?.since),
		reclaim_at: optionalTimestamp((idle ?? beyondLimit)?.deadline),
		max_gpus: beyondLimit?.mostGpus,
		parked_since: optionalTimestamp(parked?.since),
		reason: reclaimed?.reason ?? problem,
		ended_at: optionalTimestamp(reclaimed?.endedAt),
		owner,
		exit_code: exitCode,
		duration_seconds: whole(seconds),
		note,
		text,
	});
	return {account, hostname, text, json};
}

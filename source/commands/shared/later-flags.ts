import type {Flags, Input} from '../../command-line/command.js';
import type {Later} from '../../core/operations/engine.js';
import {parseArray, type ArrayRequest} from '../../core/rules/jobs/array.js';
import {parseAfter} from '../../core/rules/jobs/start.js';
import type {JobRequest} from '../../core/rules/jobs/submit.js';
import {secondsOf} from '../../core/rules/leases/durations.js';
import {CanhazgpuError, quoted} from '../../errors.js';
import {parseTimeOfDay} from './time-of-day.js';

export const laterFlags: Flags = {
	detach: {summary: 'run the command in the background, print the job id and return; see help jobs'},
	after: {
		value: 'JOBS',
		isMultiple: true,
		summary: 'start after these jobs have succeeded, such as 7,8; with any:7, even if job 7 fails',
		completes: 'jobs',
	},
	begin: {
		value: 'WHEN',
		summary: 'start no earlier than this, such as 2h (from now), 18:30 or 2026-05-01T18:30',
		completes: ['1h', '2h', '8h'],
	},
	array: {
		value: 'LIST',
		summary: 'with --detach: submit one job for each index, such as 0-7, 1,3,5 or 0-99%4 (four at a time)',
	},
	retry: {value: 'N', summary: 'with --detach: run the command again up to N times if it fails'},
};

export type LocalLater = Pick<JobRequest, 'after' | 'begin' | 'retries'> & {readonly array: ArrayRequest | undefined};

const mostRetries = 100;

function retriesOf(input: Input): number {
	const typed = input.text('retry') ?? '0';
	if (!/^\d{1,3}$/v.test(typed) || Number(typed) > mostRetries) {
		throw new CanhazgpuError('usage', `--retry must be a number of at most ${mostRetries}, not ${quoted(typed)}`);
	}

	return Number(typed);
}

function requireDetach(input: Input): void {
	for (const flag of ['array', 'retry']) {
		if (input.has(flag) && !input.has('detach')) {
			throw new CanhazgpuError('usage', `--${flag} works only with --detach`);
		}
	}
}

export function localLaterOf(input: Input): LocalLater {
	requireDetach(input);
	const array = input.text('array');
	return {
		after: input.texts('after').flatMap((typed) => parseAfter(typed)),
		begin: beginOf(input),
		array: array === undefined ? undefined : parseArray(array),
		retries: retriesOf(input),
	};
}

const jobsPattern =
	/^(?:\d{1,10}(?:_\d{1,10})?(?:,\d{1,10}(?:_\d{1,10})?)*|(?:any|after|afterany|afterburstbuffer|aftercorr|afternotok|afterok)(?::\d{1,10}(?:_\d{1,10})?(?:\+\d{1,6})?)+(?:,\d{1,10}(?:_\d{1,10})?)*|singleton)$/v;
const arrayPattern = /^\d{1,9}(?:-\d{1,9}(?::\d{1,9})?)?(?:,\d{1,9}(?:-\d{1,9}(?::\d{1,9})?)?)*(?:%\d{1,9})?$/v;

function checked(input: Input, flag: 'after' | 'array', pattern: RegExp, example: string): string | undefined {
	const typed = input.text(flag)?.trim();
	if (typed !== undefined && !pattern.test(typed)) {
		throw new CanhazgpuError('usage', `--${flag}: ${quoted(typed)} is not valid`, {hint: example});
	}

	return typed;
}

function beginOf(input: Input): number | undefined {
	const typed = input.text('begin');
	if (typed === undefined) {
		return undefined;
	}

	const seconds = secondsOf(typed);
	return seconds === undefined ? parseTimeOfDay(typed, {flag: '--begin'}) : Date.now() / 1000 + seconds;
}

export function laterOf(input: Input): Later {
	const later = {
		after: checked(
			input,
			'after',
			jobsPattern,
			'Write job ids such as 17,18, or any:17 to start even if job 17 fails.',
		),
		begin: beginOf(input),
		array: checked(
			input,
			'array',
			arrayPattern,
			'Write indices such as 0-7 or 1,3,5, followed by %4 to run four at a time.',
		),
	};
	requireDetach(input);

	for (const flag of ['nonblock', 'wait']) {
		if (input.has('detach') && input.has(flag)) {
			throw new CanhazgpuError(
				'usage',
				`With --detach, the job stays in Slurm's queue until it starts, so --${flag} cannot be used`,
				{
					hint: 'Leave out one of them.',
				},
			);
		}
	}

	return later;
}

import type {Flags, Input} from '../../command-line/command.js';
import type {Later} from '../../core/operations/engine.js';
import {parseDuration} from '../../core/rules/leases/durations.js';
import {CanhazgpuError, quoted} from '../../errors.js';
import {parseTimeOfDay} from './time-of-day.js';

export const laterFlags: Flags = {
	detach: {summary: 'with Slurm: submit the command as a batch job, print its id and return; output goes to a file'},
	after: {value: 'JOBS', summary: 'with Slurm: start after these jobs, such as 17,18 or afterok:17 (if it succeeds)'},
	begin: {
		value: 'WHEN',
		summary: 'with Slurm: do not start before this time, such as 2h (from now), 18:30 or 2026-05-01T18:30',
		completes: ['1h', '2h', '8h'],
	},
	array: {
		value: 'LIST',
		summary: 'with Slurm and --detach: submit one job for each index, such as 0-7 or 1,3,5 or 0-99%4 (four at a time)',
	},
};

const localWays: Readonly<Record<string, string>> = {
	detach: 'To run it in the background: nohup canhazgpu run -- COMMAND > job.log 2>&1 &',
	after: "To run one after the other: canhazgpu run -- sh -c 'first; second'",
	begin: 'To begin it later: sleep 2h && canhazgpu run -- COMMAND. Or use at(1).',
	array: 'To start several: for i in 0 1 2 3; do canhazgpu run -- COMMAND $i & done; wait',
};

/** Throws `usage` if a flag needs a job that starts later. Only Slurm keeps such jobs. */
export function checkNotLater(input: Input): void {
	for (const [flag, way] of Object.entries(localWays)) {
		if (input.has(flag)) {
			throw new CanhazgpuError(
				'usage',
				`--${flag} needs Slurm. Without Slurm, a job exists only while its canhazgpu command runs`,
				{
					hint: way,
				},
			);
		}
	}
}

const jobsPattern =
	/^(?:\d{1,10}(?:_\d{1,10})?(?:,\d{1,10}(?:_\d{1,10})?)*|(?:after|afterany|afterburstbuffer|aftercorr|afternotok|afterok)(?::\d{1,10}(?:_\d{1,10})?(?:\+\d{1,6})?)+|singleton)$/v;
const arrayPattern = /^\d{1,9}(?:-\d{1,9}(?::\d{1,9})?)?(?:,\d{1,9}(?:-\d{1,9}(?::\d{1,9})?)?)*(?:%\d{1,9})?$/v;

function checked(input: Input, flag: 'after' | 'array', pattern: RegExp, example: string): string | undefined {
	const typed = input.text(flag)?.trim();
	if (typed !== undefined && !pattern.test(typed)) {
		throw new CanhazgpuError('usage', `--${flag} does not understand ${quoted(typed)}`, {hint: example});
	}

	return typed;
}

function beginOf(input: Input): number | undefined {
	const typed = input.text('begin');
	return typed === undefined
		? undefined
		: /^\s*\d{1,2}:|^\s*\d{4}-/v.test(typed)
			? parseTimeOfDay(typed, {flag: '--begin'})
			: Date.now() / 1000 + parseDuration(typed, '--begin');
}

export function laterOf(input: Input): Later {
	const later = {
		after: checked(
			input,
			'after',
			jobsPattern,
			'Write job ids such as 17,18, or afterok:17 if the job must have succeeded.',
		),
		begin: beginOf(input),
		array: checked(
			input,
			'array',
			arrayPattern,
			'Write indices such as 0-7 or 1,3,5, followed by %4 to run four at a time.',
		),
	};
	if (later.array !== undefined && !input.has('detach')) {
		throw new CanhazgpuError('usage', 'An array runs in the background: --array needs --detach');
	}

	for (const flag of ['nonblock', 'wait']) {
		if (input.has('detach') && input.has(flag)) {
			throw new CanhazgpuError(
				'usage',
				`--detach waits in Slurm's queue for as long as it takes, so it cannot be combined with --${flag}`,
				{
					hint: 'Leave out one of them.',
				},
			);
		}
	}

	return later;
}

import type {Dependency, Job, JobState} from '../core/model/jobs.js';
import {jobIdOf} from '../core/rules/jobs/ids.js';
import type {JobRow} from '../core/rules/jobs/rows.js';
import type {Start} from '../core/rules/jobs/start.js';
import {instancesJson, instancesText} from './instances.js';
import {needJson} from './json/need-json.js';
import {shareOfText} from './queue/outcome.js';
import {wantedText} from './queue/waiting-progress.js';
import {absentWhenEmpty} from './text/json.js';
import {clockTime} from './text/days.js';
import {optionalTimestamp, shortDuration, timestamp} from './text/durations.js';
import {gpuList} from './text/gpu-list.js';
import {counted} from './text/numbers.js';
import type {Paint} from './text/paint.js';
import {ruledTable, type Cell, type Sacrifices} from './text/table.js';
import {noteWords, shownVia} from './text/note.js';
import {sanitize, shorten} from './text/text.js';

export function startText(start: Start, now: number): string {
	switch (start.kind) {
		case 'now': {
			return 'starts now';
		}

		case 'after-jobs': {
			return `waits for ${start.ids.length === 1 ? 'job' : 'jobs'} ${start.ids.map((id) => sanitize(id)).join(', ')}`;
		}

		case 'at': {
			return `starts at ${clockTime(start.time, now)}`;
		}

		case 'in-turn': {
			return `waits for ${counted(start.before, 'earlier job')} of the array`;
		}

		case 'never': {
			return `never starts: ${sanitize(start.reason)}`;
		}
	}
}

const requestText = ({count, need}: JobRow): string =>
	count === undefined ? 'GPUs' : wantedText({count, ids: undefined, need});

/** Returns `GPU 2`, `a share of 8G of GPU 2`, `MIG instances 2:0, 2:1`, or `-` if the GPUs are unknown. */
function heldText({gpus = [], instances, need}: JobRow): string {
	if (instances !== undefined) {
		return instancesText(instances);
	}

	return gpus.length === 0 ? '-' : `${shareOfText(need)}${gpuList(gpus)}`;
}

/** Returns what a job waits for, its GPUs, or how it ended. */
export function detailsText(row: JobRow, now: number): string {
	switch (row.state) {
		case 'pending': {
			return row.start === undefined ? sanitize(row.reason ?? '-') : startText(row.start, now);
		}

		case 'queued': {
			const again = (row.starts ?? 0) > 0 ? `, for run ${row.starts! + 1}` : '';
			// After the first start, the reason is why the last run ended.
			return row.reason !== undefined && (row.starts ?? 0) === 0
				? sanitize(row.reason)
				: `waits for ${requestText(row)}${again}`;
		}

		case 'running': {
			return heldText(row);
		}

		default: {
			const code = row.exitCode === undefined || row.exitCode === 0 ? undefined : `exit code ${row.exitCode}`;
			const details = [code, row.reason === undefined ? undefined : sanitize(row.reason)].filter(Boolean);
			return details.length === 0 ? '-' : details.join(', ');
		}
	}
}

const absentWhenNothing = (text: string): string | undefined => (text === '-' ? undefined : text);

/** Returns the details with the interface that submitted the job: `waits for 2 GPUs (via mcp claude-code)`. */
export function detailsCell(row: JobRow, now: number): string {
	const details = detailsText(row, now);
	return row.via === undefined ? details : noteWords({note: absentWhenNothing(details), via: row.via});
}

export const timeText = ({submitTime, startTime, endTime}: JobRow, now: number): string =>
	shortDuration((endTime ?? now) - (startTime ?? submitTime));

function stateCell(state: JobState, paint: Paint): Cell {
	const text = state.toUpperCase();
	switch (state) {
		case 'running': {
			return {text, paint: paint.available};
		}

		case 'pending':
		case 'queued': {
			return {text, paint: paint.unreserved};
		}

		case 'completed':
		case 'cancelled': {
			return {text, paint: paint.dim};
		}

		case 'failed':
		case 'timeout':
		case 'lost': {
			return {text, paint: paint.error};
		}
	}
}

const sacrifices: Sacrifices = [
	['COMMAND', 24],
	['DETAILS', 24],
	['USER', 8],
	['COMMAND', 12],
	['DETAILS', 12],
	['GPUS', 0],
	['USER', 0],
	['COMMAND', 0],
];

type TableOptions = {
	readonly now: number;
	readonly width: number | undefined;
	readonly hasUsers: boolean;
};

export function jobsTable(rows: readonly JobRow[], paint: Paint, {now, width, hasUsers}: TableOptions): string {
	const users = <Item>(item: Item): readonly Item[] => (hasUsers ? [item] : []);
	return ruledTable(
		['ID', 'STATE', ...users('USER'), 'GPUS', 'TIME', 'COMMAND', 'DETAILS'],
		rows.map((row) => [
			row.id,
			stateCell(row.state, paint),
			...users(sanitize(row.account)),
			row.count === undefined ? '-' : String(row.count),
			timeText(row, now),
			shorten(sanitize(row.command), 60),
			shorten(detailsCell(row, now), 80),
		]),
		paint,
		{width, sacrifices: sacrifices.filter(([title]) => hasUsers || title !== 'USER')},
	);
}

const dependencyWord = ({id, isAny}: Dependency): string => (isAny ? `any:${id}` : id);

/** Returns one object of `canhazgpu jobs --json`, without unset values. */
export const jobJson = (row: JobRow, now: number) => ({
	id: row.id,
	state: row.state,
	account: row.account,
	command: row.command,
	directory: row.directory,
	via: shownVia(row.via),
	requested_count: row.count,
	need: row.need && needJson(row.need),
	gpu_ids: row.gpus,
	mig_instances: row.instances && instancesJson(row.instances),
	array_id: row.array === undefined ? undefined : String(row.array.id),
	array_index: row.array?.index,
	array_limit: row.array?.limit,
	after: absentWhenEmpty(row.after.map((dependency) => dependencyWord(dependency))),
	begin: optionalTimestamp(row.begin),
	waits: row.start === undefined ? undefined : startText(row.start, now),
	details: absentWhenNothing(detailsText(row, now)),
	submit_time: timestamp(row.submitTime),
	start_time: optionalTimestamp(row.startTime),
	end_time: optionalTimestamp(row.endTime),
	exit_code: row.exitCode,
	reason: row.reason,
	lease_id: row.leaseId,
	output: row.log,
	starts: row.starts,
	retries: row.retries,
});

/** Returns the output of `run --detach --json`: the id, and the output of the job or of each job of the array. */
export function detachedJson(jobs: readonly Job[]) {
	const [first] = jobs;
	const {array, log} = first!;
	return {
		job_id: array === undefined ? jobIdOf(first!) : String(array.id),
		output: array === undefined ? log : log.replace(/_\d+\.log$/v, '_N.log'),
		jobs: jobs.map((job) => jobIdOf(job)),
	};
}

/** Reports jobs that were cancelled because a signal interrupted the command that submitted them. */
export const interruptedText = (notStarted: number, count: number): string =>
	count === 1
		? 'Interrupted: the job was cancelled before it started'
		: `Interrupted: ${notStarted} of ${count} jobs were cancelled before they started. To see which: canhazgpu jobs`;

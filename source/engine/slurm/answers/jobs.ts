/** Parses `squeue --json` of Slurm 21.08 to 24.11, which has recently ended jobs, too. Numbers are objects since 23.02, states lists since 23.11. */
import {CanhazgpuError} from '../../../errors.js';
import {heldGres, wantedGres, wantedShares, type GpuKind, type HeldGres, type WantedShares} from './gres.js';
import {hostsOf} from './host-list.js';

/** A job. Empty and unknown values are absent. Texts are untrusted. */
export type SlurmJob = {
	/** The id. An array has the same id as its last task. */
	readonly id: number;
	/** Set for pending tasks of an array, in Slurm's notation, such as `3` or `4-7%2`. */
	readonly array?: {readonly id: number; readonly tasks: string; readonly isOne: boolean};
	/** The id of the first part, for a part of a heterogeneous job. Ending the first part ends all parts. */
	readonly leader?: number;
	readonly user: string;
	readonly name: string;
	readonly comment: string;
	/** `pending`: waits. `holding`: has its resources, even if it does not run. `ended`: no longer has resources. */
	readonly state: 'pending' | 'holding' | 'ended';
	/** Slurm's word for the state, such as `PENDING` or `TIMEOUT`. For a job that ended or is in cleanup, the word says how it ended, if known. */
	readonly stateWord: string;
	/** A suspended job keeps its GPUs, and its processes are stopped. */
	readonly isSuspended?: boolean;
	/** Slurm's word for why the job waits, such as `Resources`. */
	readonly reason: string;
	readonly isBatch: boolean;
	readonly command: string;
	readonly priority: number;
	/** Seconds since the epoch, on the controller's clock. */
	readonly submitTime: number;
	/** The expected start of a pending job. */
	readonly startTime?: number;
	/** The end of an ended job, or the latest end of another job. Absent without a time limit, and for a suspended job, whose limit is paused. */
	readonly endTime?: number;
	readonly timeLimitSeconds?: number;
	/** Exit code of an ended job. 0 while it runs. */
	readonly exitCode?: number;
	/** Nodes of an ended job that are still being cleaned up. Nothing can start there. */
	readonly clearing?: readonly string[];
	readonly gpus?: GpuKind;
	readonly shards?: WantedShares;
	readonly held: ReadonlyArray<{readonly node: string} & HeldGres>;
};

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
	typeof value === 'object' && value !== null && !Array.isArray(value);

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Reads a number or `{set, infinite, number}`. Undefined if not set, or infinite. */
function numberOf(value: unknown): number | undefined {
	if (isFields(value)) {
		return value['set'] === false || value['infinite'] === true ? undefined : numberOf(value['number']);
	}

	return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** Reads a number above 0. Slurm writes 0 for an unknown time, and for the id of a missing job. */
function positiveOf(value: unknown): number | undefined {
	const seconds = numberOf(value);
	return seconds === 0 ? undefined : seconds;
}

const endedStates = new Set([
	'COMPLETED',
	'CANCELLED',
	'FAILED',
	'TIMEOUT',
	'NODE_FAIL',
	'PREEMPTED',
	'BOOT_FAIL',
	'DEADLINE',
	'OUT_OF_MEMORY',
	'REVOKED',
	'LAUNCH_FAILED',
	'RECONFIG_FAIL',
]);

/** Returns the state. A completing job can hold its GPUs until Slurm has cleaned up. */
function stateOf(words: readonly string[]): SlurmJob['state'] {
	if (words.includes('COMPLETING')) {
		return 'holding';
	}

	return words.includes('PENDING') ? 'pending' : words.some((word) => endedStates.has(word)) ? 'ended' : 'holding';
}

/** States by reason. Before Slurm 23.11, the state of a job in cleanup is only `COMPLETING`, and the reason says how the job ended. */
const endByReason: ReadonlyMap<string, string> = new Map([
	['TimeLimit', 'TIMEOUT'],
	['NodeDown', 'NODE_FAIL'],
]);

const stateWordOf = (words: readonly string[], reason: string): string =>
	words.find((word) => word !== 'COMPLETING') ?? endByReason.get(reason) ?? words[0] ?? '';

const highestSignal = 64;

/** Returns the exit code as a shell shows it: 128 plus the signal that ended the command. Slurm also writes 125 there, for a lack of memory. */
export const shellExitCode = (code: number | undefined, signal = 0): number | undefined =>
	signal > 0 && signal <= highestSignal ? 128 + signal : code;

/** Returns the exit code from a wait(2) status, or since Slurm 23.02 from the code and the signal themselves. */
function exitCodeOf(value: unknown): number | undefined {
	if (isFields(value)) {
		const {signal} = value;
		return shellExitCode(numberOf(value['return_code']), isFields(signal) ? numberOf(signal['id']) : undefined);
	}

	const status = numberOf(value);
	return status === undefined ? undefined : shellExitCode(Math.floor(status / 256), status % 128);
}

const secondsPerMinute = 60;

/** The time limit that Slurm assumes for a job without a time limit: a year. */
const noLimitMinutes = 365 * 24 * 60;

function arrayOf(fields: Fields): SlurmJob['array'] {
	const id = positiveOf(fields['array_job_id']);
	const task = numberOf(fields['array_task_id']);
	return id === undefined
		? undefined
		: {id, tasks: task === undefined ? textOf(fields['array_task_string']) : String(task), isOne: task !== undefined};
}

function jobOf(fields: Fields): SlurmJob | undefined {
	const id = numberOf(fields['job_id']);
	if (id === undefined) {
		return undefined;
	}

	const user = textOf(fields['user_name']);
	const words = [fields['job_state']].flat().map((word) => textOf(word));
	const state = stateOf(words);
	const reason = textOf(fields['state_reason']);
	const writtenMinutes = positiveOf(fields['time_limit']);
	const limitMinutes = writtenMinutes === noLimitMinutes ? undefined : writtenMinutes;
	const nodes = hostsOf(textOf(fields['nodes']));
	const wishes = {
		perJob: textOf(fields['tres_per_job']),
		perNode: textOf(fields['tres_per_node']),
		perTask: textOf(fields['tres_per_task']),
		perSocket: textOf(fields['tres_per_socket']),
		nodes: numberOf(fields['node_count']) ?? 1,
		tasks: numberOf(fields['tasks']) ?? 1,
	};
	const isClearing = words.includes('COMPLETING');
	return {
		id,
		array: arrayOf(fields),
		leader: positiveOf(fields['het_job_id']),
		user: user === '' ? String(numberOf(fields['user_id']) ?? 'unknown') : user,
		name: textOf(fields['name']),
		comment: textOf(fields['comment']),
		state,
		stateWord: stateWordOf(words, reason),
		isSuspended: words.includes('SUSPENDED') || words.includes('STOPPED'),
		reason,
		isBatch: fields['batch_flag'] === true,
		command: textOf(fields['command']),
		priority: numberOf(fields['priority']) ?? 0,
		submitTime: positiveOf(fields['submit_time']) ?? 0,
		// A job that ended in the queue or was rejected has no nodes, and Slurm writes its end as its start.
		startTime: state === 'ended' && nodes.length === 0 ? undefined : positiveOf(fields['start_time']),
		// For a job without a limit, Slurm writes an end a year ahead.
		endTime:
			state === 'ended' || isClearing || (limitMinutes !== undefined && !words.includes('SUSPENDED'))
				? positiveOf(fields['end_time'])
				: undefined,
		timeLimitSeconds: limitMinutes === undefined ? undefined : limitMinutes * secondsPerMinute,
		exitCode: exitCodeOf(fields['exit_code']),
		clearing: isClearing ? nodes : undefined,
		gpus: wantedGres(wishes, 'gpu'),
		shards: wantedShares(wishes),
		held:
			state === 'holding'
				? listOf(fields['gres_detail']).flatMap((detail, index) => {
						const node = nodes[index];
						return node === undefined ? [] : [{node, ...heldGres(textOf(detail))}];
					})
				: [],
	};
}

/** Removes guessed start times: those of held jobs, and of jobs that wait for a job without a time limit, for which Slurm assumes a year. */
function withoutGuesses(jobs: readonly SlurmJob[]): readonly SlurmJob[] {
	let guessed = Infinity;
	for (const {state, startTime, timeLimitSeconds} of jobs) {
		if (state !== 'ended' && startTime !== undefined && timeLimitSeconds === undefined) {
			guessed = Math.min(guessed, startTime + noLimitMinutes * secondsPerMinute);
		}
	}

	return jobs.map((job) =>
		job.state === 'pending' && ((job.startTime ?? 0) >= guessed || job.reason.startsWith('JobHeld'))
			? {...job, startTime: undefined}
			: job,
	);
}

/** Parses the answer. Throws `store-unreachable` if it is invalid or lists errors. Without its controller, squeue exits with 0 and an empty list. */
export function readJobs(text: string): readonly SlurmJob[] {
	let answer: unknown;
	try {
		answer = JSON.parse(text);
	} catch (error) {
		throw new CanhazgpuError('store-unreachable', 'squeue --json printed no JSON', {
			hint: 'See what it says: squeue --json',
			cause: error,
		});
	}

	const fields = isFields(answer) ? answer : {};
	const [problem] = listOf(fields['errors']);
	if (problem !== undefined || !Array.isArray(fields['jobs'])) {
		const {description, error} = isFields(problem) ? problem : {};
		const words = [textOf(description), textOf(error)].filter((each) => each !== '').join(': ');
		throw new CanhazgpuError('store-unreachable', `Slurm does not answer${words === '' ? '' : `: ${words}`}`, {
			hint: 'See whether its controller runs: scontrol ping',
		});
	}

	return withoutGuesses(fields['jobs'].flatMap((each: unknown) => (isFields(each) ? (jobOf(each) ?? []) : [])));
}

/** Detached jobs: commands that run without the shell that submitted them. The store has one record for each job. */
import type {InstanceOfGpu, Need, ProcessIdentity} from './types.js';

/** `pending`: waits for a job, a start time or a free slot in its array. `queued`: waits for GPUs. `lost`: ended without reporting an exit code. */
export const jobStates = [
	'pending',
	'queued',
	'running',
	'completed',
	'failed',
	'timeout',
	'cancelled',
	'lost',
] as const;

export type JobState = (typeof jobStates)[number];

export type Dependency = {
	readonly id: string;
	/** Whether any end of the other job is enough. If false, the other job must complete successfully. */
	readonly isAny: boolean;
};

export type ArrayPlace = {
	/** The number of the array's first job, which is the id of the array. */
	readonly id: number;
	readonly index: number;
	/** How many jobs of the array may run at a time. Absent if there is no limit. */
	readonly limit?: number;
};

export type Job = {
	/** The number of the job in its pool. The first job has number 1. */
	readonly number: number;
	/** Identifies the wrapper that may run this job. `retry` changes the token, so that an older wrapper cannot run the job again. */
	readonly token: string;
	readonly state: JobState;
	readonly account: string;
	readonly directory: string;
	/** The words after `run`: flags, `--` and the command. Flags that decide when the job starts, such as `--after`, are left out. */
	readonly words: readonly string[];
	readonly command: readonly string[];
	/** Proof for the owner that nobody else has changed what `retry` takes from this record. Checked by `retry` before the command runs again. */
	readonly seal?: string;
	/** The interface that submitted the job: `mcp`, with the client's name. Absent for the command line. Copied to the job's reservations. */
	readonly via?: string;
	/** The number of requested GPUs, or of MIG instances. */
	readonly count: number;
	/** Absent if any GPU will do, and in records of older versions. */
	readonly need?: Need;
	readonly after: readonly Dependency[];
	/** The earliest start, in seconds since the epoch. */
	readonly begin?: number;
	readonly array?: ArrayPlace;
	readonly retries: number;
	readonly starts: number;
	readonly submitTime: number;
	readonly startTime?: number;
	readonly endTime?: number;
	readonly leaseId?: string;
	readonly gpus?: readonly number[];
	/** The granted MIG instances. `gpus` has the GPUs that they are part of. */
	readonly instances?: readonly InstanceOfGpu[];
	readonly exitCode?: number;
	readonly reason?: string;
	readonly cancelledBy?: string;
	readonly cancelledVia?: string;
	readonly log: string;
	readonly machine?: string;
	readonly bootId?: string;
	/** The process that submits the job, or the job's wrapper after it has taken over. */
	readonly holder?: ProcessIdentity;
	/** Whether the wrapper has taken over from the process that submits the job. */
	readonly isHeld: boolean;
	readonly job?: ProcessIdentity;
	readonly unknownFields?: Readonly<Record<string, unknown>>;
};

/** The record of one job. `raw` is the value as it was read. A commit compares `raw` with the stored value. */
export type JobRecord =
	| {readonly kind: 'job'; readonly number: number; readonly raw: string; readonly job: Job}
	| {
			readonly kind: 'garbage';
			readonly number: number;
			readonly raw: string | undefined;
			readonly problem: string;
	  };

export type SoundJobRecord = Extract<JobRecord, {kind: 'job'}>;

export type JobIndex = {
	readonly next: number;
	readonly numbers: readonly number[];
};

export type JobList = {
	readonly now: number;
	readonly index: JobIndex & {readonly raw: string | undefined};
	readonly records: readonly JobRecord[];
};

/** Detached jobs: commands that run without the shell that submitted them. The store has one record for each. */
import type {ProcessIdentity} from './types.js';

/**
`pending`: waits for another job, its time or its turn in an array. `queued`: waits for GPUs. `lost`: its processes ended
without a word, so its exit code is unknown.
*/
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
	/** The id of a job or of an array, as people type it. */
	readonly id: string;
	/** Whether any end of the job will do. Otherwise the job must have completed. */
	readonly isAny: boolean;
};

/** The position of a job in its array. */
export type ArrayPlace = {
	/** The number of the array's first job, which is the id of the array. */
	readonly id: number;
	readonly index: number;
	/** How many jobs of the array may run at a time. Absent: all. */
	readonly limit?: number;
};

export type Job = {
	/** Counts from 1 in each pool. */
	readonly number: number;
	/** Known to the wrapper of this job alone. Changes with each `retry`, so that an older wrapper cannot run the job again. */
	readonly token: string;
	readonly state: JobState;
	readonly account: string;
	readonly directory: string;
	/** The words after `run`, without those that say when to start: flags, `--` and the command. */
	readonly words: readonly string[];
	readonly command: readonly string[];
	/** Proves to the owner that nobody else has written `words` and `directory`, which `retry` uses. */
	readonly seal?: string;
	/** The interface that submitted the job: `mcp`, with the client's name. Absent for the command line. Its reservations get the same `via`. */
	readonly via?: string;
	/** How many GPUs the job asks for. */
	readonly count: number;
	readonly after: readonly Dependency[];
	/** Seconds since the epoch, before which the job does not start. */
	readonly begin?: number;
	readonly array?: ArrayPlace;
	/** How many times the job is run again if it fails. */
	readonly retries: number;
	/** How many times the command was started. */
	readonly starts: number;
	readonly submitTime: number;
	readonly startTime?: number;
	readonly endTime?: number;
	readonly leaseId?: string;
	readonly gpus?: readonly number[];
	readonly exitCode?: number;
	/** Why the job ended as it did, in words. */
	readonly reason?: string;
	/** The account that cancelled the job. */
	readonly cancelledBy?: string;
	/** The interface of the cancellation, as `via`. */
	readonly cancelledVia?: string;
	/** The file with the output. */
	readonly log: string;
	readonly machine?: string;
	readonly bootId?: string;
	/** The wrapper, or the process that submits the job until the wrapper has taken over. */
	readonly holder?: ProcessIdentity;
	/** Whether the wrapper has taken over. */
	readonly isHeld: boolean;
	/** The process of the command. */
	readonly job?: ProcessIdentity;
	readonly unknownFields?: Readonly<Record<string, unknown>>;
};

/** The record of one job. `raw` is the stored value, which a commit compares with the current one. */
export type JobRecord =
	| {readonly kind: 'job'; readonly number: number; readonly raw: string; readonly job: Job}
	| {
			readonly kind: 'garbage';
			readonly number: number;
			readonly raw: string | undefined;
			readonly problem: string;
	  };

export type SoundJobRecord = Extract<JobRecord, {kind: 'job'}>;

/** Which numbers have records, and the next number. */
export type JobIndex = {
	readonly next: number;
	readonly numbers: readonly number[];
};

export type JobList = {
	/** The store's clock. */
	readonly now: number;
	readonly index: JobIndex & {readonly raw: string | undefined};
	/** The requested records that exist, by number. */
	readonly records: readonly JobRecord[];
};

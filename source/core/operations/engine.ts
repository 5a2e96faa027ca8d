/**
An external engine that grants the GPUs, such as Slurm. Operations send their requests to the engine instead of committing changes. A read-only
store and a GPU provider show the engine's state.
*/
import type {HeldPart, Holding} from '../rules/leases/holdings.js';
import type {Selection} from '../rules/leases/selection.js';
import type {AcquireRequest, Grant, TimedRequest, Wanted} from '../rules/request/request.js';
import type {JobRow} from '../rules/jobs/rows.js';
import type {BeyondLimit} from '../rules/limits/slack.js';
import type {Warning} from '../rules/policy/idle-rules.js';
import {policyValue, type StoredPolicy} from '../rules/policy/policy.js';
import type {World} from '../model/ports.js';
import type {Lease, QueueEntry, Requester} from '../model/types.js';
import type {UnusableGpu} from '../rules/grants/newcomer-grant.js';
import type {AgentLimit, OverLimit} from '../rules/queue/account-limits.js';
import type {Quality} from '../rules/allocation/need.js';

export type Progress =
	| {
			readonly kind: 'waiting';
			readonly position: number;
			readonly waiting: number;
			readonly wanted: Wanted;
			readonly held: readonly number[];
			readonly outOfService: readonly number[];
			readonly unusable: readonly UnusableGpu[];
			readonly unknown: ReadonlyArray<{readonly index: number; readonly quality: Quality}>;
			readonly estimateSeconds: number | undefined;
			readonly overLimit?: OverLimit | undefined;
			readonly agentLimit?: AgentLimit | undefined;
			readonly reason?: string;
	  }
	/** The store cannot be reached. The request keeps its position in the queue. */
	| {readonly kind: 'store-lost'; readonly reason: string}
	/** The entry was lost and has joined the queue again: at the end if `isLast`, otherwise at its old position. */
	| {readonly kind: 'rejoined'; readonly isLast?: boolean};

export type GaveUp = {
	readonly kind: 'gave-up';
	/** `removed`: somebody removed the entry from the queue. */
	readonly reason: 'timeout' | 'aborted' | 'removed';
	/** Set if the request may have been granted at the last moment, and the store could not be read to find out. */
	readonly isUnsure?: boolean;
};

export type WaitOptions = {
	readonly waitSeconds: number | undefined;
	/** When aborted, the request leaves the queue and releases its held GPUs. */
	readonly signal: AbortSignal;
	/**
	Set by a process that goes on after the wait, and aborted when the process ends. If the store is unreachable at the end of the wait, the request
	leaves the queue once the store is back. Without this signal, the process must end, so that another process removes the request.
	*/
	readonly leaveUntil?: AbortSignal | undefined;
	readonly onProgress: (progress: Progress) => void;
	readonly entryId?: string | undefined;
	/** The id of the lease. To repeat a request whose answer may be lost, give the same id again. Default: a new id. */
	readonly leaseId?: string | undefined;
	/** Runs background work, such as recording alerts, after the grant is in use. Without this function, the grant waits for the work. */
	readonly afterwards?: ((work: () => Promise<void>) => void) | undefined;
	readonly failed?: (error: unknown) => void;
};

export type ReleaseResult = {
	readonly released: readonly Holding[];
	/** Selected GPUs that belong to somebody else. If there are any, nothing is released. */
	readonly notYours: readonly HeldPart[];
};

/** `by` extends each lease by this number of seconds. `until` sets the end, in seconds since the epoch on the store's clock. */
export type NewEnd = {readonly by: number} | {readonly until: number};

export type ExtendResult = {
	/** `lease` identifies the MIG instance, if any. */
	readonly extended: ReadonlyArray<{
		readonly index: number;
		readonly lease?: Pick<Lease, 'mig'>;
		readonly expiryTime: number;
		readonly keepUntil?: number | undefined;
		/** Set if the GPU still goes back to the pool before its new end, unless it is used. */
		readonly warning?: Warning | undefined;
		/** Set if the reservation is still beyond the limit of its account. */
		readonly beyondLimit?: BeyondLimit | undefined;
	}>;
	readonly notYours: readonly HeldPart[];
	/** The GPUs of selected leases that cannot be extended, because these leases end with their job and not at a certain time. */
	readonly notTimed: readonly number[];
	readonly now: number;
};

export type LeaveResult =
	| {readonly kind: 'left'; readonly id: string; readonly freed: readonly number[]}
	| {readonly kind: 'not-found'}
	| {readonly kind: 'ambiguous'; readonly ids: readonly string[]}
	| {readonly kind: 'not-yours'; readonly entry: QueueEntry};

export type Later = {
	readonly after?: string | undefined;
	readonly begin?: number | undefined;
	readonly array?: string | undefined;
};

export type Submission = {
	readonly request: AcquireRequest;
	readonly words: readonly [command: string, ...args: readonly string[]];
	readonly waitSeconds: number | undefined;
	readonly later: Later;
	/** Whether the user's command starts only when `begin` of {@link Submitted} is called, so that the grant is reported first. */
	readonly isHeld: boolean;
	readonly isQuiet: boolean;
	readonly hasTerminal: boolean;
	readonly environment: Readonly<Record<string, string | undefined>>;
};

/** A program of the engine, such as `srun`, that runs as long as the user's command. */
export type Submitted = {
	readonly words: readonly [command: string, ...args: readonly string[]];
	readonly environment: Readonly<Record<string, string | undefined>>;
	/**
	Waits for the grant. `pid` is the process of the engine's program. `signal` is aborted when this process ends.
	Undefined after an abort, or if there is nothing to report.
	*/
	readonly granted: (pid: number, signal: AbortSignal) => Promise<Grant | undefined>;
	readonly begin: () => void;
	/**
	Maps the exit code of the engine's program to that of `run`. If the engine never ran the command, returns `interruptedCode`, the exit code after a
	signal to this process, and throws a CanhazgpuError without a signal.
	*/
	readonly exitCodeOf: (exitCode: number, interruptedCode?: number) => Promise<number>;
};

export type DetachedJob = {
	readonly jobId: string;
	readonly output: string;
};

/** The jobs of `run --detach` that an engine keeps. All ids are ids of the engine. */
export type EngineJobs = {
	readonly list: (account: string, isAll: boolean) => Promise<{readonly rows: readonly JobRow[]; readonly now: number}>;
	/** Returns the jobs with these ids, without ended jobs of an array that the engine has forgotten. Throws `usage` for an unknown id. */
	readonly find: (ids: readonly string[], account: string) => Promise<readonly JobRow[]>;
	/** Works like `find`, with all jobs of an array. Throws `failed` if some may be unknown. */
	readonly findAll: (ids: readonly string[], account: string) => Promise<readonly JobRow[]>;
	/** Returns the output file of a job. Throws `usage` for an unknown id or an array, `not-owner` for a job of another account. */
	readonly outputOf: (requester: Requester, id: string) => Promise<string>;
	/** Cancels jobs, and returns the ids of the jobs that had not ended before. Throws like `outputOf`. */
	readonly cancel: (requester: Requester, ids: readonly string[]) => Promise<readonly string[]>;
	/** Starts ended jobs again, and returns their ids. Throws like `outputOf`, and `failed` for a job that has not ended. */
	readonly retry: (requester: Requester, ids: readonly string[]) => Promise<readonly string[]>;
};

export const wishes = [
	'ids',
	'label',
	'strategy',
	'force',
	'min-memory',
	'min-compute',
	'nvlink',
	'same-model',
	'share',
	'partial-release',
] as const;

export type Wish = (typeof wishes)[number];

export type LocalCommand = 'adopt' | 'drain' | 'policy' | 'undo' | 'pool' | 'who';

export type Engine = {
	readonly name: 'slurm';
	/** Returns the engine's name, such as `Slurm, cluster lab`. Never rejects: an unknown cluster name is omitted. */
	readonly label: () => Promise<string>;
	/**
	Grants GPUs now or after waiting. Throws `unavailable` if a request does not wait and too few GPUs are free, and
	`usage` for unsupported options.
	*/
	readonly acquire: (request: TimedRequest, options: WaitOptions) => Promise<Grant | GaveUp>;
	/** Works like `acquire` for a request that does not wait. */
	readonly acquireNow: (request: TimedRequest) => Promise<Grant>;
	readonly release: (requester: Requester, selection: Selection) => Promise<ReleaseResult>;
	readonly extend: (requester: Requester, selection: Selection, end: NewEnd) => Promise<ExtendResult>;
	readonly leaveQueue: (requester: Requester, id: string) => Promise<LeaveResult>;
	/** Prepares to run a command with GPUs. Throws `usage` for unsupported options. */
	readonly submit: (submission: Submission) => Promise<Submitted>;
	/**
	Submits a background command. `directory` is the working directory of the command, and its output file is written
	there. Throws like `submit`, and also if the engine rejects the job.
	*/
	readonly submitDetached: (submission: Submission, directory: string) => Promise<DetachedJob>;
	readonly jobs: EngineJobs;
	/** Features that the engine lacks. The interfaces do not offer them. */
	readonly lacks: ReadonlySet<Wish>;
	readonly refusalOf: (command: LocalCommand) => Error;
};

export type EngineWorld = World & {readonly engine?: Engine | undefined};

/** Returns whether GPUs can be shared. An engine decides this by `lacks`. Without an engine, the policy decides. */
export const offersShares = (lacks: ReadonlySet<Wish> | undefined, policy: StoredPolicy | undefined): boolean =>
	lacks === undefined ? policy !== undefined && policyValue(policy, 'share') === 'on' : !lacks.has('share');

/** Throws the engine's refusal of a command that only works without an engine. */
export function requireLocal({engine}: EngineWorld, command: LocalCommand): void {
	if (engine !== undefined) {
		throw engine.refusalOf(command);
	}
}

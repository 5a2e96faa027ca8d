/**
The engine that grants GPUs. The local one is what the operations beside this do themselves: they read, plan by the rules and commit to a store.
Another engine, such as Slurm, is asked instead, by the same operations. To view its queue and its GPUs there are the store and the GPU
provider of the same world, which read what the engine tells, and commit nothing.
*/
import type {HeldPart, Holding} from '../rules/leases/holdings.js';
import type {Selection} from '../rules/leases/selection.js';
import type {AcquireRequest, Grant, Wanted} from '../rules/request/request.js';
import {policyValue, type StoredPolicy} from '../rules/policy/policy.js';
import type {World} from '../model/ports.js';
import type {Lease, QueueEntry, Requester} from '../model/types.js';
import type {UnusableGpu} from '../rules/grants/newcomer-grant.js';
import type {Quality} from '../rules/allocation/need.js';

export type Progress =
	| {
			readonly kind: 'waiting';
			/** Position in the queue, from 1. */
			readonly position: number;
			readonly waiting: number;
			readonly wanted: Wanted;
			/** GPUs that are held until the rest comes. */
			readonly held: readonly number[];
			/** GPUs that have to be put back into service first. */
			readonly outOfService: readonly number[];
			/** Unreserved GPUs that cannot be granted because they are in use or unfit. */
			readonly unusable: readonly UnusableGpu[];
			/** GPUs that may have what is needed, with what is unknown of them. */
			readonly unknown: ReadonlyArray<{readonly index: number; readonly quality: Quality}>;
			/** Undefined: no one can know, it depends on when a job ends. */
			readonly estimateSeconds: number | undefined;
			/** Reason in the words of the engine that keeps the queue. */
			readonly reason?: string;
	  }
	/** The store cannot be asked now; the position in the queue is kept. */
	| {readonly kind: 'store-lost'; readonly reason: string}
	/** The position was lost, with the store's data or while stopped for long. `isLast`: the new one is not the old one, but at the end. */
	| {readonly kind: 'rejoined'; readonly isLast?: boolean};

export type GaveUp = {
	readonly kind: 'gave-up';
	/** `removed`: somebody took us out of the queue. */
	readonly reason: 'timeout' | 'aborted' | 'removed';
	/** The store could not be reached, nor asked whether something was granted in the last moment. */
	readonly isUnsure?: boolean;
};

export type WaitOptions = {
	/** 0: do not wait. Undefined: for as long as it takes. */
	readonly waitSeconds: number | undefined;
	/** Aborted: leave the queue, giving back what is held. */
	readonly signal: AbortSignal;
	readonly onProgress: (progress: Progress) => void;
	/** The id of the entry in the queue, where the caller must know it: unique for all times. */
	readonly entryId?: string | undefined;
	/**
	Gets work for others, such as recording what the last scan showed, which the caller does once it uses what was granted. Absent: the
	grant waits for that work.
	*/
	readonly afterwards?: ((work: () => Promise<void>) => void) | undefined;
	/** Gets what fails beside the waiting and does not end it: alerts, and the end of the subscription. */
	readonly failed?: (error: unknown) => void;
};

export type ReleaseResult = {
	/** Sorted by GPU. */
	readonly released: readonly Holding[];
	/** Named, but somebody else's: then nothing at all was released. */
	readonly notYours: readonly HeldPart[];
};

/** `by` adds to each lease's own end; `until` sets it, in seconds since the epoch on the store's clock. */
export type NewEnd = {readonly by: number} | {readonly until: number};

export type ExtendResult = {
	/** `lease`: of an instance of MIG, which. */
	readonly extended: ReadonlyArray<{
		readonly index: number;
		readonly lease?: Pick<Lease, 'mig'>;
		readonly expiryTime: number;
	}>;
	readonly notYours: readonly HeldPart[];
	/** Named and yours, but they end with their job and not at a time. */
	readonly notTimed: readonly number[];
	/** The store's clock, to say how long is left. */
	readonly now: number;
};

export type LeaveResult =
	| {readonly kind: 'left'; readonly id: string; readonly freed: readonly number[]}
	| {readonly kind: 'not-found'}
	/** The beginning of an id that several have. */
	| {readonly kind: 'ambiguous'; readonly ids: readonly string[]}
	| {readonly kind: 'not-yours'; readonly entry: QueueEntry};

/** When a command may begin, and how often it runs. */
export type Later = {
	/** Jobs that must have ended before: their ids, or a condition in the engine's own words. */
	readonly after?: string | undefined;
	/** Seconds since the epoch, here. */
	readonly begin?: number | undefined;
	/** Array specification in the engine's syntax. */
	readonly array?: string | undefined;
};

/** A command that the engine shall run on the GPUs that it grants. */
export type Submission = {
	readonly request: AcquireRequest;
	/** The command, word by word. */
	readonly words: readonly [command: string, ...args: readonly string[]];
	/** Seconds to wait in the queue; 0 not at all, undefined for as long as it takes. */
	readonly waitSeconds: number | undefined;
	readonly later: Later;
	/** The command begins only when `begin` of {@link Submitted} is called: what it got is said before. */
	readonly isHeld: boolean;
	/** Whether the grant is not reported. */
	readonly isQuiet: boolean;
	/** Whether the job shares this terminal. */
	readonly hasTerminal: boolean;
	/** The environment of this program. */
	readonly environment: Readonly<Record<string, string | undefined>>;
};

/** A submission: a program of the engine that runs as long as the command. */
export type Submitted = {
	readonly words: readonly [command: string, ...args: readonly string[]];
	readonly environment: Readonly<Record<string, string | undefined>>;
	/**
	Finds the job, and which GPUs the command got, once it has them.

	@param pid - Of the program that was started.
	@param signal - Aborted when that has ended. Then this resolves with undefined, as where nothing is to be reported.
	*/
	readonly granted: (pid: number, signal: AbortSignal) => Promise<Grant | undefined>;
	/** Lets the command begin, where it is held. */
	readonly begin: () => void;
	/**
	Returns the exit code of `run` for the exit code of the program.

	@throws CanhazgpuError if the engine never ran the command: `unavailable`, `impossible`, `store-unreachable` and others.
	*/
	readonly exitCodeOf: (exitCode: number) => Promise<number>;
};

export type DetachedJob = {
	readonly jobId: string;
	/** A file in the directory of the submission. */
	readonly output: string;
};

/** Features that the local engine has and other engines may lack. */
export const wishes = [
	/** GPUs by their indices. */
	'ids',
	/** On behalf of another user. */
	'label',
	'strategy',
	/** GPUs that are in use without a reservation. */
	'force',
	'min-memory',
	'min-compute',
	'nvlink',
	'same-model',
	'share',
	/** Releasing some GPUs of a reservation. */
	'partial-release',
] as const;

export type Wish = (typeof wishes)[number];

/** Commands that only the local engine supports. */
export type LocalVerb = 'adopt' | 'drain' | 'policy' | 'undo' | 'pool' | 'who';

export type Engine = {
	readonly name: 'slurm';
	/** Returns the name of the engine, such as `Slurm, cluster lab`. Never rejects: the cluster's name is omitted if unknown. */
	readonly label: () => Promise<string>;
	/** @throws CanhazgpuError `unavailable` when waiting was not wanted and there are not enough, `usage` for what it has no counterpart of, ... */
	readonly acquire: (request: AcquireRequest, options: WaitOptions) => Promise<Grant | GaveUp>;
	/** @throws CanhazgpuError As `acquire`, without waiting. */
	readonly acquireNow: (request: AcquireRequest) => Promise<Grant>;
	readonly release: (requester: Requester, selection: Selection) => Promise<ReleaseResult>;
	readonly extend: (requester: Requester, selection: Selection, end: NewEnd) => Promise<ExtendResult>;
	readonly leaveQueue: (requester: Requester, id: string) => Promise<LeaveResult>;
	/** @throws CanhazgpuError `usage` for what it has no counterpart of. */
	readonly submit: (submission: Submission) => Promise<Submitted>;
	/**
	Hands a command over, to be run in the background.

	@param directory - Where it runs, and where its output goes.
	@throws CanhazgpuError As `submit`, and where it is not taken.
	*/
	readonly submitDetached: (submission: Submission, directory: string) => Promise<DetachedJob>;
	/** Features that the engine lacks. Faces do not offer them. */
	readonly lacks: ReadonlySet<Wish>;
	/** Why it cannot do this, and which ways there are instead. */
	readonly refusalOf: (verb: LocalVerb) => Error;
};

/** A world with its engine. Absent: the local one. */
export type EngineWorld = World & {readonly engine?: Engine | undefined};

/**
Whether a part of a GPU can be asked for: the policy allows it, or the engine, which has no policy here.

@param lacks - What the engine cannot do; undefined where this program grants the GPUs.
*/
export const offersShares = (lacks: ReadonlySet<Wish> | undefined, policy: StoredPolicy | undefined): boolean =>
	lacks === undefined ? policy !== undefined && policyValue(policy, 'share') === 'on' : !lacks.has('share');

/** @throws CanhazgpuError `failed` on a world whose engine cannot do that. */
export function requireLocal({engine}: EngineWorld, verb: LocalVerb): void {
	if (engine !== undefined) {
		throw engine.refusalOf(verb);
	}
}

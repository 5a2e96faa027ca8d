/** How waiting for GPUs goes, and how it ends: what every engine tells the caller. */
import type {UnusableGpu} from '../../rules/grants/newcomer-grant.js';
import type {Quality} from '../../rules/allocation/need.js';
import type {Wanted} from '../../rules/request/request.js';

export type Progress =
	| {
			readonly kind: 'waiting';
			/** In the queue, from 1. */
			readonly position: number;
			readonly waiting: number;
			readonly wanted: Wanted;
			/** GPUs that are held until the rest comes. */
			readonly held: readonly number[];
			/** GPUs that have to be put back into service first. */
			readonly outOfService: readonly number[];
			/** GPUs that no one holds, and that are not to be had as long as they are used or unfit. */
			readonly unusable: readonly UnusableGpu[];
			/** GPUs that may have what is needed, with what is unknown of them. */
			readonly unknown: ReadonlyArray<{readonly index: number; readonly quality: Quality}>;
			/** Undefined: no one can know, it depends on when a job ends. */
			readonly estimateSeconds: number | undefined;
			/** Of a queue that another engine keeps: why it waits, in the engine's own word. */
			readonly reason?: string;
	  }
	/** The store cannot be asked now; the position in the queue is kept. */
	| {readonly kind: 'store-lost'; readonly reason: string}
	/** The position was lost, with the store's data or while stopped for long: now at the end. */
	| {readonly kind: 'rejoined'};

export type GaveUp = {
	readonly kind: 'gave-up';
	/** `removed`: somebody took us out of the queue. */
	readonly reason: 'timeout' | 'aborted' | 'removed';
	/** The store could not be told, nor asked whether something was granted in the last moment. */
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
	/** Gets what fails beside the waiting and does not end it: alerts, and the end of the subscription. */
	readonly failed?: (error: unknown) => void;
};

import type {
	AuditRecord,
	DataLoss,
	Drain,
	EndedLease,
	Lease,
	Alert,
	MemoryBaseline,
	Overuse,
	PolicySetting,
	Pool,
	PoolEvent,
	QueueEntry,
	UsageRecord,
} from './types.js';

/** A precondition of a commit, compared byte for byte before anything is written. */
export type Expectation =
	/** `raw` undefined: the key must be absent. */
	| {readonly kind: 'gpu'; readonly index: number; readonly raw: string | undefined}
	| {readonly kind: 'entry'; readonly id: string; readonly raw: string | undefined}
	/** The queue must be exactly these ids (`whole`), or begin with them (`prefix`). */
	| {readonly kind: 'queue'; readonly ids: readonly string[]; readonly scope: 'whole' | 'prefix'}
	/** There must be a pool of this size, or none (undefined). */
	| {readonly kind: 'pool'; readonly gpuCount: number | undefined}
	/** `raw` undefined: none are stored. */
	| {readonly kind: 'drains' | 'alerts' | 'policy' | 'revision'; readonly raw: string | undefined};

export type Write =
	| {readonly kind: 'lease'; readonly index: number; readonly lease: Lease}
	/** Replaces all shares of one GPU. There is at least one. */
	| {
			readonly kind: 'shares';
			readonly index: number;
			readonly shares: readonly Lease[];
			/** Memory that all shares may have together. */
			readonly capacityMiB?: number | undefined;
			readonly unknownFields?: Readonly<Record<string, unknown>> | undefined;
	  }
	/** Makes the GPU free. `lastReleased` undefined: as if never used; the key is removed. */
	| {
			readonly kind: 'free';
			readonly index: number;
			readonly lastReleased: number | undefined;
			/** Which lease ended, and why. */
			readonly ended?: EndedLease;
	  }
	/** Makes or replaces the pool. GPU records are written apart. */
	| {readonly kind: 'pool'; readonly pool: Pool}
	| {
			readonly kind: 'join';
			readonly entry: QueueEntry;
			/** The entry gets the position of one that joined at this time, in seconds on the store's clock. Absent: it joins at the end. */
			readonly at?: number;
	  }
	/** Replaces the entry of somebody who stands in the queue. */
	| {readonly kind: 'entry'; readonly entry: QueueEntry}
	/** Removes the id from the queue, and its entry. */
	| {readonly kind: 'leave'; readonly id: string}
	/** Replaces all of them. */
	| {readonly kind: 'drains'; readonly drains: ReadonlyMap<number, Drain>}
	| {readonly kind: 'policy'; readonly policy: ReadonlyMap<string, PolicySetting>}
	| {
			readonly kind: 'alerts';
			readonly alerts: readonly Alert[];
			readonly dataLoss?: DataLoss;
			readonly baselines?: ReadonlyMap<number, MemoryBaseline>;
			readonly overuse?: readonly Overuse[];
	  }
	/** Says that every commit up to this count is in the store again, as far as a reader knew of it. */
	| {readonly kind: 'restored'; readonly count: number};

/**
An idempotency key. A request may reach the store late, after the caller has sent the next attempt, so a store carries out at most one of
all plans with the same id, and remembers which for an hour.
*/
export type Change = {
	/** New for each change that a verb makes. */
	readonly id: string;
	/** Starts at 1. {@link withdrawn} marks a plan that only invalidates earlier attempts. */
	readonly attempt: number;
};

/** The attempt that stands for giving up. */
export const withdrawn = 0;

/** Either all of it is committed or nothing. */
export type Plan = {
	readonly expect: readonly Expectation[];
	readonly writes: readonly Write[];
	/** Appended to the history. */
	readonly usage: readonly UsageRecord[];
	/** Appended to the audit log. */
	readonly audit: readonly AuditRecord[];
	/** Published after the writes. */
	readonly event: PoolEvent | undefined;
	/** Whether a free GPU becomes a lease. The commit then waits for the Go program's allocation lock. */
	readonly grants: boolean;
	/** Absent: doing it twice, or late, is prevented by what is expected. */
	readonly change?: Change;
};

export const emptyPlan: Plan = {expect: [], writes: [], usage: [], audit: [], event: undefined, grants: false};

/** Whether a commit would change nothing. */
export const isEmpty = ({writes, usage, audit}: Plan): boolean =>
	writes.length === 0 && usage.length === 0 && audit.length === 0;

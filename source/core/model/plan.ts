import type {Job, JobIndex} from './jobs.js';
import type {
	AuditRecord,
	DataLoss,
	Drain,
	EndedLease,
	Lease,
	Alert,
	MemoryBaseline,
	Overuse,
	ReturnNote,
	PolicySetting,
	Pool,
	PoolEvent,
	QueueEntry,
	Snapshot,
	UsageRecord,
} from './types.js';

/** A precondition of a commit, compared byte for byte before anything is written. `raw` is undefined if the key must be absent. */
export type Expectation =
	| {readonly kind: 'gpu'; readonly index: number; readonly raw: string | undefined}
	| {readonly kind: 'entry'; readonly id: string; readonly raw: string | undefined}
	/** The queue must consist of these ids (`whole`) or start with them (`prefix`). */
	| {readonly kind: 'queue'; readonly ids: readonly string[]; readonly scope: 'whole' | 'prefix'}
	/** `gpuCount` is undefined if there must be no pool. */
	| {readonly kind: 'pool'; readonly gpuCount: number | undefined}
	| {readonly kind: 'job'; readonly number: number; readonly raw: string | undefined}
	/** `machine` is the record of the pool's machine, which also says where a pool has moved. */
	| {readonly kind: 'machine' | 'drains' | 'alerts' | 'policy' | 'revision' | 'jobs'; readonly raw: string | undefined};

/**
Returns the preconditions of a plan that is valid only in this pool: the pool must have the same size, and must not have moved to another store since
the read.
*/
export const poolExpectations = ({pool, stored}: Pick<Snapshot, 'pool' | 'stored'>): readonly Expectation[] => [
	{kind: 'pool', gpuCount: pool?.gpuCount},
	{kind: 'machine', raw: stored.machine},
];

export type Write =
	| {readonly kind: 'lease'; readonly index: number; readonly lease: Lease}
	/** Replaces all shares of one GPU. There is at least one. */
	| {
			readonly kind: 'shares';
			readonly index: number;
			readonly shares: readonly Lease[];
			readonly capacityMiB?: number | undefined;
			readonly shareEnded?: number | undefined;
			readonly unknownFields?: Readonly<Record<string, unknown>> | undefined;
	  }
	/** Frees the GPU. Without `lastReleased`, the key is removed, as if the GPU was never used. */
	| {
			readonly kind: 'free';
			readonly index: number;
			readonly lastReleased: number | undefined;
			readonly ended?: EndedLease;
	  }
	/** Creates or replaces the record of the pool. The GPU records stay as they are. */
	| {readonly kind: 'pool'; readonly pool: Pool}
	| {
			readonly kind: 'join';
			readonly entry: QueueEntry;
			/** Store time at which the entry joined, which determines its position. If absent, the entry joins at the end. */
			readonly at?: number;
	  }
	| {readonly kind: 'entry'; readonly entry: QueueEntry}
	| {readonly kind: 'leave'; readonly id: string}
	| {readonly kind: 'drains'; readonly drains: ReadonlyMap<number, Drain>}
	| {readonly kind: 'job'; readonly job: Job}
	| {readonly kind: 'forget-job'; readonly number: number}
	| {readonly kind: 'jobs'; readonly index: JobIndex}
	| {readonly kind: 'policy'; readonly policy: ReadonlyMap<string, PolicySetting>}
	/** Copies a record from another store byte for byte, even if it cannot be read. If `raw` is undefined, the record is removed. */
	| {readonly kind: 'copy'; readonly name: 'drains' | 'policy'; readonly raw: string | undefined}
	| {
			readonly kind: 'alerts';
			readonly alerts: readonly Alert[];
			readonly dataLoss?: DataLoss;
			readonly baselines?: ReadonlyMap<number, MemoryBaseline>;
			readonly overuse?: readonly Overuse[];
			readonly returned?: readonly ReturnNote[];
	  }
	/** Records that all commits up to this count are restored after a loss of data. */
	| {readonly kind: 'restored'; readonly count: number};

/** Keeps a delayed commit from being executed after its retry: a store executes at most one plan per id. Ids expire after an hour. */
export type Change = {
	readonly id: string;
	/** Starts at 1. {@link withdrawn} marks a plan that only invalidates earlier attempts. */
	readonly attempt: number;
};

export const withdrawn = 0;

/** Changes that are committed completely or not at all. */
export type Plan = {
	readonly expect: readonly Expectation[];
	readonly writes: readonly Write[];
	readonly usage: readonly UsageRecord[];
	readonly audit: readonly AuditRecord[];
	readonly event: PoolEvent | undefined;
	/** Whether the plan leases a free GPU. If so, the commit waits for the Go program's allocation lock. */
	readonly grants: boolean;
	/** Absent if the expected values already prevent the plan from being executed twice or too late. */
	readonly change?: Change;
};

export const emptyPlan: Plan = {expect: [], writes: [], usage: [], audit: [], event: undefined, grants: false};

export const isEmpty = ({writes, usage, audit}: Plan): boolean =>
	writes.length === 0 && usage.length === 0 && audit.length === 0;

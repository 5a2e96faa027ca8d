import type {AuditRecord, Drain, Lease, Notice, Pool, PoolEvent, QueueEntry, UsageRecord} from './types.js';

/** What a commit compares with the store, byte for byte, before it writes anything. */
export type Expectation =
	/** `raw` undefined: the key must be absent. */
	| {readonly kind: 'gpu'; readonly index: number; readonly raw: string | undefined}
	| {readonly kind: 'entry'; readonly id: string; readonly raw: string | undefined}
	/** The line must be exactly these ids (`whole`), or begin with them (`prefix`). */
	| {readonly kind: 'queue'; readonly ids: readonly string[]; readonly extent: 'whole' | 'prefix'}
	/** There must be a pool of this size, or none (undefined). */
	| {readonly kind: 'pool'; readonly gpuCount: number | undefined}
	/** `raw` undefined: none are stored. */
	| {readonly kind: 'drains' | 'notices'; readonly raw: string | undefined};

export type Write =
	| {readonly kind: 'lease'; readonly index: number; readonly lease: Lease}
	/** Makes the GPU free. `lastReleased` undefined: as if never used; the key is removed. */
	| {readonly kind: 'free'; readonly index: number; readonly lastReleased: number | undefined}
	/** Makes or replaces the pool. GPU records are written apart. */
	| {readonly kind: 'pool'; readonly pool: Pool}
	/** Appends to the end of the line; the commit gives it its place. */
	| {readonly kind: 'join'; readonly entry: QueueEntry}
	/** Replaces the entry of somebody who stands in the line. */
	| {readonly kind: 'entry'; readonly entry: QueueEntry}
	/** Removes the id from the line and its entry. */
	| {readonly kind: 'leave'; readonly id: string}
	/** Replaces all of them. */
	| {readonly kind: 'drains'; readonly drains: ReadonlyMap<number, Drain>}
	| {readonly kind: 'notices'; readonly notices: readonly Notice[]};

/** All of it happens, or none of it. */
export type Plan = {
	readonly expect: readonly Expectation[];
	readonly writes: readonly Write[];
	/** Appended to the history. */
	readonly usage: readonly UsageRecord[];
	/** Appended to the audit trail. */
	readonly audit: readonly AuditRecord[];
	/** Published after the writes. */
	readonly event: PoolEvent | undefined;
	/** True when a free GPU becomes a lease: then the commit waits for the peer's allocation lock. */
	readonly grants: boolean;
};

export const emptyPlan: Plan = {expect: [], writes: [], usage: [], audit: [], event: undefined, grants: false};

/** True when committing it would change nothing. */
export const isEmpty = ({writes, usage, audit}: Plan): boolean =>
	writes.length === 0 && usage.length === 0 && audit.length === 0;

/**
A plan as every store carries it out: strings to compare, strings to write. Encoding comes first, so that a value which
cannot be stored stops the commit before anything happened.
*/
import type {Change, Expectation, Plan, Write} from '../core/model/plan.js';
import type {UsageRecord} from '../core/model/types.js';
import {
	encodeAudit,
	encodeDrains,
	encodeEvent,
	encodeFree,
	encodeLease,
	encodeAlerts,
	encodePolicy,
	encodePool,
	encodeQueueEntry,
	encodeShares,
	encodeUsage,
	type RawPool,
} from './records/index.js';

export type RawWrite =
	/** `raw` undefined: the record is removed. */
	| {readonly kind: 'gpu'; readonly index: number; readonly raw: string | undefined}
	| {readonly kind: 'pool'; readonly pool: RawPool}
	| {
			readonly kind: 'join';
			readonly id: string;
			readonly raw: string;
			/** Whole microseconds since the epoch: the score of an entry that joined then. Undefined: the end of the queue. */
			readonly atMicroseconds: number | undefined;
	  }
	| {readonly kind: 'entry'; readonly id: string; readonly raw: string}
	| {readonly kind: 'leave'; readonly id: string}
	/** `raw` undefined: the value is removed. */
	| {readonly kind: 'drains' | 'alerts' | 'policy'; readonly raw: string | undefined}
	| {readonly kind: 'restored'; readonly count: number};

export type RawUsage = Pick<UsageRecord, 'user' | 'gpuId' | 'endTime'> & {
	/** Position in the history: the second of its end. */
	readonly endSecond: number;
	readonly raw: string;
};

export type RawPlan = {
	readonly expect: readonly Expectation[];
	readonly writes: readonly RawWrite[];
	readonly usage: readonly RawUsage[];
	/** Records to append to the audit log. */
	readonly audit: readonly string[];
	readonly event: string | undefined;
	readonly grants: boolean;
	readonly change: Change | undefined;
};

/**
Usage records that ended longer ago than this are removed, where {@link isTrimDue} allows it. They are kept for 90 days at least; a month more is
for a clock that is ahead by so little that the history shows no gap.
*/
export const historySeconds = 120 * 86_400;

/** A gap in the history of at least twice this leaves one of the windows empty that {@link isTrimDue} checks. */
export const historyWindowSeconds = 15 * 86_400;

/**
Whether usage records are too old, and others lie in every half-month of the time for which they are kept. Only then is the clock believed:
one that is months ahead for a while leaves a gap between the true records and its own, and removes nothing until the gap is as old as the
records it would remove. A box that was idle for as long merely keeps its records longer. `commit.lua` says the same in its words.

@param now - The store's clock, in seconds.
@param hasRecord - Whether a record ended in [fromSecond, toSecond].
*/
export function isTrimDue(now: number, hasRecord: (fromSecond: number, toSecond: number) => boolean): boolean {
	const end = Math.floor(now);
	if (!hasRecord(0, end - historySeconds - 1)) {
		return false;
	}

	for (let from = end - historySeconds; from < end; from += historyWindowSeconds) {
		if (!hasRecord(from, from + historyWindowSeconds)) {
			return false;
		}
	}

	return true;
}

/** A request that comes later than this after its change was settled is not expected. */
export const changeSeconds = 3600;

/** At most so many old records are removed by one commit, so that none takes long. */
export const trimCount = 100;

/** How many of the newest usage records tell which GPUs a user had last. */
export const recentCount = 100;

/** Redis keeps the last uses of so many users; of more of them, those who used no GPU lately are forgotten. */
export const mostLastUsers = 1000;

function encodeWrite(write: Write): RawWrite {
	switch (write.kind) {
		case 'lease': {
			return {kind: 'gpu', index: write.index, raw: encodeLease(write.lease)};
		}

		case 'shares': {
			return {kind: 'gpu', index: write.index, raw: encodeShares(write)};
		}

		case 'free': {
			return {kind: 'gpu', index: write.index, raw: encodeFree(write.lastReleased, write.ended)};
		}

		case 'pool': {
			return {kind: 'pool', pool: encodePool(write.pool)};
		}

		case 'join': {
			const {entry, at} = write;
			const atMicroseconds = at === undefined ? undefined : Math.round(at * 1e6);
			return {kind: 'join', id: entry.id, raw: encodeQueueEntry(entry), atMicroseconds};
		}

		case 'entry': {
			return {kind: 'entry', id: write.entry.id, raw: encodeQueueEntry(write.entry)};
		}

		case 'leave':
		case 'restored': {
			return write;
		}

		case 'drains': {
			return {kind: 'drains', raw: encodeDrains(write.drains)};
		}

		case 'policy': {
			return {kind: 'policy', raw: encodePolicy(write.policy)};
		}

		case 'alerts': {
			return {kind: 'alerts', raw: encodeAlerts(write)};
		}
	}
}

/** @throws TypeError or RangeError for what cannot be stored: bugs of the caller. */
export const encodePlan = (plan: Plan): RawPlan => ({
	expect: plan.expect,
	writes: plan.writes.map((write) => encodeWrite(write)),
	usage: plan.usage.map((usage) => ({
		endSecond: Math.floor(usage.endTime),
		user: usage.user.toWellFormed(),
		gpuId: usage.gpuId,
		endTime: usage.endTime,
		raw: encodeUsage(usage),
	})),
	audit: plan.audit.map((record) => encodeAudit(record)),
	event: plan.event && encodeEvent(plan.event),
	grants: plan.grants,
	change: plan.change,
});

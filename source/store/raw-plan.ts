/** A plan in the form that stores execute: strings to compare and write. Encoding comes first, so that an invalid value stops the commit early. */
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
	/** `raw` is undefined to remove the record. */
	| {readonly kind: 'gpu'; readonly index: number; readonly raw: string | undefined}
	| {readonly kind: 'pool'; readonly pool: RawPool}
	| {
			readonly kind: 'join';
			readonly id: string;
			readonly raw: string;
			/** Whole microseconds since the epoch: the score of an entry that joined at that time. Undefined: the end of the queue. */
			readonly atMicroseconds: number | undefined;
	  }
	| {readonly kind: 'entry'; readonly id: string; readonly raw: string}
	| {readonly kind: 'leave'; readonly id: string}
	/** `raw` is undefined to remove the value. */
	| {readonly kind: 'drains' | 'alerts' | 'policy'; readonly raw: string | undefined}
	| {readonly kind: 'restored'; readonly count: number};

export type RawUsage = Pick<UsageRecord, 'user' | 'gpuId' | 'endTime'> & {
	/** The second of the lease's end, which is its position in the history. */
	readonly endSecond: number;
	readonly raw: string;
};

export type RawPlan = {
	readonly expect: readonly Expectation[];
	readonly writes: readonly RawWrite[];
	readonly usage: readonly RawUsage[];
	readonly audit: readonly string[];
	readonly event: string | undefined;
	readonly grants: boolean;
	readonly change: Change | undefined;
};

/**
Older usage records are removed if {@link isTrimDue} allows that. They are kept for 90 days or more. The extra month is for clocks that run ahead.
*/
export const historySeconds = 120 * 86_400;

/** Length of the windows that {@link isTrimDue} checks. A gap in the history of twice this length leaves one window empty. */
export const historyWindowSeconds = 15 * 86_400;

/**
Returns whether there are old usage records to remove. Requires records in every half-month of the kept time, because only then is the clock
trusted: a clock that is months ahead for a while leaves a gap before its own records, and removes nothing until the gap is old. A box that was idle
for that long merely keeps its records longer. `commit.lua` implements the same.
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

/** How long the attempt of a change is remembered. Later requests are not expected. */
export const changeSeconds = 3600;

/** The most old records that one commit removes, so that no commit takes long. */
export const trimCount = 100;

/** The number of newest usage records that show which GPUs a user had last. */
export const recentCount = 100;

/** Redis keeps the last uses of this many users. The least recent users are forgotten. */
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

/** @throws TypeError or RangeError for values that cannot be stored, which are bugs of the caller. */
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

/** A plan as stores execute it: strings to compare and write. Encoding ends before the commit begins, so an invalid value prevents the commit. */
import type {Change, Expectation, Plan, Write} from '../core/model/plan.js';
import type {UsageRecord} from '../core/model/types.js';
import {
	encodeAudit,
	encodeDrains,
	encodeEvent,
	encodeJob,
	encodeJobIndex,
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
	/** If `raw` is undefined, the record is removed, here and below. */
	| {readonly kind: 'gpu'; readonly index: number; readonly raw: string | undefined}
	| {readonly kind: 'pool'; readonly pool: RawPool}
	| {
			readonly kind: 'join';
			readonly id: string;
			readonly raw: string;
			/** The time of joining, in whole microseconds since the epoch, which determines the entry's position. If undefined, the entry joins at the end. */
			readonly atMicroseconds: number | undefined;
	  }
	| {readonly kind: 'entry'; readonly id: string; readonly raw: string}
	| {readonly kind: 'leave'; readonly id: string}
	| {readonly kind: 'job'; readonly number: number; readonly raw: string | undefined}
	| {readonly kind: 'drains' | 'alerts' | 'policy' | 'jobs'; readonly raw: string | undefined}
	| {readonly kind: 'restored'; readonly count: number};

export type RawUsage = Pick<UsageRecord, 'user' | 'gpuId' | 'endTime'> & {
	/** The end of the lease in whole seconds, which is the position of the record in the history. */
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

/** Whether a plan is empty. A store then only tests whether it accepts changes, and does not count the commit in its revision. */
export const changesNothing = ({writes, usage, audit, change}: RawPlan): boolean =>
	writes.length === 0 && usage.length === 0 && audit.length === 0 && change === undefined;

/** Age at which usage records may be removed: the 90 days for which they must be kept, and a month for clocks that are ahead. See isTrimDue. */
export const historySeconds = 120 * 86_400;

/** Length of the windows that {@link isTrimDue} checks. A gap in the history of twice this length always leaves a window empty. */
export const historyWindowSeconds = 15 * 86_400;

/**
Whether there are old usage records that can safely be removed. A clock that is months ahead makes recent records look old. So records are
removed only if each half-month of the last {@link historySeconds} has a record. A clock that jumps ahead leaves half-months without records.
Nothing is removed until these half-months are older than {@link historySeconds}. On a machine that was idle for weeks, this only delays the removal.
`commit.lua` implements the same.
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

/** How long the executed attempt of a change is remembered, in seconds. A delayed request for the same change is not expected to arrive later. */
export const changeSeconds = 3600;

/** Maximum number of old usage records that one commit removes, so that no commit takes long. */
export const trimCount = 100;

/** How many recent usage records are searched for the GPUs that a user had last. */
export const recentCount = 100;

/** Maximum number of users whose last uses are kept in Redis. If there are more, all last uses are forgotten and collected again. */
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

		case 'job': {
			return {kind: 'job', number: write.job.number, raw: encodeJob(write.job)};
		}

		case 'forget-job': {
			return {kind: 'job', number: write.number, raw: undefined};
		}

		case 'jobs': {
			return {kind: 'jobs', raw: encodeJobIndex(write.index)};
		}

		case 'policy': {
			return {kind: 'policy', raw: encodePolicy(write.policy)};
		}

		case 'copy': {
			return {kind: write.name, raw: write.raw};
		}

		case 'alerts': {
			return {kind: 'alerts', raw: encodeAlerts(write)};
		}
	}
}

/** Encodes a plan. Throws TypeError or RangeError (a bug of the caller) for values that cannot be stored. */
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

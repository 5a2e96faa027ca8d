/**
A plan as every store carries it out: strings to compare, strings to write. Encoding comes first, so that a value which
cannot be stored stops the commit before anything happened.
*/
import type {Expectation, Plan, Write} from '../core/plan.js';
import {
	encodeAudit,
	encodeDrains,
	encodeEvent,
	encodeFree,
	encodeLease,
	encodeNotices,
	encodePool,
	encodeQueueEntry,
	encodeUsage,
	type RawPool,
} from './codec.js';

export type RawWrite =
	/**
	`raw` undefined: the record is removed.
	*/
	| {readonly kind: 'gpu'; readonly index: number; readonly raw: string | undefined}
	| {readonly kind: 'pool'; readonly pool: RawPool}
	| {readonly kind: 'join' | 'entry'; readonly id: string; readonly raw: string}
	| {readonly kind: 'leave'; readonly id: string}
	/**
	`raw` undefined: the value is removed.
	*/
	| {readonly kind: 'drains' | 'notices'; readonly raw: string | undefined};

export type RawUsage = {
	/**
	Where it stands in the history: the whole second of its end.
	*/
	readonly endSecond: number;
	readonly user: string;
	readonly raw: string;
};

export type RawPlan = {
	readonly expect: readonly Expectation[];
	readonly writes: readonly RawWrite[];
	readonly usage: readonly RawUsage[];
	/**
	Records to append to the trail.
	*/
	readonly audit: readonly string[];
	readonly event: string | undefined;
	readonly grants: boolean;
};

/** Usage records that ended longer ago than this are removed. */
export const historySeconds = 90 * 86_400;

/** At most so many old records are removed by one commit, so that none takes long. */
export const trimCount = 100;

/** How many of the newest usage records tell which GPUs a user had last. */
export const recentCount = 100;

function encodeWrite(write: Write): RawWrite {
	switch (write.kind) {
		case 'lease': {
			return {kind: 'gpu', index: write.index, raw: encodeLease(write.lease)};
		}

		case 'free': {
			return {kind: 'gpu', index: write.index, raw: encodeFree(write.lastReleased)};
		}

		case 'pool': {
			return {kind: 'pool', pool: encodePool(write.pool)};
		}

		case 'join':
		case 'entry': {
			return {kind: write.kind, id: write.entry.id, raw: encodeQueueEntry(write.entry)};
		}

		case 'leave': {
			return write;
		}

		case 'drains': {
			return {kind: 'drains', raw: encodeDrains(write.drains)};
		}

		case 'notices': {
			return {kind: 'notices', raw: encodeNotices(write.notices)};
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
		raw: encodeUsage(usage),
	})),
	audit: plan.audit.map((record) => encodeAudit(record)),
	event: plan.event && encodeEvent(plan.event),
	grants: plan.grants,
});

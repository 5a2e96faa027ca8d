/** Computes who held which GPU at which time, as a limited number of time spans or as columns of a graph. */
import type {Snapshot, UsageRecord} from '../../model/types.js';
import {holdingsIn} from '../leases/holdings.js';
import {usageOf} from '../leases/holding-changes.js';
import {latestEndOf} from '../leases/liveness.js';
import type {TimeWindow} from './report.js';

/** A span of time in which a GPU was held. Times are seconds since the epoch, clipped to the window. */
export type OccupancySpan = Pick<UsageRecord, 'user' | 'startTime' | 'endTime' | 'note' | 'leaseId' | 'memoryMiB'> & {
	readonly gpuId: number;
	/** Account of the lease. If several short leases are merged, the account of the longest one. */
	readonly account: string;
	readonly type: UsageRecord['reservationType'];
	/** Number of leases. Short leases close together are merged. */
	readonly leaseCount: number;
	readonly isLive: boolean;
	readonly endsBy?: number;
};

/** The window is divided into this many parts. Leases shorter than a part are merged. */
const partsOfWindow = 400;

type ShortSpans = {span: OccupancySpan; readonly secondsByUser: Map<string, number>};

type OccupancyCollector = {
	readonly add: (record: UsageRecord, live?: {readonly endsBy: number | undefined}) => void;
	readonly spans: () => readonly OccupancySpan[];
};

/** Creates a collector. It keeps at most about two spans for each GPU and part of the window, and one more for each share. */
export function collectOccupancy({from, to}: TimeWindow): OccupancyCollector {
	const partSeconds = (to - from) / partsOfWindow;
	const spans: OccupancySpan[] = [];
	const short = new Map<number, OccupancySpan[]>();
	return {
		add(record, live) {
			const startTime = Math.max(from, record.startTime);
			const endTime = Math.min(to, record.endTime);
			const {gpuId} = record;
			if (gpuId === undefined || endTime < startTime || (endTime === startTime && live === undefined)) {
				return;
			}

			const span: OccupancySpan = {
				gpuId,
				user: record.user,
				account: record.actualUser ?? record.user,
				startTime,
				endTime,
				type: record.reservationType,
				note: record.note,
				leaseId: record.leaseId,
				memoryMiB: record.memoryMiB,
				leaseCount: 1,
				isLive: live !== undefined,
				endsBy: live?.endsBy,
			};
			if (live === undefined && endTime - startTime < partSeconds) {
				const others = short.get(span.gpuId) ?? [];
				short.set(span.gpuId, others);
				others.push(span);
			} else {
				spans.push(span);
			}
		},
		spans: () =>
			[...spans, ...short.values().flatMap((own) => joined(own, partSeconds))].toSorted((a, b) =>
				a.gpuId === b.gpuId ? a.startTime - b.startTime : a.gpuId - b.gpuId,
			),
	};
}

function joined(short: readonly OccupancySpan[], partSeconds: number): readonly OccupancySpan[] {
	const groups: ShortSpans[] = [];
	for (const span of short.toSorted((a, b) => a.startTime - b.startTime)) {
		const group = groups.at(-1);
		if (group === undefined || span.startTime - group.span.endTime >= partSeconds) {
			groups.push({span, secondsByUser: new Map([[span.user, span.endTime - span.startTime]])});
			continue;
		}

		const {secondsByUser} = group;
		const seconds = (secondsByUser.get(span.user) ?? 0) + span.endTime - span.startTime;
		secondsByUser.set(span.user, seconds);
		const known = secondsByUser.get(group.span.user)!;
		const {user, account, type} = seconds > known ? span : group.span;
		group.span = {
			gpuId: span.gpuId,
			user,
			account,
			type,
			startTime: group.span.startTime,
			endTime: Math.max(group.span.endTime, span.endTime),
			leaseCount: group.span.leaseCount + 1,
			isLive: false,
		};
	}

	return groups.map(({span}) => span);
}

export const liveOccupancy = (
	snapshot: Snapshot,
): ReadonlyArray<{readonly record: UsageRecord; readonly endsBy: number | undefined}> =>
	holdingsIn(snapshot.gpus).map(({index, lease}) => ({
		record: {...usageOf(index, lease, {reason: 'released', endTime: snapshot.now}), startTime: lease.startTime},
		endsBy: latestEndOf(lease),
	}));

type Columns = {
	readonly start: number;
	readonly columnSeconds: number;
	readonly columns: number;
};

/**
Returns for each column who held the GPU for at least half of the column's time. If nobody did, returns who held
the GPU longest. `records` includes live leases up to now.
*/
export function holdersByColumn(
	records: readonly UsageRecord[],
	gpu: number,
	{start, columnSeconds, columns}: Columns,
): ReadonlyArray<readonly UsageRecord[]> {
	const seconds = Array.from({length: columns}, () => new Map<string, {record: UsageRecord; held: number}>());
	const end = start + columns * columnSeconds;
	for (const record of records) {
		const {gpuId, user, startTime, endTime} = record;
		if (gpuId !== gpu || endTime <= start || startTime >= end) {
			continue;
		}

		const first = Math.max(0, Math.floor((startTime - start) / columnSeconds));
		const last = Math.min(columns - 1, Math.ceil((endTime - start) / columnSeconds) - 1);
		for (let column = first; column <= last; column++) {
			const from = start + column * columnSeconds;
			const held = Math.min(endTime, from + columnSeconds) - Math.max(startTime, from);
			const known = seconds[column]!.get(user);
			if (held > 0) {
				seconds[column]!.set(user, {record, held: (known?.held ?? 0) + held});
			}
		}
	}

	return seconds.map((holders) => {
		const all = holders
			.values()
			.toArray()
			.toSorted((a, b) => b.held - a.held);
		const long = all.filter(({held}) => held >= columnSeconds / 2);
		return (long.length > 0 ? long : all.slice(0, 1))
			.map(({record}) => record)
			.toSorted((a, b) => a.user.localeCompare(b.user, 'en'));
	});
}

/**
Who used how much: GPU hours of usage records and of leases that still live, clipped to a window of time.
*/
import {holdingsIn} from '../leases/holdings.js';
import {usageOf} from '../leases/usage-record.js';
import type {Snapshot, UsageRecord} from '../../model/types.js';

/** Seconds since the epoch. */
export type TimeWindow = {readonly from: number; readonly to: number};

/** A part of one use: what falls under one key, such as one day. */
export type Share = {readonly key: string; readonly seconds: number};

/** Parts a use, clipped to the window already, into shares. Their seconds add up to its own. */
export type Split = (record: UsageRecord, span: TimeWindow) => readonly Share[];

export type ReportRow = {
	readonly key: string;
	readonly gpuHours: number;
	/** Memory of shares times the hours for which they were held, in GiB hours. Absent: there were none. */
	readonly sharedGibHours?: number;
	/** Of all hours, in tenths that add up to 100.0 over all rows; 0 when nothing was used. */
	readonly percentage: number;
	/** One a GPU: a job on two GPUs counts twice. */
	readonly runCount: number;
	readonly manualCount: number;
};

export type Report = {
	/** Most hours first. */
	readonly rows: readonly ReportRow[];
	readonly totalGpuHours: number;
	readonly totalReservations: number;
	readonly uniqueUsers: number;
	readonly window: TimeWindow;
};

export const byUser: Split = ({user}, {from, to}) => [{key: user, seconds: to - from}];

export const byGpu: Split = ({gpuId}, {from, to}) => [{key: `GPU ${gpuId}`, seconds: to - from}];

/** By the model that was served or trained; what nobody saw is `unknown`. */
export const byModel: Split = ({model}, {from, to}) => [{key: model ?? 'unknown', seconds: to - from}];

type Day = {readonly key: string; readonly next: number};

/** No clock on earth begins a day within a quarter of an hour. */
const quarterSeconds = 900;
const mostQuarters = 20_000;

/** To find the day of a time takes longer than all the rest; a history has few quarters of an hour, compared with its records. */
function byQuarter(dayAt: (time: number) => Day): (time: number) => Day {
	const days = new Map<number, Day>();
	return (time) => {
		const quarter = Math.floor(time / quarterSeconds);
		let day = days.get(quarter);
		if (day === undefined) {
			if (days.size >= mostQuarters) {
				days.clear();
			}

			day = dayAt(time);
			days.set(quarter, day);
		}

		return day;
	};
}

/**
Days, each from its own midnight to the next, however long that is.

@param dayAt - The name of the day of a time, and when the next begins.
*/
export function byDay(dayAt: (time: number) => Day): Split {
	const dayOf = byQuarter(dayAt);
	return (_, {from, to}) => {
		const shares: Share[] = [];
		let start = from;
		do {
			const {key, next} = dayOf(start);
			const end = Math.min(to, Math.max(next, start + 1));
			shares.push({key, seconds: end - start});
			start = end;
		} while (start < to);

		return shares;
	};
}

/** Uses that have not ended: the leases, up to now. What is held while waiting counts as well: nobody else could use it. */
export const liveUsage = (snapshot: Snapshot): readonly UsageRecord[] =>
	holdingsIn(snapshot.gpus).map(({index, lease}) => usageOf(index, lease, {reason: 'released', endTime: snapshot.now}));

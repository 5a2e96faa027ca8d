/**
Who used how much: GPU hours of usage records and of leases that still live, clipped to a window of time.
*/
import {isLeased} from '../leases/lease-changes.js';
import {usageOf} from '../leases/usage-record.js';
import type {UsageHistory} from '../../model/ports.js';
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

/** Tenths of a percent that add up to 100.0: the largest remainders are rounded up. */
function percentages(hours: readonly number[], total: number): readonly number[] {
	if (!(total > 0)) {
		return hours.map(() => 0);
	}

	const exact = hours.map((value) => (value / total) * 1000);
	const tenths = exact.map((value) => Math.floor(value));
	const missing = 1000 - tenths.reduce((sum, value) => sum + value, 0);
	const order = exact
		.map((value, place) => ({remainder: value - Math.floor(value), place}))
		.toSorted((a, b) => (b.remainder === a.remainder ? a.place - b.place : b.remainder - a.remainder))
		.slice(0, missing);
	for (const {place} of order) {
		tenths[place]!++;
	}

	return tenths.map((value) => value / 10);
}

type Sum = {seconds: number; runs: number; manuals: number};

/** Uses that have not ended: the leases, up to now. What is held while waiting counts as well: nobody else could use it. */
export const liveUsage = (snapshot: Snapshot): readonly UsageRecord[] =>
	snapshot.gpus
		.filter(isLeased)
		.map(({index, lease}) => usageOf(index, lease, {reason: 'released', endTime: snapshot.now}));

export type ReportOptions = {
	readonly window: TimeWindow;
	readonly split: Split;
	/** Only this label. */
	readonly user?: string;
};

/** Reads each record once and keeps only sums, so a long history costs no memory. */
export async function makeReport(
	records: UsageHistory | Iterable<UsageRecord>,
	live: readonly UsageRecord[],
	{window, split, user}: ReportOptions,
): Promise<Report> {
	const sums = new Map<string, Sum>();
	const users = new Set<string>();
	let totalReservations = 0;
	const add = (record: UsageRecord): void => {
		const span = {from: Math.max(record.startTime, window.from), to: Math.min(record.endTime, window.to)};
		if (span.to < span.from || (user !== undefined && record.user !== user)) {
			return;
		}

		users.add(record.user);
		totalReservations++;
		for (const [place, {key, seconds}] of split(record, span).entries()) {
			const sum = sums.get(key) ?? {seconds: 0, runs: 0, manuals: 0};
			sums.set(key, sum);
			sum.seconds += seconds;
			// Counted where it begins, so that the counts add up to the reservations.
			const counted = place === 0 ? 1 : 0;
			sum.runs += record.reservationType === 'run' ? counted : 0;
			sum.manuals += record.reservationType === 'manual' ? counted : 0;
		}
	};

	// By the page: to wait for each of a million records takes longer than to add them up.
	for await (const page of 'pages' in records ? records.pages() : [records]) {
		for (const record of page) {
			add(record);
		}
	}

	for (const record of live) {
		add(record);
	}

	const ordered = [...sums].toSorted(([a, {seconds: x}], [b, {seconds: y}]) =>
		x === y ? a.localeCompare(b, 'en') : y - x,
	);
	const hours = ordered.map(([, {seconds}]) => seconds / 3600);
	const totalGpuHours = hours.reduce((sum, value) => sum + value, 0);
	const shares = percentages(hours, totalGpuHours);
	return {
		rows: ordered.map(([key, {runs, manuals}], place) => ({
			key,
			gpuHours: hours[place]!,
			percentage: shares[place]!,
			runCount: runs,
			manualCount: manuals,
		})),
		totalGpuHours,
		totalReservations,
		uniqueUsers: users.size,
		window,
	};
}

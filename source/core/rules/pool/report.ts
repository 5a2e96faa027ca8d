/** GPU hours by user, from usage records and live leases within a time window. */
import {holdingsIn} from '../leases/holdings.js';
import {usageOf} from '../leases/holding-changes.js';
import type {Snapshot, UsageRecord} from '../../model/types.js';

const secondsPerHour = 3600;

export type TimeWindow = {readonly from: number; readonly to: number};

/** The part of a usage record that belongs to one key, such as a day or a user. */
type Share = {readonly key: string; readonly seconds: number};

/** Splits a usage record. `span` is its time, already clipped to the window. The seconds of all parts add up to this time. */
export type Split = (record: UsageRecord, span: TimeWindow) => readonly Share[];

export type ReportRow = {
	readonly key: string;
	/** Hours of GPUs and shares. Excludes MIG instances, because an hour of a seventh of a GPU is not a GPU hour. */
	readonly gpuHours: number;
	readonly instanceHours?: number;
	/** The memory of shares multiplied by their hours, in GiB hours. Absent without shares. */
	readonly sharedGibHours?: number;
	/** Percentage of all GPU hours, or of the instance hours if there are no GPU hours. Rounded to tenths so that all rows add up to 100.0. */
	readonly percentage: number;
	/** Number of `run` leases. Each GPU or instance is counted, so a job on two GPUs counts twice. */
	readonly runCount: number;
	readonly manualCount: number;
};

export type ReportSeries = {
	readonly bins: readonly string[];
	/** The users with the most hours first. `gpuHours` has a number for each time bin. */
	readonly rows: ReadonlyArray<{readonly key: string; readonly gpuHours: readonly number[]}>;
	readonly otherGpuHours?: readonly number[];
};

export type Report = {
	readonly rows: readonly ReportRow[];
	/** Absent if not requested, or if there are too many bins to draw. */
	readonly series?: ReportSeries;
	readonly totalGpuHours: number;
	readonly totalInstanceHours?: number;
	readonly totalReservations: number;
	readonly uniqueUsers: number;
	readonly window: TimeWindow;
};

export const byUser: Split = ({user}, {from, to}) => [{key: user, seconds: to - from}];

/** Splits usage by GPU. Records that do not name their GPU get the key `unknown`. */
export const byGpu: Split = ({gpuId}, {from, to}) => [
	{key: gpuId === undefined ? 'unknown' : `GPU ${gpuId}`, seconds: to - from},
];

export const byModel: Split = ({model}, {from, to}) => [{key: model ?? 'unknown', seconds: to - from}];

type Bin = {readonly key: string; readonly next: number};

/** In every time zone, days begin at a multiple of a quarter of an hour. */
const quarterSeconds = 900;
const mostQuarters = 20_000;

/** Caches the day of each quarter of an hour, because computing days is the slowest part of a report. */
function byQuarter(dayAt: (time: number) => Bin): (time: number) => Bin {
	const days = new Map<number, Bin>();
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

export function byDay(dayAt: (time: number) => Bin): Split {
	const dayOf = byQuarter(dayAt);
	return (_, span) => pieces(span, dayOf);
}

type Piece = TimeWindow & Share;

function pieces({from, to}: TimeWindow, binOf: (time: number) => Bin): readonly Piece[] {
	const found: Piece[] = [];
	let start = from;
	do {
		const {key, next} = binOf(start);
		const end = Math.min(to, Math.max(next, start + 1));
		found.push({key, seconds: end - start, from: start, to: end});
		start = end;
	} while (start < to);

	return found;
}

export type SeriesOptions = {
	readonly split: Split;
	readonly binAt: (time: number) => Bin;
};

type SeriesCollector = {
	readonly add: (record: UsageRecord, span: TimeWindow) => void;
	readonly series: () => ReportSeries;
};

const mostSeries = 12;
const mostBins = 400;

/** Creates a collector for a graph of usage over time. Returns undefined if the window has too many bins to draw. */
export function collectSeries(window: TimeWindow, {split, binAt}: SeriesOptions): SeriesCollector | undefined {
	const binOf = byQuarter(binAt);
	const binIndices = new Map<string, number>();
	for (let time = window.from; time < window.to && binIndices.size <= mostBins;) {
		const {key, next} = binOf(time);
		binIndices.set(key, binIndices.get(key) ?? binIndices.size);
		time = Math.max(next, time + 1);
	}

	if (binIndices.size > mostBins) {
		return undefined;
	}

	const rows = new Map<string, number[]>();
	const addShare = ({key, seconds}: Share, index: number): void => {
		const row = rows.get(key) ?? Array.from({length: binIndices.size}, () => 0);
		rows.set(key, row);
		row[index]! += seconds / secondsPerHour;
	};

	return {
		add(record, span) {
			for (const piece of span.from < span.to ? pieces(span, binOf) : []) {
				for (const share of split(record, piece)) {
					addShare(share, binIndices.get(piece.key)!);
				}
			}
		},
		series() {
			const sum = (hours: readonly number[]): number => hours.reduce((all, value) => all + value, 0);
			const ordered = [...rows]
				.map(([key, gpuHours]) => ({key, gpuHours, total: sum(gpuHours)}))
				.toSorted((a, b) => (a.total === b.total ? a.key.localeCompare(b.key, 'en') : b.total - a.total));
			const others = ordered.slice(mostSeries);
			return {
				bins: binIndices.keys().toArray(),
				rows: ordered.slice(0, mostSeries).map(({key, gpuHours}) => ({key, gpuHours})),
				...(others.length > 0 && {
					otherGpuHours: Array.from({length: binIndices.size}, (_, index) =>
						sum(others.map(({gpuHours}) => gpuHours[index]!)),
					),
				}),
			};
		},
	};
}

/** Returns usage records of live leases, up to now. Includes GPUs that waiting requests hold, because nobody else could use them. */
export const liveUsage = (snapshot: Snapshot): readonly UsageRecord[] =>
	holdingsIn(snapshot.gpus).map(({index, lease}) => usageOf(index, lease, {reason: 'released', endTime: snapshot.now}));

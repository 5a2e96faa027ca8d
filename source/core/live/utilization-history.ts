/** The load of each GPU over time, for graphs. Times without a reading are shown as a gap and never as zero. */
import type {Load, MinuteLoads} from '../model/observation.js';
import type {GpuReading, Observation} from '../model/types.js';
import {loadOf, loadIn} from '../rules/pool/load-minutes.js';

type Mean = {readonly value: number; readonly count: number};

type Means = {readonly utilization?: Mean; readonly memory?: Mean};

type Sample = {readonly atMs: number; readonly means: ReadonlyMap<string, Means>};

type HistoryLimits = {
	readonly windowMs: number;
	/** Length of a step. All scans in a step become one sample with their mean. */
	readonly stepMs: number;
	/** How long a reading is valid, half before and half after its time. Long enough that a single missed scan leaves no gap. */
	readonly coverMs: number;
};

export type UtilizationHistory = HistoryLimits & {
	readonly samples: readonly Sample[];
};

/** A scan that is this much older than the scan before it shows that the clock was set back. */
const leastSetBackMs = 60_000;

export const emptyHistory = (limits: HistoryLimits): UtilizationHistory => ({...limits, samples: []});

const withValue = (mean: Mean | undefined, value: number | undefined): Mean | undefined =>
	value === undefined
		? mean
		: {
				value: ((mean?.value ?? 0) * (mean?.count ?? 0) + value) / ((mean?.count ?? 0) + 1),
				count: (mean?.count ?? 0) + 1,
			};

/** Adds a scan to the history. Adds nothing for a failed scan, or for a scan that was already added. */
export function recorded(
	history: UtilizationHistory,
	{gpus, failure}: Pick<Observation, 'gpus' | 'failure'>,
	{atMs, keyOf}: {readonly atMs: number; readonly keyOf: (reading: GpuReading) => string},
): UtilizationHistory {
	const {stepMs, windowMs} = history;
	const isSetBack = atMs < (history.samples.at(-1)?.atMs ?? -Infinity) - leastSetBackMs;
	const known = isSetBack ? history.samples.filter((sample) => sample.atMs < atMs) : history.samples;
	const last = known.at(-1);
	if (failure !== undefined || (last !== undefined && atMs <= last.atMs)) {
		return history;
	}

	const isSameStep = last !== undefined && Math.floor(last.atMs / stepMs) === Math.floor(atMs / stepMs);
	const means = new Map(isSameStep ? last.means : undefined);
	for (const reading of gpus) {
		const key = keyOf(reading);
		const before = means.get(key);
		const load = loadOf(reading);
		means.set(key, {
			utilization: withValue(before?.utilization, load.utilization),
			memory: withValue(before?.memory, load.memory),
		});
	}

	const kept = (isSameStep ? known.slice(0, -1) : known).filter((sample) => sample.atMs > atMs - windowMs);
	return {...history, samples: [...kept, {atMs, means}]};
}

export const keysSince = ({samples}: UtilizationHistory, sinceMs: number): ReadonlySet<string> =>
	new Set(samples.filter(({atMs}) => atMs > sinceMs).flatMap(({means}) => means.keys().toArray()));

const mean = (values: readonly number[]): number | undefined =>
	values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length;

/** Returns the start of the first column of a graph. Columns start at multiples of their width, so that a graph moves on column by column. */
export const firstColumnMs = (
	columnMs: number,
	{columns, nowMs}: {readonly columns: number; readonly nowMs: number},
): number => (Math.ceil(nowMs / columnMs) - columns) * columnMs;

/** Returns the load in the last `spanMs` as `columns` values, the newest last. Unknown values are undefined. */
export function seriesOf(
	{samples, coverMs, windowMs}: UtilizationHistory,
	key: string,
	reading: keyof Load,
	{columns, nowMs, spanMs = windowMs}: {readonly columns: number; readonly nowMs: number; readonly spanMs?: number},
): ReadonlyArray<number | undefined> {
	const columnMs = spanMs / columns;
	const startMs = firstColumnMs(columnMs, {columns, nowMs});
	const values: readonly number[][] = Array.from({length: columns}, () => []);
	const covers: Array<number | undefined> = Array.from({length: columns});
	const columnOf = (atMs: number): number => Math.ceil((atMs - startMs) / columnMs) - 1;
	for (const {atMs, means} of samples) {
		const value = means.get(key)?.[reading]?.value;
		if (value === undefined) {
			continue;
		}

		values[columnOf(atMs)]?.push(value);
		// A wide column always contains the readings that cover it. Only a narrow column can lie between two readings.
		if (columnMs >= coverMs) {
			continue;
		}

		for (let column = Math.max(0, columnOf(atMs - coverMs / 2)); column <= columnOf(atMs + coverMs / 2); column++) {
			if (column < columns) {
				covers[column] ??= value;
			}
		}
	}

	return values.map(
		(inColumn, column) => mean(inColumn) ?? (startMs + column * columnMs < nowMs ? covers[column] : undefined),
	);
}

const minuteMs = 60_000;
/** A stored minute covers its own time and nothing of the next minute. */
const coveredMs = minuteMs - 1;

type PastOptions = {
	readonly name: string;
	readonly key: string;
	readonly windowMs: number;
	/** The number to add to the times of `own` to get milliseconds since the epoch. */
	readonly ownOffsetMs: number;
};

const meanOf = (value: number | undefined, count: number): Mean | undefined =>
	value === undefined ? undefined : {value, count};

/** Returns the load history from the store, followed by newer samples of this process. Times are milliseconds since the epoch. */
export function pastHistory(
	minutes: readonly MinuteLoads[],
	own: UtilizationHistory,
	{name, key, windowMs, ownOffsetMs}: PastOptions,
): UtilizationHistory {
	const kept = minutes.flatMap((line) => {
		const load = loadIn(line, name);
		const means = load && {
			utilization: meanOf(load.utilization, line.scans),
			memory: meanOf(load.memory, line.scans),
		};
		return means === undefined ? [] : [{atMs: (line.minute + 0.5) * minuteMs, means: new Map([[key, means]])}];
	});
	const newestMinute = minutes.at(-1)?.minute ?? 0;
	const since = own.samples
		.map(({atMs, means}) => ({atMs: atMs + ownOffsetMs, means}))
		.filter(({atMs}) => atMs > (newestMinute + 1) * minuteMs);
	return {windowMs, stepMs: minuteMs, coverMs: coveredMs, samples: [...kept, ...since]};
}

/** Load of each GPU for graphs. A time without a reading is a gap, never zero. */
import type {Load, MinuteLoads} from '../model/observation.js';
import type {GpuReading, Observation} from '../model/types.js';
import {loadOf, loadIn} from '../rules/pool/load-minutes.js';

type Mean = {readonly value: number; readonly count: number};

type Means = {readonly utilization?: Mean; readonly memory?: Mean};

type Sample = {readonly atMs: number; readonly means: ReadonlyMap<string, Means>};

type HistoryLimits = {
	/** Length of the history. */
	readonly windowMs: number;
	/** Scans of the same stretch of this length become one sample, their mean. */
	readonly stepMs: number;
	/** A reading stands for at most so long before and after it, so that one scan that was missed leaves no gap. */
	readonly coverMs: number;
};

export type UtilizationHistory = HistoryLimits & {
	/** Oldest first, none older than `windowMs`. */
	readonly samples: readonly Sample[];
};

/** A scan dated this much before the previous one means that a clock was set back. */
const leastSetBackMs = 60_000;

export const emptyHistory = (limits: HistoryLimits): UtilizationHistory => ({...limits, samples: []});

const withValue = (mean: Mean | undefined, value: number | undefined): Mean | undefined =>
	value === undefined
		? mean
		: {
				value: ((mean?.value ?? 0) * (mean?.count ?? 0) + value) / ((mean?.count ?? 0) + 1),
				count: (mean?.count ?? 0) + 1,
			};

/**
Adds a scan. A failed or repeated scan adds nothing.

@param keyOf - Returns the key of a GPU in this history, such as its UUID.
*/
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

/** Which GPUs have a sample in the stretch of time that ends at `nowMs`. */
export const keysSince = ({samples}: UtilizationHistory, sinceMs: number): ReadonlySet<string> =>
	new Set(samples.filter(({atMs}) => atMs > sinceMs).flatMap(({means}) => means.keys().toArray()));

const mean = (values: readonly number[]): number | undefined =>
	values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length;

/** Columns stand on whole multiples of their time, so that a graph moves by columns and not with every second. */
export const firstColumnMs = (
	columnMs: number,
	{columns, nowMs}: {readonly columns: number; readonly nowMs: number},
): number => (Math.ceil(nowMs / columnMs) - columns) * columnMs;

/** The last `spanMs` (the whole window, if not given) in so many columns, the newest last; undefined where nothing is known. */
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
		// Only narrow columns can fall between two readings.
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
/** A minute ends before the next begins. */
const coveredMs = minuteMs - 1;

type PastOptions = {
	/** Key of the GPU in the stored load history. */
	readonly name: string;
	/** Key of the GPU in the history of this face, and in the result. */
	readonly key: string;
	readonly windowMs: number;
	/** Added to the times of `own` to get milliseconds since the epoch. */
	readonly ownOffsetMs: number;
};

const meanOf = (value: number | undefined, count: number): Mean | undefined =>
	value === undefined ? undefined : {value, count};

/**
Combines the load history written by all scanners with what this face has seen since. Times are milliseconds since the epoch. A minute
without a reading is a gap.
*/
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

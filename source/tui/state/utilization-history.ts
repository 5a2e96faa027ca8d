/** What the GPUs did in the last minutes, for the graphs. A time without a reading is a gap, never a zero. */
import type {Observation} from '../../core/model/types.js';
import {tagOf} from '../table/state.js';

/** From 0 to 1 of what there is. */
export type Load = {readonly utilization?: number; readonly memory?: number};

type Sample = {readonly atMs: number; readonly loads: ReadonlyMap<string, Load>};

export type History = {
	/** A reading stands for at most so long before and after it: whoever misses one scan sees no gap yet. */
	readonly coverMs: number;
	/** Oldest first, none older than {@link windowMs}. */
	readonly samples: readonly Sample[];
};

export const windowMs = 5 * 60 * 1000;

/** However often it is scanned, at most so many are kept. */
const mostSamples = 320;
const leastApartMs = windowMs / (mostSamples - 20);

export const emptyHistory = (scanIntervalMs: number): History => ({
	coverMs: Math.max(scanIntervalMs, 1000) * 2.5,
	samples: [],
});

const share = (used: number | undefined, total: number | undefined): number | undefined =>
	used === undefined || total === undefined || total <= 0 ? undefined : Math.min(1, used / total);

function loadsOf({gpus}: Observation): ReadonlyMap<string, Load> {
	return new Map(
		gpus.map((reading) => [
			tagOf(reading.index, reading),
			{
				utilization: share(reading.utilizationPercent, 100),
				memory: share(reading.memoryUsedMiB, reading.memoryTotalMiB),
			},
		]),
	);
}

/** Adds a scan. One that follows another closely takes its place. */
export function recorded(history: History, observation: Observation): History {
	const atMs = observation.takenAtMs;
	const last = history.samples.at(-1);
	if (observation.failure !== undefined || (last !== undefined && atMs <= last.atMs)) {
		return history;
	}

	const isClose =
		last !== undefined && history.samples.length > 1 && atMs - history.samples.at(-2)!.atMs < leastApartMs;
	const before = isClose ? history.samples.slice(0, -1) : history.samples;
	const kept = before.filter((sample) => sample.atMs > atMs - windowMs).slice(-mostSamples + 1);
	return {...history, samples: [...kept, {atMs, loads: loadsOf(observation)}]};
}

const mean = (values: readonly number[]): number | undefined =>
	values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length;

/**
The last five minutes in so many columns, the newest last; undefined where nothing is known. Columns stand on whole
multiples of their time, so that the picture moves by columns and not with every second.
*/
export function seriesOf(
	{samples, coverMs}: History,
	tag: string,
	reading: keyof Load,
	{columns, nowMs}: {readonly columns: number; readonly nowMs: number},
): ReadonlyArray<number | undefined> {
	const columnMs = windowMs / columns;
	const startMs = (Math.ceil(nowMs / columnMs) - columns) * columnMs;
	const values: readonly number[][] = Array.from({length: columns}, () => []);
	const covers: Array<number | undefined> = Array.from({length: columns});
	const columnOf = (atMs: number): number => Math.ceil((atMs - startMs) / columnMs) - 1;
	for (const {atMs, loads} of samples) {
		const value = loads.get(tag)?.[reading];
		if (value === undefined) {
			continue;
		}

		values[columnOf(atMs)]?.push(value);
		// Only narrow columns may fall between two readings.
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

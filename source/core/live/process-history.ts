/**
Resource use of each process since the first scan that saw it. The number of points is bounded: in a full series, pairs of points are
merged, so a process of a week has as many points as one of an hour.
*/

import type {Load} from '../model/observation.js';

/** One process. Each point covers `stepMs`, starting at `firstMs`. NaN is unknown. */
type ProcessSeries = {
	readonly firstMs: number;
	readonly lastMs: number;
	readonly stepMs: number;
	/** Number of scans in the last point. */
	readonly lastCount: number;
	readonly utilization: Float32Array;
	readonly memory: Float32Array;
};

export type ProcessHistory = {
	/** The time of one point while a process is young. */
	readonly stepMs: number;
	/** The key is that of a process. */
	readonly series: ReadonlyMap<string, ProcessSeries>;
};

/** Points of one series. */
const mostPoints = 240;
/** A process that has ended is kept for so long: its graph may be open. */
const keptMs = 5 * 60_000;
/** More processes than these are not followed: the newest are left out. */
const mostProcesses = 2000;
/** A scan that was missed leaves no gap. */
const bridgedSteps = 3;

export const emptyProcessHistory = (stepMs: number): ProcessHistory => ({stepMs, series: new Map()});

const known = (value: number | undefined): number =>
	value === undefined || !Number.isFinite(value) ? NaN : Math.min(1, Math.max(0, value));

const meanOf = (one: number, other: number, weight = 0.5): number =>
	Number.isNaN(one) ? other : Number.isNaN(other) ? one : one * weight + other * (1 - weight);

const halved = (points: Float32Array): Float32Array =>
	Float32Array.from({length: Math.ceil(points.length / 2)}, (_, index) =>
		meanOf(points[2 * index]!, points[2 * index + 1] ?? NaN),
	);

/** The series with one point for each two that it had. */
const coarser = (series: ProcessSeries): ProcessSeries => ({
	...series,
	stepMs: 2 * series.stepMs,
	lastCount: series.utilization.length % 2 === 0 ? 2 * series.lastCount : series.lastCount,
	utilization: halved(series.utilization),
	memory: halved(series.memory),
});

/** A point more, after as many that are unknown or, across a short gap, the same. */
function extended(points: Float32Array, index: number, value: number): Float32Array {
	const longer = new Float32Array(index + 1);
	longer.set(points);
	longer.fill(index - points.length > bridgedSteps ? NaN : value, points.length);
	longer[index] = value;
	return longer;
}

function withLoad(before: ProcessSeries, load: Load, atMs: number): ProcessSeries {
	let series = before;
	while (Math.floor((atMs - series.firstMs) / series.stepMs) >= mostPoints) {
		series = coarser(series);
	}

	const {firstMs, stepMs, lastCount} = series;
	const index = Math.floor((atMs - firstMs) / stepMs);
	const [utilization, memory] = [known(load.utilization), known(load.memory)];
	if (index >= series.utilization.length) {
		return {
			...series,
			lastMs: atMs,
			lastCount: 1,
			utilization: extended(series.utilization, index, utilization),
			memory: extended(series.memory, index, memory),
		};
	}

	const weight = lastCount / (lastCount + 1);
	return {
		...series,
		lastMs: atMs,
		lastCount: lastCount + 1,
		utilization: series.utilization.with(index, meanOf(series.utilization[index]!, utilization, weight)),
		memory: series.memory.with(index, meanOf(series.memory[index]!, memory, weight)),
	};
}

/**
Adds a scan.

@param seen - The processes of the scan, by key.
@param atMs - When it was taken; one that is not newer than the last of a process adds nothing to it.
*/
export function recordedProcesses(
	{stepMs, series: before}: ProcessHistory,
	seen: ReadonlyMap<string, Load>,
	atMs: number,
): ProcessHistory {
	const series = new Map<string, ProcessSeries>();
	for (const [key, last] of before) {
		// A clock that was set back leaves nothing to compare with.
		if (last.lastMs > atMs - keptMs && last.lastMs <= atMs + keptMs) {
			series.set(key, last);
		}
	}

	for (const [key, load] of seen) {
		const last = series.get(key);
		if (last === undefined) {
			if (series.size < mostProcesses) {
				const [utilization, memory] = [known(load.utilization), known(load.memory)];
				series.set(key, {
					firstMs: atMs,
					lastMs: atMs,
					stepMs,
					lastCount: 1,
					utilization: Float32Array.of(utilization),
					memory: Float32Array.of(memory),
				});
			}
		} else if (atMs > last.lastMs) {
			series.set(key, withLoad(last, load, atMs));
		}
	}

	return {stepMs, series};
}

type Values = ReadonlyArray<number | undefined>;

/** The points of a stretch of a series as one; undefined where none is known. */
function meanBetween(points: Float32Array, from: number, to: number): number | undefined {
	let sum = 0;
	let count = 0;
	for (let index = from; index < Math.min(to, points.length); index++) {
		if (Number.isNaN(points[index]!)) {
			continue;
		}

		sum += points[index]!;
		count++;
	}

	return count === 0 ? undefined : sum / count;
}

/**
Returns the history of a process in a number of columns.

@returns Undefined for an unknown process.
*/
export function processSeriesOf(
	{series}: ProcessHistory,
	key: string,
	columns: number,
): {readonly utilization: Values; readonly memory: Values; readonly spanMs: number} | undefined {
	const found = series.get(key);
	if (found === undefined || columns < 1) {
		return undefined;
	}

	const {length} = found.utilization;
	const drawn = (points: Float32Array): Values =>
		Array.from({length: columns}, (_, column) => {
			const from = Math.floor((column * length) / columns);
			return meanBetween(points, from, Math.max(from + 1, Math.floor(((column + 1) * length) / columns)));
		});
	return {
		utilization: drawn(found.utilization),
		memory: drawn(found.memory),
		spanMs: Math.max(found.stepMs, found.lastMs - found.firstMs),
	};
}

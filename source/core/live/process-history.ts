/** The load of each process over time. If the series of a process is full, neighboring points are merged. */

import type {Load} from '../model/observation.js';

/** The load of one process over time. Each point stands for `stepMs`, and the first one starts at `firstMs`. NaN is an unknown value. */
type ProcessSeries = {
	readonly firstMs: number;
	readonly lastMs: number;
	readonly stepMs: number;
	readonly lastCount: number;
	readonly utilization: Float32Array;
	readonly memory: Float32Array;
};

export type ProcessHistory = {
	/** The duration of a point before any points are merged. */
	readonly stepMs: number;
	readonly series: ReadonlyMap<string, ProcessSeries>;
};

const mostPoints = 240;
/** How long the series of an ended process is kept for a user who still looks at its graph. */
const keptMs = 5 * 60_000;
const mostProcesses = 2000;
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

const coarser = (series: ProcessSeries): ProcessSeries => ({
	...series,
	stepMs: 2 * series.stepMs,
	lastCount: series.utilization.length % 2 === 0 ? 2 * series.lastCount : series.lastCount,
	utilization: halved(series.utilization),
	memory: halved(series.memory),
});

/** Adds `value` to the points at `index`. A short gap before `index` is filled with `value`, and a longer one with NaN. */
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

/** Adds a scan to the history. Ignores processes that already have a newer point. */
export function recordedProcesses(
	{stepMs, series: before}: ProcessHistory,
	seen: ReadonlyMap<string, Load>,
	atMs: number,
): ProcessHistory {
	const series = new Map<string, ProcessSeries>();
	for (const [key, last] of before) {
		// Drops the series of processes that ended a while ago. Also drops series from the future, which exist after the clock was set back.
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

/** Returns the whole series of a process, resampled to `columns` points. Undefined for an unknown process. */
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

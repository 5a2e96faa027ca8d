import type {PercentJson} from '../../api/utilization-json.js';
import {fetchUtilization} from '../follow-up/utilization.js';
import {emptySeries, type Utilization} from '../state/state.js';

/** The columns of a uPlot chart: times in seconds, utilization and memory in percent. */
export type ChartData = readonly [
	times: readonly number[],
	utilization: readonly PercentJson[],
	memory: readonly PercentJson[],
];

export async function fetchChart(gpu: number, minutes: number): Promise<ChartData> {
	const found = await fetchUtilization(`gpu=${gpu}&minutes=${minutes}`);
	const {utilization, memory} = found.gpus[gpu] ?? emptySeries;
	const times = utilization.map(
		(_, index) => found.end_ms / 1000 - (utilization.length - 1 - index) * found.step_seconds,
	);
	return [times, utilization, memory];
}

/** Removes the oldest values from the chart and appends the newest. Returns the same chart if there is no new value. */
export function withNewest(chart: ChartData, {step, stepMs, gpus}: Utilization, gpu: number): ChartData {
	const time = (step * stepMs) / 1000;
	const [times, utilization, memory] = chart;
	// In a chart of a day, a step is one minute instead of ten seconds.
	const stepSeconds = times.length > 1 ? times[1]! - times[0]! : 0;
	if (!(time >= (times.at(-1) ?? 0) + Math.max(stepSeconds, 1))) {
		return chart;
	}

	const newest = gpus.get(gpu) ?? emptySeries;
	return [
		[...times.slice(1), time],
		[...utilization.slice(1), newest.utilization.at(-1) ?? null],
		[...memory.slice(1), newest.memory.at(-1) ?? null],
	];
}

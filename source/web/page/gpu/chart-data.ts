/** The values of a chart, which are fetched when it opens, and continued from what the stream brings. */
import type {PercentJson} from '../../api/utilization-json.js';
import {fetchUtilization} from '../follow-up/utilization.js';
import {emptySeries, type Utilization} from '../state/state.js';

/** Times in seconds, utilization and memory in percent, as uPlot takes them. */
export type ChartData = readonly [
	times: readonly number[],
	utilization: readonly PercentJson[],
	memory: readonly PercentJson[],
];

/** The last minutes of one GPU, for its chart. */
export async function fetchChart(gpu: number, minutes: number): Promise<ChartData> {
	const found = await fetchUtilization(`gpu=${gpu}&minutes=${minutes}`);
	const {utilization, memory} = found.gpus[gpu] ?? emptySeries;
	const times = utilization.map(
		(_, index) => found.end_ms / 1000 - (utilization.length - 1 - index) * found.step_seconds,
	);
	return [times, utilization, memory];
}

/** The chart with the newest values instead of its oldest; the same chart where it has them already. */
export function withNewest(chart: ChartData, {step, stepMs, gpus}: Utilization, gpu: number): ChartData {
	const time = (step * stepMs) / 1000;
	const [times, utilization, memory] = chart;
	// A chart of a day has a value for each minute, and not for each step of the stream.
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

import type {ProcessStat} from './proc.js';
import {secondsPerTick} from './files.js';

type Sample = {
	readonly startTicks: number;
	readonly cpuTicks: number;
	readonly atMs: number;
	readonly percent?: number;
};

/** Ticks are coarse: over less time than this they say little, and the figure before stays. */
const shortestMs = 500;

/**
Makes the meter of processor use, in per cent of one core, between one call and the next. Undefined for a process that it has not seen
before.
*/
export const createCpuMeter = (monotonicMs: () => number) => {
	let samples: ReadonlyMap<number, Sample> = new Map();

	return (stats: ReadonlyMap<number, ProcessStat | undefined>): ReadonlyMap<number, number | undefined> => {
		const atMs = monotonicMs();
		samples = new Map(
			[...stats].flatMap(([pid, stat]) =>
				stat === undefined ? [] : [[pid, next(samples.get(pid), {...stat, atMs})] as const],
			),
		);
		return new Map([...samples].map(([pid, {percent}]) => [pid, percent]));
	};
};

const next = (earlier: Sample | undefined, {startTicks, cpuTicks, atMs}: Sample): Sample => {
	if (earlier?.startTicks !== startTicks) {
		return {startTicks, cpuTicks, atMs};
	}

	const elapsedMs = atMs - earlier.atMs;
	if (elapsedMs < shortestMs) {
		return earlier;
	}

	const usedMs = Math.max(0, cpuTicks - earlier.cpuTicks) * secondsPerTick * 1000;
	return {startTicks, cpuTicks, atMs, percent: Math.round((100 * usedMs) / elapsedMs)};
};

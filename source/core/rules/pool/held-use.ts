/** Compares reserved GPU time with used GPU time, by combining leases with the load history. */
import type {MinuteLoads} from '../../model/observation.js';
import type {UsageRecord} from '../../model/types.js';
import {loadsIn} from './load-minutes.js';
import type {TimeWindow} from './report.js';

const secondsPerMinute = 60;
const secondsPerHour = 3600;

/** If the mean load of a minute is lower, the GPU was idle in this minute. Loads are stored as whole percents, so this is a load of 0 %. */
const idleBelow = 0.005;

export type HeldUse = {
	readonly user: string;
	readonly held: number;
	/** Hours with a recorded load. Excludes shared GPUs, because their load cannot be attributed to one lease. */
	readonly known: number;
	/** Known hours multiplied by their load: ten hours at 30 % are three used hours. */
	readonly used: number;
	readonly idle: number;
};

/** The load of one GPU in each minute of the window: the total of all scans and their number. Minutes without scans are unknown. */
type Means = {readonly totals: Float64Array; readonly scans: Uint16Array};

export type HeldUseOptions = {
	readonly window: TimeWindow;
	readonly gpuCount: number;
	readonly nameOf: (gpu: number) => string | undefined;
};

type Sum = {held: number; known: number; used: number; idle: number};

/** Gaps in the load history that are shorter than this are not shown. They occur when one scanner takes over from another. */
const leastGapMinutes = 10;

/** Combines lines of the load history with usage records. Lines can be added in any order, but all of them before the first record. */
export function collectHeldUse({window, gpuCount, nameOf}: HeldUseOptions): {
	readonly addLoads: (lines: readonly MinuteLoads[]) => void;
	readonly add: (record: UsageRecord) => void;
	readonly rows: () => readonly HeldUse[];
	readonly recordedSeconds: () => number;
	readonly gaps: () => readonly TimeWindow[];
} {
	const first = Math.floor(window.from / secondsPerMinute);
	const count = Math.max(0, Math.ceil(window.to / secondsPerMinute) - first);
	const names = Array.from({length: gpuCount}, (_, gpu) => nameOf(gpu));
	// Any process can write lines, so lines with unknown GPUs must not use memory.
	const byName = new Map<string, Means>(
		names
			.filter((name) => name !== undefined)
			.map((name) => [name, {totals: new Float64Array(count), scans: new Uint16Array(count)}]),
	);
	const isRecorded = new Uint8Array(count);
	const sums = new Map<string, Sum>();

	const secondsWithin = (slot: number, {from, to}: TimeWindow): number => {
		const begin = (first + slot) * secondsPerMinute;
		return Math.max(0, Math.min(to, begin + secondsPerMinute) - Math.max(from, begin));
	};

	/** Adds a line to the means. A minute has two lines if one scanner took over from another. */
	function addLine(line: MinuteLoads, slot: number): void {
		for (const [name, {utilization}] of loadsIn(line)) {
			const means = byName.get(name);
			if (means === undefined || utilization === undefined) {
				continue;
			}

			means.totals[slot]! += utilization * line.scans;
			means.scans[slot]! += line.scans;
		}
	}

	return {
		addLoads(lines) {
			for (const line of lines) {
				const slot = line.minute - first;
				if (slot < 0 || slot >= count) {
					continue;
				}

				isRecorded[slot] = 1;
				addLine(line, slot);
			}
		},
		add({user, gpuId, startTime, endTime, memoryMiB, mig}) {
			const held = {from: Math.max(startTime, window.from), to: Math.min(endTime, window.to)};
			if (held.to <= held.from) {
				return;
			}

			const sum = sums.get(user) ?? {held: 0, known: 0, used: 0, idle: 0};
			sums.set(user, sum);
			sum.held += held.to - held.from;
			const isWhole = gpuId !== undefined && memoryMiB === undefined && mig === undefined;
			const means = isWhole ? byName.get(names[gpuId] ?? '') : undefined;
			if (means === undefined) {
				return;
			}

			const last = Math.ceil(held.to / secondsPerMinute) - first;
			for (let slot = Math.floor(held.from / secondsPerMinute) - first; slot < last; slot++) {
				const scans = means.scans[slot]!;
				if (scans === 0) {
					continue;
				}

				const seconds = secondsWithin(slot, held);
				const utilization = means.totals[slot]! / scans;
				sum.known += seconds;
				sum.used += seconds * utilization;
				sum.idle += utilization < idleBelow ? seconds : 0;
			}
		},
		recordedSeconds: () =>
			isRecorded.reduce((sum, value, slot) => sum + (value === 0 ? 0 : secondsWithin(slot, window)), 0),
		gaps() {
			const found: TimeWindow[] = [];
			let begin: number | undefined;
			for (let slot = 0; slot <= count; slot++) {
				const isGap = slot < count && isRecorded[slot] === 0;
				if (isGap) {
					begin ??= slot;
				} else if (begin !== undefined) {
					if (slot - begin >= leastGapMinutes) {
						found.push({
							from: Math.max(window.from, (first + begin) * secondsPerMinute),
							to: Math.min(window.to, (first + slot) * secondsPerMinute),
						});
					}

					begin = undefined;
				}
			}

			return found;
		},
		rows: () =>
			[...sums]
				.toSorted(([a, x], [b, y]) => (x.held === y.held ? a.localeCompare(b, 'en') : y.held - x.held))
				.map(([user, {held, known, used, idle}]) => ({
					user,
					held: held / secondsPerHour,
					known: known / secondsPerHour,
					used: used / secondsPerHour,
					idle: idle / secondsPerHour,
				})),
	};
}

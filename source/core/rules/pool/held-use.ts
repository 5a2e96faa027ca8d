/** What was reserved against what was used: leases laid over the load history. */
import type {MinuteLoads} from '../../model/load.js';
import type {UsageRecord} from '../../model/types.js';
import {loadsIn} from './load-minutes.js';
import type {TimeWindow} from './report.js';

const secondsPerMinute = 60;
const secondsPerHour = 3600;

/** A GPU that was less busy than this over a minute was idle in it: percentages are kept whole. */
const idleBelow = 0.005;

/** All figures are GPU hours. */
export type HeldUse = {
	readonly user: string;
	readonly held: number;
	/** Of these, in which it was recorded how busy the GPU was. What several share is not known to be used by one of them. */
	readonly known: number;
	/** Of the known ones, times how busy the GPU was: ten hours at 30 % are three. */
	readonly used: number;
	/** Of the known ones, in which nothing ran. */
	readonly idle: number;
};

type Mean = {total: number; scans: number};

/** How busy each GPU was in each minute, from 0 to 1, by its name in the load history. */
function utilizationByMinute(minutes: readonly MinuteLoads[]): ReadonlyMap<string, ReadonlyMap<number, Mean>> {
	const byName = new Map<string, Map<number, Mean>>();
	const add = (name: string, utilization: number, {minute, scans}: MinuteLoads): void => {
		const means = byName.get(name) ?? new Map<number, Mean>();
		byName.set(name, means);
		// A minute has two lines where one scanner took over from another.
		const mean = means.get(minute) ?? {total: 0, scans: 0};
		means.set(minute, {total: mean.total + utilization * scans, scans: mean.scans + scans});
	};

	for (const line of minutes) {
		for (const [name, {utilization}] of loadsIn(line)) {
			if (utilization !== undefined) {
				add(name, utilization, line);
			}
		}
	}

	return byName;
}

export type HeldUseOptions = {
	readonly window: TimeWindow;
	readonly minutes: readonly MinuteLoads[];
	/** What a GPU goes by in the load history; undefined where that is not known now. */
	readonly nameOf: (gpu: number) => string | undefined;
};

type Sum = {held: number; known: number; used: number; idle: number};

/** Takes records in any order; `rows` has most hours first. */
export function collectHeldUse({window, minutes, nameOf}: HeldUseOptions): {
	readonly add: (record: UsageRecord) => void;
	readonly rows: () => readonly HeldUse[];
} {
	const byName = utilizationByMinute(minutes);
	const sums = new Map<string, Sum>();
	return {
		add({user, gpuId, startTime, endTime, memoryMiB, mig}) {
			const from = Math.max(startTime, window.from);
			const to = Math.min(endTime, window.to);
			if (to <= from) {
				return;
			}

			const sum = sums.get(user) ?? {held: 0, known: 0, used: 0, idle: 0};
			sums.set(user, sum);
			sum.held += to - from;
			const isWhole = gpuId !== undefined && memoryMiB === undefined && mig === undefined;
			const means = isWhole ? byName.get(nameOf(gpuId) ?? '') : undefined;
			if (means === undefined) {
				return;
			}

			for (let minute = Math.floor(from / secondsPerMinute); minute * secondsPerMinute < to; minute++) {
				const mean = means.get(minute);
				if (mean === undefined) {
					continue;
				}

				const seconds = Math.min(to, (minute + 1) * secondsPerMinute) - Math.max(from, minute * secondsPerMinute);
				const utilization = mean.total / mean.scans;
				sum.known += seconds;
				sum.used += seconds * utilization;
				sum.idle += utilization < idleBelow ? seconds : 0;
			}
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

/** How busy each GPU was over the last hours: means over ten seconds, kept in memory only. */
import type {LiveState} from './live-view.js';

export const bucketSeconds = 10;
const mostBuckets = (6 * 3600) / bucketSeconds;

type Sum = {utilization: number; utilizations: number; memory: number; memories: number};

/** One GPU; whole percents, undefined (in JSON null) where nothing is known. */
export type GpuUtilization = {
	readonly utilization: ReadonlyArray<number | undefined>;
	readonly memory: ReadonlyArray<number | undefined>;
};

export type UtilizationHistory = {
	readonly add: (liveView: LiveState) => void;
	/** The last `minutes`, of one GPU or of all. */
	readonly last: (
		minutes: number,
		gpu?: number,
	) => {
		readonly step_seconds: number;
		readonly end_ms: number;
		readonly gpus: Readonly<Record<string, GpuUtilization>>;
	};
};

const mean = (sum: number, count: number): number | undefined => (count === 0 ? undefined : Math.round(sum / count));

export function createUtilizationHistory(): UtilizationHistory {
	/** By number of the bucket since the epoch, oldest first. */
	const buckets = new Map<number, Map<number, Sum>>();
	let newest = 0;
	let seen: unknown;
	return {
		add({observation, now}) {
			// A change of the store alone brings no new readings.
			if (observation === undefined || observation.failure !== undefined || observation === seen) {
				return;
			}

			seen = observation;
			newest = Math.floor(now / bucketSeconds);
			const bucket = buckets.get(newest) ?? new Map<number, Sum>();
			buckets.set(newest, bucket);
			for (const {index, utilizationPercent, memoryUsedMiB, memoryTotalMiB} of observation.gpus) {
				const sum = bucket.get(index) ?? {utilization: 0, utilizations: 0, memory: 0, memories: 0};
				bucket.set(index, sum);
				if (utilizationPercent !== undefined) {
					sum.utilization += utilizationPercent;
					sum.utilizations++;
				}

				if (!(memoryUsedMiB !== undefined && memoryTotalMiB !== undefined && memoryTotalMiB > 0)) {
					continue;
				}

				sum.memory += (memoryUsedMiB / memoryTotalMiB) * 100;
				sum.memories++;
			}

			for (const number of buckets.keys()) {
				if (number > newest - mostBuckets) {
					break;
				}

				buckets.delete(number);
			}
		},
		last(minutes, gpu) {
			const count = Math.min(mostBuckets, Math.ceil((minutes * 60) / bucketSeconds));
			const sums = Array.from({length: count}, (_, place) => buckets.get(newest - count + 1 + place));
			const indexes =
				gpu === undefined
					? [...new Set(sums.flatMap((bucket) => [...(bucket?.keys() ?? [])]))].toSorted((a, b) => a - b)
					: [gpu];
			return {
				step_seconds: bucketSeconds,
				end_ms: newest * bucketSeconds * 1000,
				gpus: Object.fromEntries(
					indexes.map((index) => [
						index,
						{
							utilization: sums.map((bucket) => {
								const sum = bucket?.get(index);
								return sum === undefined ? undefined : mean(sum.utilization, sum.utilizations);
							}),
							memory: sums.map((bucket) => {
								const sum = bucket?.get(index);
								return sum === undefined ? undefined : mean(sum.memory, sum.memories);
							}),
						},
					]),
				),
			};
		},
	};
}

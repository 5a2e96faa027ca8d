/** Whether a GPU is really in use, judged from what the tool said. Unknown is not free. */
import type {GpuProcess, GpuReading} from '../../model/types.js';

export type GpuUsage =
	| {readonly kind: 'idle'}
	/** The memory is unknown where not even the processes tell it. */
	| {readonly kind: 'used'; readonly memoryUsedMiB?: number}
	/** `why` is in the tool's words where it gave any. */
	| {readonly kind: 'unknown'; readonly why: string}
	| {readonly kind: 'failed'; readonly why: string};

/** Words by which a tool says that it has no such reading at all, rather than that it failed to take it. */
const hasNoSuchReading = new Set(['[N/A]', 'N/A', '[Not Supported]', 'Not Supported']);

/**
@param reading - Undefined when the tool did not mention this GPU.
@param memoryThresholdMiB - Up to this much is taken for the driver's own.
*/
export function judgeUsage(reading: GpuReading | undefined, memoryThresholdMiB: number): GpuUsage {
	if (reading === undefined) {
		return {kind: 'failed', why: 'not seen by the GPU tool'};
	}

	if (reading.failure !== undefined) {
		return {kind: 'failed', why: reading.failure};
	}

	if (reading.memoryUsedMiB !== undefined) {
		return reading.memoryUsedMiB > memoryThresholdMiB
			? {kind: 'used', memoryUsedMiB: reading.memoryUsedMiB}
			: {kind: 'idle'};
	}

	const marker = reading.unknown['memoryUsedMiB'];
	if (marker !== undefined && hasNoSuchReading.has(marker)) {
		if (reading.processes === undefined) {
			return {kind: 'unknown', why: 'neither memory nor processes can be read'};
		}

		if (reading.processes.length > 0) {
			return {kind: 'used', memoryUsedMiB: memoryOf(reading.processes)};
		}

		// Where memory cannot be had (unified memory) and no process is told, as in a container, a load of nil alone tells that it is idle.
		const {utilizationPercent: load} = reading;
		return load === 0
			? {kind: 'idle'}
			: {
					kind: 'unknown',
					why:
						load === undefined
							? 'neither memory nor load can be read, and no process is told'
							: `memory cannot be read and no process is told, but its load is ${load} %`,
				};
	}

	return {
		kind: 'unknown',
		why: `memory in use is unknown${marker === undefined || marker === '' ? '' : `: ${marker}`}`,
	};
}

/** Undefined when that of one of them is. */
function memoryOf(processes: readonly GpuProcess[]): number | undefined {
	let sum = 0;
	for (const {memoryUsedMiB} of processes) {
		if (memoryUsedMiB === undefined) {
			return undefined;
		}

		sum += memoryUsedMiB;
	}

	return sum;
}

/** Without what another of them says already: a failure of a GPU is often told as a problem of its health, too. */
export const wordsOnce = (words: readonly string[]): readonly string[] =>
	words.filter((word, position) =>
		words.every(
			(other, place) => !(place !== position && other.includes(word) && (other !== word || place < position)),
		),
	);

/** The accounts behind these processes, each once, sorted. Those that are unknown are left out. */
export const usersOf = (processes: readonly GpuProcess[]): readonly string[] =>
	[...new Set(processes.map(({user}) => user).filter((user) => user !== undefined))].toSorted();

import type {GpuProcess, GpuReading, GpuRecord, HealthProblem, InstanceOfGpu, Observation} from '../../model/types.js';
import {judgeInstance, processesOnInstance, judgeUsage, usersOf, type GpuUsage} from './gpu-usage.js';
import type {CleanRule} from './cleanliness.js';

export type UsageBlock =
	/** The GPU is in use without a lease. `users` are the known users. */
	| {
			readonly kind: 'unreserved';
			readonly users: readonly string[];
			readonly memoryUsedMiB?: number;
			/** Set if the GPU was released and is not clean yet: see {@link CleanRule}. */
			readonly isDirty?: true;
	  }
	| {readonly kind: 'unknown-use'; readonly why: string}
	| {readonly kind: 'failed'; readonly why: string}
	| {readonly kind: 'unfit'; readonly problems: readonly HealthProblem[]}
	| {readonly kind: 'not-scanned'; readonly why: string};

type Judged = {readonly use: GpuUsage; readonly processes?: readonly GpuProcess[]};

function blockOfReading(
	{failure, gpus}: Observation,
	index: number,
	judge: (reading: GpuReading | undefined) => Judged,
): UsageBlock | undefined {
	if (failure !== undefined) {
		return {kind: 'not-scanned', why: failure.message};
	}

	const reading = gpus.find((gpu) => gpu.index === index);
	const {use, processes} = judge(reading);
	return blockBy(use, reading?.health, processes);
}

/** Returns why a GPU cannot be granted, according to the scan. `--force` ignores these reasons. */
export const usageBlockOf = (
	index: number,
	observation: Observation,
	memoryThresholdMiB: number,
	clean: CleanRule | undefined,
): UsageBlock | undefined =>
	blockOfReading(observation, index, (reading) => ({
		use: judgeUsage(reading, memoryThresholdMiB, clean),
		processes: reading?.processes,
	}));

export const usageBlockOfInstance = (
	instance: InstanceOfGpu,
	observation: Observation,
	memoryThresholdMiB: number,
	clean: CleanRule | undefined,
): UsageBlock | undefined =>
	blockOfReading(observation, instance.gpu, (reading) => ({
		// The reading of the whole GPU blocks an instance only if that reading failed.
		use:
			reading?.failure === undefined && reading !== undefined
				? judgeInstance(reading, instance, {memoryThresholdMiB, isCleanWanted: clean !== undefined})
				: judgeUsage(reading, memoryThresholdMiB),
		processes: processesOnInstance(reading, instance).own,
	}));

function blockBy(
	use: GpuUsage,
	health: readonly HealthProblem[] = [],
	processes: readonly GpuProcess[] = [],
): UsageBlock | undefined {
	if (use.kind !== 'failed' && health.length > 0) {
		return {kind: 'unfit', problems: health};
	}

	switch (use.kind) {
		case 'idle':
		case 'unread': {
			return undefined;
		}

		case 'used': {
			return {
				kind: 'unreserved',
				users: usersOf(processes),
				memoryUsedMiB: use.memoryUsedMiB,
				isDirty: use.isDirty,
			};
		}

		case 'unknown': {
			return {kind: 'unknown-use', why: use.why};
		}

		case 'failed': {
			return {kind: 'failed', why: use.why};
		}
	}
}

/** Returns why a GPU or a share of it cannot be granted. On a shared GPU, use only reduces the room for shares: see gpu-candidate.ts. */
export function usageBlockFor(
	{index, kind}: GpuRecord,
	observation: Observation,
	{
		shareMiB,
		memoryThresholdMiB,
		clean,
	}: {
		readonly shareMiB: number | undefined;
		readonly memoryThresholdMiB: number;
		readonly clean: CleanRule | undefined;
	},
): UsageBlock | undefined {
	const block = usageBlockOf(index, observation, memoryThresholdMiB, clean);
	const isPartOfSum = block?.kind === 'unreserved' || block?.kind === 'unknown-use';
	return kind === 'shared' && shareMiB !== undefined && isPartOfSum ? undefined : block;
}

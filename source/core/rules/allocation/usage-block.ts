/** Why a GPU that nobody holds cannot be handed out, by what is seen of it. */
import type {GpuProcess, GpuRecord, HealthProblem, InstanceOfGpu, Observation} from '../../model/types.js';
import {judgeInstance, processesOnInstance} from '../mig/instance-usage.js';
import type {CleanRule} from './cleanliness.js';
import {judgeUsage, usersOf, type GpuUsage} from './gpu-usage.js';

export type UsageBlock =
	/** In use by somebody without a lease; the users that are known. */
	| {
			readonly kind: 'unreserved';
			readonly users: readonly string[];
			readonly memoryUsedMiB?: number;
			/** It was given back and is not clean yet: see {@link CleanRule}. */
			readonly isDirty?: true;
	  }
	| {readonly kind: 'unknown-use'; readonly why: string}
	| {readonly kind: 'failed'; readonly why: string}
	/** It says of itself that something is wrong with it. */
	| {readonly kind: 'unfit'; readonly problems: readonly HealthProblem[]}
	/** The scan as a whole failed. */
	| {readonly kind: 'not-scanned'; readonly why: string};

/** Unreserved, unknown, unfit or broken: what `--force` ignores. */
export function usageBlockOf(
	index: number,
	observation: Observation,
	memoryThresholdMiB: number,
	clean: CleanRule | undefined,
): UsageBlock | undefined {
	if (observation.failure !== undefined) {
		return {kind: 'not-scanned', why: observation.failure.message};
	}

	const reading = observation.gpus.find((gpu) => gpu.index === index);
	const use = judgeUsage(reading, memoryThresholdMiB, clean);
	return blockBy(use, reading?.health, reading?.processes);
}

/** The same for an instance of a GPU in MIG mode. */
export function usageBlockOfInstance(
	instance: InstanceOfGpu,
	observation: Observation,
	memoryThresholdMiB: number,
	clean: CleanRule | undefined,
): UsageBlock | undefined {
	if (observation.failure !== undefined) {
		return {kind: 'not-scanned', why: observation.failure.message};
	}

	const reading = observation.gpus.find((gpu) => gpu.index === instance.gpu);
	// Of the GPU as a whole only its failures count.
	const use =
		reading?.failure === undefined && reading !== undefined
			? judgeInstance(reading, instance, {memoryThresholdMiB, isCleanWanted: clean !== undefined})
			: judgeUsage(reading, memoryThresholdMiB);
	return blockBy(use, reading?.health, processesOnInstance(reading, instance).own);
}

/** Why something in this use is not to be had. */
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

/**
The same for a request that may be for a share. Of a GPU that is shared already, memory in use and processes of others are part of the sum:
see share-fit.ts.
*/
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

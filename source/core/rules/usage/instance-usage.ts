/** Who uses an instance of MIG, as far as the tool says which instance a process is on. Unknown is neither free nor idle. */
import type {GpuProcess, GpuReading, HeldInstance} from '../../model/types.js';
import {isOnInstance, readingOf} from '../mig/instances.js';
import {memoryOf} from './share-usage.js';
import {tenantsOf} from './cleanliness.js';
import type {GpuUsage} from './gpu-usage.js';

export type InstanceProcesses = {
	/** Those that are on it for sure. */
	readonly own: readonly GpuProcess[];
	/** False where others may be on it, too. */
	readonly isComplete: boolean;
};

/** The processes on an instance. What only draws is on none. */
export function processesOnInstance(reading: GpuReading | undefined, instance: HeldInstance): InstanceProcesses {
	const processes = reading?.failure === undefined ? reading?.processes : undefined;
	const ids = readingOf(reading, instance) ?? instance;
	const tenants = tenantsOf(processes ?? []);
	return {
		own: tenants.filter((process) => isOnInstance(process, ids) === true),
		isComplete: processes !== undefined && tenants.every((process) => isOnInstance(process, ids) !== undefined),
	};
}

/**
Whether an instance is in use. A GPU in MIG mode tells no utilization, so memory and processes alone count.

@param memoryThresholdMiB - Up to this much is taken for the driver's own.
@param isCleanWanted - Whether the policy hands out clean GPUs alone: then no process may be on it.
*/
export function judgeInstance(
	reading: GpuReading,
	instance: HeldInstance,
	{memoryThresholdMiB, isCleanWanted = false}: {readonly memoryThresholdMiB: number; readonly isCleanWanted?: boolean},
): GpuUsage {
	const memoryUsedMiB = readingOf(reading, instance)?.memoryUsedMiB;
	const {own, isComplete} = processesOnInstance(reading, instance);
	if (memoryUsedMiB === undefined) {
		return own.length > 0
			? {kind: 'used', memoryUsedMiB: memoryOf(own)}
			: isComplete
				? {kind: 'idle'}
				: {kind: 'unknown', why: 'neither the memory nor the processes of the MIG instance can be read'};
	}

	if (memoryUsedMiB > memoryThresholdMiB) {
		return {kind: 'used', memoryUsedMiB};
	}

	return isCleanWanted && own.length > 0
		? {kind: 'used', memoryUsedMiB, isDirty: true}
		: isCleanWanted && !isComplete
			? {kind: 'unknown', why: 'the processes of the MIG instance cannot be read, so that it may not be clean'}
			: {kind: 'idle'};
}

/**
Whether nothing of the holder runs on the instance. Undefined where that is unknown, as while the tool says neither how much of its memory
is used nor which processes are on it.
*/
export function isInstanceIdle(
	reading: GpuReading | undefined,
	instance: HeldInstance,
	memoryThresholdMiB: number,
): boolean | undefined {
	const {own, isComplete} = processesOnInstance(reading, instance);
	const memoryUsedMiB = readingOf(reading, instance)?.memoryUsedMiB;
	if (own.length > 0 || (memoryUsedMiB ?? 0) > memoryThresholdMiB) {
		return false;
	}

	// Nothing can be read of an instance that is gone.
	return isComplete && memoryUsedMiB !== undefined ? true : undefined;
}

/** Judges from readings whether a GPU or MIG instance is in use. If this is unknown, the GPU counts as neither free nor idle. */
import {noSuchReading} from '../../model/observation.js';
import type {GpuProcess, GpuReading, HeldInstance} from '../../model/types.js';
import {isOnInstance, readingOf} from '../mig/instances.js';
import {mayBeOfAnyone, memoryOf} from './share-usage.js';
import {tenantsOf, type CleanRule} from './cleanliness.js';

export type GpuUsage =
	| {readonly kind: 'idle'}
	/** `memoryUsedMiB` is undefined if neither the GPU nor its processes show how much memory is in use. */
	| {
			readonly kind: 'used';
			readonly memoryUsedMiB?: number;
			/** Set if the use is so small that it matters only under a policy that requires clean GPUs. */
			readonly isDirty?: true;
	  }
	/** `why` contains the GPU tool's message, if there is one. */
	| {readonly kind: 'unknown'; readonly why: string}
	| {readonly kind: 'failed'; readonly why: string}
	/** No tool can read the GPU from this machine. The engine that grants the GPU, such as Slurm, ensures that the GPU is free. */
	| {readonly kind: 'unread'};

/**
Judges whether a GPU is in use. `reading` is undefined if the scan lacks the GPU. `clean` is set for a GPU without
a holder, if the policy requires clean GPUs.
*/
export function judgeUsage(reading: GpuReading | undefined, memoryThresholdMiB: number, clean?: CleanRule): GpuUsage {
	const usage = judgeByThreshold(reading, memoryThresholdMiB);
	return usage.kind === 'idle' && clean !== undefined && reading !== undefined ? judgeClean(reading, clean) : usage;
}

function judgeClean(reading: GpuReading, {limitMiB}: CleanRule): GpuUsage {
	const {processes, memoryUsedMiB} = reading;
	if (processes === undefined) {
		return {kind: 'unknown', why: 'its processes cannot be read, so it is unknown whether the GPU is clean'};
	}

	const limit = limitMiB(reading);
	const holdsMemory = memoryUsedMiB !== undefined && limit !== undefined && memoryUsedMiB > limit;
	return tenantsOf(processes).length > 0 || holdsMemory ? {kind: 'used', memoryUsedMiB, isDirty: true} : {kind: 'idle'};
}

function memoryOfInstances({migInstances = []}: GpuReading): number | undefined {
	const used = migInstances.map(({memoryUsedMiB}) => memoryUsedMiB).filter((memory) => memory !== undefined);
	return used.length === 0 || used.length < migInstances.length
		? undefined
		: used.reduce((sum, memory) => sum + memory, 0);
}

function judgeByThreshold(reading: GpuReading | undefined, memoryThresholdMiB: number): GpuUsage {
	if (reading === undefined) {
		return {kind: 'failed', why: 'not seen by the GPU tool'};
	}

	if (reading.failure !== undefined) {
		return {kind: 'failed', why: reading.failure};
	}

	if (reading.isUnread === true) {
		return {kind: 'unread'};
	}

	const memoryUsedMiB = reading.memoryUsedMiB ?? memoryOfInstances(reading);
	if (memoryUsedMiB !== undefined) {
		return memoryUsedMiB > memoryThresholdMiB ? {kind: 'used', memoryUsedMiB} : {kind: 'idle'};
	}

	const marker = reading.unknown['memoryUsedMiB'];
	if (marker !== undefined && noSuchReading.has(marker)) {
		if (reading.processes === undefined) {
			return {kind: 'unknown', why: 'neither memory nor processes can be read'};
		}

		if (tenantsOf(reading.processes).length > 0) {
			return {kind: 'used', memoryUsedMiB: memoryOf(reading.processes)};
		}

		// In a container with unified memory, memory use is unknown and an empty process list proves nothing. Only a load of zero shows an idle GPU.
		const {utilizationPercent: load} = reading;
		return load === 0
			? {kind: 'idle'}
			: {
					kind: 'unknown',
					why:
						load === undefined
							? 'neither memory nor load can be read, and no compute process is reported'
							: `memory cannot be read, and no compute process is reported, but its load is ${load} %`,
				};
	}

	return unknownMemory(marker);
}

function unknownMemory(marker: string | undefined): GpuUsage {
	const words = marker === undefined || marker === '' ? '' : `: ${marker}`;
	return {kind: 'unknown', why: `memory in use is unknown${words}`};
}

type HeldProcesses = ReadonlyArray<{readonly owner: string; readonly processes: readonly GpuProcess[]}>;

/** Returns the ids of containers that use GPUs of several holders. Such a container belongs to at most one of these holders. */
export function sharedContainers(held: HeldProcesses): ReadonlySet<string> {
	const owners = new Map<string, string>();
	const shared = new Set<string>();
	for (const {owner, processes} of held) {
		for (const {containerId} of processes) {
			if (containerId !== undefined && (owners.get(containerId) ?? owner) !== owner) {
				shared.add(containerId);
			}

			if (containerId !== undefined) {
				owners.set(containerId, owner);
			}
		}
	}

	return shared;
}

/**
Returns the processes of other accounts on a held GPU. Omits desktops, and processes that may belong to the holder. For
`shared`, see {@link sharedContainers}.
*/
export const squattersOf = (
	processes: readonly GpuProcess[],
	owner: string,
	shared: ReadonlySet<string>,
): readonly GpuProcess[] =>
	processes.filter((process) => {
		const {user, kind, containerId} = process;
		const isShared = user !== undefined && containerId !== undefined && shared.has(containerId);
		return (!mayBeOfAnyone(process) || isShared) && user !== owner && kind !== 'graphics';
	});

/** Removes texts that are contained in another text, because a failure is often also reported as a health problem. */
export const wordsOnce = (words: readonly string[]): readonly string[] =>
	words.filter((word, position) =>
		words.every(
			(other, index) => !(index !== position && other.includes(word) && (other !== word || index < position)),
		),
	);

/** Returns the accounts of the processes. Omits desktops, which need no reservation. */
export const usersOf = (processes: readonly GpuProcess[]): readonly string[] =>
	[
		...new Set(
			tenantsOf(processes)
				.map(({user}) => user)
				.filter((user) => user !== undefined),
		),
	].toSorted();

/** Returns the processes that are certainly on a MIG instance, and whether these are all. Processes that only draw are on no instance. */
export function processesOnInstance(
	reading: GpuReading | undefined,
	instance: HeldInstance,
): {readonly own: readonly GpuProcess[]; readonly isComplete: boolean} {
	const processes = reading?.failure === undefined ? reading?.processes : undefined;
	const ids = readingOf(reading, instance) ?? instance;
	const tenants = tenantsOf(processes ?? []);
	return {
		own: tenants.filter((process) => isOnInstance(process, ids) === true),
		isComplete: processes !== undefined && tenants.every((process) => isOnInstance(process, ids) !== undefined),
	};
}

/** Judges whether a MIG instance is in use, by memory and processes, because a GPU in MIG mode reports no utilization. */
export function judgeInstance(
	reading: GpuReading,
	instance: HeldInstance,
	{memoryThresholdMiB, isCleanWanted = false}: {readonly memoryThresholdMiB: number; readonly isCleanWanted?: boolean},
): GpuUsage {
	const {memoryUsedMiB, unknown} = readingOf(reading, instance) ?? {};
	const {own, isComplete} = processesOnInstance(reading, instance);
	if (memoryUsedMiB === undefined) {
		if (own.length > 0) {
			return {kind: 'used', memoryUsedMiB: memoryOf(own)};
		}

		if (!isComplete) {
			return {kind: 'unknown', why: 'neither the memory nor the processes of the MIG instance can be read'};
		}

		const marker = unknown?.['memoryUsedMiB'];
		return marker !== undefined && noSuchReading.has(marker) ? {kind: 'idle'} : unknownMemory(marker);
	}

	if (memoryUsedMiB > memoryThresholdMiB) {
		return {kind: 'used', memoryUsedMiB};
	}

	return isCleanWanted && own.length > 0
		? {kind: 'used', memoryUsedMiB, isDirty: true}
		: isCleanWanted && !isComplete
			? {
					kind: 'unknown',
					why: 'the processes of the MIG instance cannot be read, so it is unknown whether the instance is clean',
				}
			: {kind: 'idle'};
}

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

	// An instance without readings may have been removed, so its use is unknown.
	return isComplete && memoryUsedMiB !== undefined ? true : undefined;
}

/** Whether a GPU, or an instance of it, is really in use, judged from what the tool said. Unknown is neither free nor idle. */
import {noSuchReading} from '../../model/observation.js';
import type {GpuProcess, GpuReading, HeldInstance} from '../../model/types.js';
import {isOnInstance, readingOf} from '../mig/instances.js';
import {memoryOf} from './share-usage.js';
import {tenantsOf, type CleanRule} from './cleanliness.js';

export type GpuUsage =
	| {readonly kind: 'idle'}
	/** The memory is unknown where not even that of the processes is known. */
	| {
			readonly kind: 'used';
			readonly memoryUsedMiB?: number;
			/** The use is so small that only a policy which hands out clean GPUs alone keeps the GPU back. */
			readonly isDirty?: true;
	  }
	/** `why` is in the tool's words where it gave any. */
	| {readonly kind: 'unknown'; readonly why: string}
	| {readonly kind: 'failed'; readonly why: string}
	/** No tool reads it here, and the engine that grants it vouches for it. */
	| {readonly kind: 'unread'};

/**
@param reading - Undefined when the tool did not mention this GPU.
@param memoryThresholdMiB - Up to this much is taken for the driver's own.
@param clean - Of a GPU that no one holds, where the policy hands out clean GPUs alone.
*/
export function judgeUsage(reading: GpuReading | undefined, memoryThresholdMiB: number, clean?: CleanRule): GpuUsage {
	const usage = judgeByThreshold(reading, memoryThresholdMiB);
	return usage.kind === 'idle' && clean !== undefined && reading !== undefined ? judgeClean(reading, clean) : usage;
}

function judgeClean(reading: GpuReading, {limitMiB}: CleanRule): GpuUsage {
	const {processes, memoryUsedMiB} = reading;
	if (processes === undefined) {
		return {kind: 'unknown', why: 'its processes cannot be read, so that it may not be clean'};
	}

	const limit = limitMiB(reading);
	const holdsMemory = memoryUsedMiB !== undefined && limit !== undefined && memoryUsedMiB > limit;
	return tenantsOf(processes).length > 0 || holdsMemory ? {kind: 'used', memoryUsedMiB, isDirty: true} : {kind: 'idle'};
}

/** Returns the memory in use of all MIG instances together. Undefined without instances, or if one is unknown. */
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

		if (reading.processes.length > 0) {
			return {kind: 'used', memoryUsedMiB: memoryOf(reading.processes)};
		}

		// Without memory readings (unified memory) and without reported processes, as in a container, a load of zero is the only sign of an idle GPU.
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

/** The account of uid 0, as which a rootful container runs whatever its user starts. */
const rootAccount = 'root';

/** GPUs that are held, each with its holder and the processes seen there. */
type HeldProcesses = ReadonlyArray<{readonly owner: string; readonly processes: readonly GpuProcess[]}>;

/** Ids of the containers that are on GPUs of several holders: such a container belongs to one of them at most. */
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
The processes of others on a GPU that somebody holds. Neither a process whose user is unknown, which may be the holder's own, nor a desktop
accuses anybody; nor does root inside a container, since the holder's own container may run as root.

@param shared - Containers that cannot be the holder's, as {@link sharedContainers} tells.
*/
export const squattersOf = (
	processes: readonly GpuProcess[],
	owner: string,
	shared: ReadonlySet<string>,
): readonly GpuProcess[] =>
	processes.filter(({user, kind, containerId}) => {
		const mayBeHolders =
			user === undefined || (user === rootAccount && containerId !== undefined && !shared.has(containerId));
		return !mayBeHolders && user !== owner && kind !== 'graphics';
	});

/** Drops words that another one says already: a failure of a GPU is often reported as a problem of its health, too. */
export const wordsOnce = (words: readonly string[]): readonly string[] =>
	words.filter((word, position) =>
		words.every(
			(other, index) => !(index !== position && other.includes(word) && (other !== word || index < position)),
		),
	);

/** The accounts behind these processes, each once, sorted. Those that are unknown are left out. */
export const usersOf = (processes: readonly GpuProcess[]): readonly string[] =>
	[...new Set(processes.map(({user}) => user).filter((user) => user !== undefined))].toSorted();

/** The processes that are on an instance for sure, and whether these are all. What only draws is on none. */
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

	// A removed instance has no readings.
	return isComplete && memoryUsedMiB !== undefined ? true : undefined;
}

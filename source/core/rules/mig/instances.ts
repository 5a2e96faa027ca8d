/** The instances into which MIG splits a GPU, as a scan shows them. What is not known for sure is unknown, and never handed out. */
import {noSuchReading} from '../../model/observation.js';
import type {
	GpuProcess,
	GpuReading,
	HeldInstance,
	InstanceName,
	InstanceOfGpu,
	MigInstance,
} from '../../model/types.js';

/** `0:1`, as people name an instance; `0:?` where its number is unknown. */
export const instanceText = ({gpu, number}: {readonly gpu: number; readonly number?: number | undefined}): string =>
	`${gpu}:${number ?? '?'}`;

/** `0:1`, and undefined for what is no such name. */
export function parseInstanceName(text: string): InstanceName | undefined {
	const {gpu, number} = /^(?<gpu>\d{1,9}):(?<number>\d{1,4})$/v.exec(text.trim())?.groups ?? {};
	return gpu === undefined ? undefined : {gpu: Number(gpu), number: Number(number)};
}

/** Why it is unknown if the GPU is in MIG mode, so that nothing of it is handed out. Undefined: that is known. */
export function modeDoubtOf({isMigEnabled, isMigPending, unknown}: GpuReading): string | undefined {
	if (isMigPending === true) {
		return 'its MIG mode changes with its next reset';
	}

	const marker = unknown['isMigEnabled'];
	return isMigEnabled === undefined && marker !== undefined && !noSuchReading.has(marker)
		? 'its MIG mode is unknown'
		: undefined;
}

/**
Whether the GPU can be handed out whole, or by its memory: not while MIG has split it. Undefined: that is unknown. A GPU that no one saw is
judged by other rules.
*/
export const isWhole = (reading: GpuReading | undefined): boolean | undefined =>
	reading === undefined ? true : modeDoubtOf(reading) === undefined ? reading.isMigEnabled !== true : undefined;

/** The number of an instance within its GPU. The tools tell the instances in the order of their numbers. */
const numberOf = ({number}: MigInstance, position: number): number => number ?? position;

/** Returns all instances of a GPU, or none without MIG mode. Undefined if unknown. */
export function instancesOf(reading: GpuReading | undefined): readonly InstanceOfGpu[] | undefined {
	if (reading === undefined || reading.failure !== undefined || modeDoubtOf(reading) !== undefined) {
		return undefined;
	}

	const {index: gpu, isMigEnabled, migInstances} = reading;
	if (isMigEnabled !== true) {
		return [];
	}

	return migInstances?.every(({uuid}) => uuid !== undefined) === true
		? migInstances.map((instance, position) => {
				const {uuid, profile, gpuInstanceId, computeInstanceId} = instance;
				return {gpu, uuid: uuid!, number: numberOf(instance, position), profile, gpuInstanceId, computeInstanceId};
			})
		: undefined;
}

/** Returns the part of an instance that its lease stores. */
export const heldInstanceOf = ({gpu: _, ...instance}: InstanceOfGpu): HeldInstance => instance;

/** The reading of an instance; undefined where the scan does not show it. */
export const readingOf = (
	reading: GpuReading | undefined,
	{uuid}: Pick<HeldInstance, 'uuid'>,
): MigInstance | undefined => reading?.migInstances?.find((instance) => instance.uuid === uuid);

/** Whether a lease's instance is gone: an administrator has changed the instances. False while that is unknown. */
export const isGone = (reading: GpuReading | undefined, {uuid}: Pick<HeldInstance, 'uuid'>): boolean =>
	instancesOf(reading)?.every((instance) => instance.uuid !== uuid) ?? false;

type Ids = Pick<GpuProcess, 'gpuInstanceId' | 'computeInstanceId'>;

/** Whether a process is on the instance. Undefined: the tool does not say. */
export function isOnInstance(process: Ids, instance: Ids): boolean | undefined {
	const isSame = (one: number | undefined, other: number | undefined): boolean | undefined =>
		one === undefined || other === undefined ? undefined : one === other;
	const ofGpu = isSame(process.gpuInstanceId, instance.gpuInstanceId);
	return ofGpu === true ? isSame(process.computeInstanceId, instance.computeInstanceId) : ofGpu;
}

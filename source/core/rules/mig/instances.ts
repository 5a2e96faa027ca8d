/** Finds the MIG instances in a scan. Instances count as unknown if anything about them is uncertain, and unknown instances are never granted. */
import {noSuchReading} from '../../model/observation.js';
import type {
	GpuProcess,
	GpuReading,
	HeldInstance,
	InstanceName,
	InstanceOfGpu,
	MigInstance,
} from '../../model/types.js';

/** Returns the name of an instance, such as `0:1`, or `0:?` if its number is unknown. */
export const instanceText = ({gpu, number}: {readonly gpu: number; readonly number?: number | undefined}): string =>
	`${gpu}:${number ?? '?'}`;

export function parseInstanceName(text: string): InstanceName | undefined {
	const {gpu, number} = /^(?<gpu>\d{1,9}):(?<number>\d{1,4})$/v.exec(text.trim())?.groups ?? {};
	return gpu === undefined ? undefined : {gpu: Number(gpu), number: Number(number)};
}

/** Returns why the MIG mode of the GPU is unknown. Undefined if the mode is known. */
export function modeDoubtOf({isMigEnabled, isMigPending, unknown}: GpuReading): string | undefined {
	if (isMigPending === true) {
		return 'its MIG mode will change at its next reset';
	}

	const marker = unknown['isMigEnabled'];
	return isMigEnabled === undefined && marker !== undefined && !noSuchReading.has(marker)
		? 'its MIG mode is unknown'
		: undefined;
}

/**
Whether the MIG mode allows a grant of the whole GPU or of shares. Undefined if unknown. True without a reading,
because other rules handle that case.
*/
export const isWhole = (reading: GpuReading | undefined): boolean | undefined =>
	reading === undefined ? true : modeDoubtOf(reading) === undefined ? reading.isMigEnabled !== true : undefined;

/** Returns the number of an instance. If the number is unknown, returns the position in the list, because the tools list instances by number. */
const numberOf = ({number}: MigInstance, position: number): number => number ?? position;

/** Returns all MIG instances of a GPU. Empty if the GPU is not in MIG mode, and undefined if unknown. */
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

export const heldInstanceOf = ({gpu: _, ...instance}: InstanceOfGpu): HeldInstance => instance;

export const readingOf = (
	reading: GpuReading | undefined,
	{uuid}: Pick<HeldInstance, 'uuid'>,
): MigInstance | undefined => reading?.migInstances?.find((instance) => instance.uuid === uuid);

/** Whether an administrator has removed the MIG instance. False if unknown. */
export const isGone = (reading: GpuReading | undefined, {uuid}: Pick<HeldInstance, 'uuid'>): boolean =>
	instancesOf(reading)?.every((instance) => instance.uuid !== uuid) ?? false;

type Ids = Pick<GpuProcess, 'gpuInstanceId' | 'computeInstanceId'>;

export function isOnInstance(process: Ids, instance: Ids): boolean | undefined {
	const isSame = (one: number | undefined, other: number | undefined): boolean | undefined =>
		one === undefined || other === undefined ? undefined : one === other;
	const ofGpu = isSame(process.gpuInstanceId, instance.gpuInstanceId);
	return ofGpu === true ? isSame(process.computeInstanceId, instance.computeInstanceId) : ofGpu;
}

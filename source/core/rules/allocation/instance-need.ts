/** Which instances of MIG can serve a request: those of a profile or larger, or those that it names. */
import type {GpuReading, InstanceNeed, InstanceOfGpu} from '../../model/types.js';
import {instancesOf} from '../mig/instances.js';
import {fitsProfile} from '../mig/profile.js';

/** Whether the request is about this GPU at all. */
const isAboutGpu = (need: InstanceNeed, gpu: number): boolean =>
	'profile' in need || need.instances.some((name) => name.gpu === gpu);

const isWanted = (need: InstanceNeed, {gpu, number, profile}: InstanceOfGpu): boolean =>
	'profile' in need
		? profile !== undefined && fitsProfile(profile, need.profile)
		: need.instances.some((name) => name.gpu === gpu && name.number === number);

export type InstancesFor = {
	/** Any as many as are wanted serve the request. */
	readonly instances: readonly InstanceOfGpu[];
	/** GPUs of which it is unknown what instances they have. */
	readonly unknown: readonly number[];
};

/**
@param need - Of the request.
@param readings - By GPU, of the GPUs that have what is needed besides.
*/
export function instancesFor(
	need: InstanceNeed,
	readings: ReadonlyArray<readonly [index: number, reading: GpuReading | undefined]>,
): InstancesFor {
	const gpus = readings
		.filter(([index]) => isAboutGpu(need, index))
		.map(([index, reading]) => ({index, all: instancesOf(reading)}));
	// A profile that the tool does not name may be the one that is wanted.
	const isUnsure = (all: readonly InstanceOfGpu[]): boolean =>
		'profile' in need && all.some(({profile}) => profile === undefined);
	return {
		instances: gpus.flatMap(({all = []}) => all.filter((instance) => isWanted(need, instance))),
		unknown: gpus.filter(({all}) => all === undefined || isUnsure(all)).map(({index}) => index),
	};
}

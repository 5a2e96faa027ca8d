/** GPUs in MIG mode, for tests. */
import type {GpuReading} from '../../source/core/model/types.js';
import {idleReading} from './world.js';

/**
@param generation - How many times the instances of the GPU were changed.
*/
export const splitReading = (index: number, profiles: readonly string[], generation = 0): GpuReading => ({
	...idleReading(index),
	utilizationPercent: undefined,
	isMigEnabled: true,
	migInstances: profiles.map((profile, number) => ({
		number,
		profile,
		uuid: generation === 0 ? `MIG-${index}-${number}` : `MIG-${index}-${number}-${generation}`,
		gpuInstanceId: number + 1,
		computeInstanceId: 0,
		memoryUsedMiB: 10,
		memoryTotalMiB: 9984,
	})),
	unknown: {utilizationPercent: '[N/A]'},
});

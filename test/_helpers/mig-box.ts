/** GPUs in MIG mode. */
import type {GpuReading} from '../../source/core/model/types.js';
import {idleReading} from './world.js';

/** Returns a GPU in MIG mode. `generation` is how many times its instances were changed. */
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

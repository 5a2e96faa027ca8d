import type {GpuReading, Observation} from '../core/model/types.js';
import {CanhazgpuError} from '../errors.js';

/** A GPU as its own table tells it: the processes stand in another one. */
export type BareReading = Omit<GpuReading, 'processes'>;

/**
Some drivers tell a GPU that has no memory of its own, but shares the machine's, as one of 0 MiB, none of them in use. That is no
reading: whether it is in use its processes must tell.
*/
export const withoutVoidMemory = (gpu: BareReading): BareReading =>
	gpu.memoryTotalMiB === 0
		? {
				...gpu,
				memoryUsedMiB: undefined,
				memoryTotalMiB: undefined,
				unknown: {...gpu.unknown, memoryUsedMiB: '[N/A]', memoryTotalMiB: '[N/A]'},
			}
		: gpu;

/** How many GPUs a scan saw. Throws CanhazgpuError `provider` for one that failed. */
export const countSeen = ({gpus, failure}: Observation): number => {
	if (failure !== undefined) {
		throw new CanhazgpuError('provider', failure.message, {hint: failure.hint});
	}

	return gpus.length;
};

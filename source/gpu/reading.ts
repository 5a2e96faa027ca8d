import type {GpuReading, Observation} from '../core/model/types.js';
import {CanhazgpuError} from '../errors.js';

export type BareReading = Omit<GpuReading, 'processes'>;

/** Removes a reading of 0 of 0 MiB, as of some GPUs that share the machine's memory. Then, only the processes show whether the GPU is in use. */
export const withoutVoidMemory = (gpu: BareReading): BareReading =>
	gpu.memoryTotalMiB === 0
		? {
				...gpu,
				memoryUsedMiB: undefined,
				memoryTotalMiB: undefined,
				unknown: {...gpu.unknown, memoryUsedMiB: '[N/A]', memoryTotalMiB: '[N/A]'},
			}
		: gpu;

/** Returns the number of GPUs in a scan. Throws `provider` if the scan failed. */
export const countSeen = ({gpus, failure}: Observation): number => {
	if (failure !== undefined) {
		throw new CanhazgpuError('provider', failure.message, {hint: failure.hint});
	}

	return gpus.length;
};

import type {Observation} from '../core/model/observation.js';
import {CanhazgpuError} from '../errors.js';

/** How many GPUs a scan saw. Throws CanhazgpuError `provider` for one that failed. */
export const countSeen = ({gpus, failure}: Observation): number => {
	if (failure !== undefined) {
		throw new CanhazgpuError('provider', failure.message, {hint: failure.hint});
	}

	return gpus.length;
};

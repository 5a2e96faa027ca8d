/** Clean GPUs: with `clean=on`, a GPU is free only if no process is on it and no more memory is in use than the driver's own. */
import {policyValue, type StoredPolicy} from '../policy/policy.js';
import type {GpuProcess, GpuReading, MemoryBaseline, Observation, Snapshot} from '../../model/types.js';

/** MiB that a clean GPU may use beyond its baseline. Even an empty CUDA context uses more. */
const toleranceMiB = 128;

export type CleanRule = {
	/** Returns the MiB above which a GPU is not clean. Undefined without a baseline. */
	readonly limitMiB: (reading: GpuReading) => number | undefined;
};

/** Returns undefined if the policy does not require clean GPUs. */
export function cleanRuleOf(snapshot: StoredPolicy & Pick<Snapshot, 'baselines'>): CleanRule | undefined {
	const {baselines} = snapshot;
	return policyValue(snapshot, 'clean') === 'off'
		? undefined
		: {
				limitMiB({index, uuid}) {
					const baseline = baselines.get(index);
					return baseline === undefined || baseline.uuid !== uuid ? undefined : baseline.memoryMiB + toleranceMiB;
				},
			};
}

/** Returns the processes of tenants. A desktop stays, and its memory is part of the baseline. */
export const tenantsOf = (processes: readonly GpuProcess[]): readonly GpuProcess[] =>
	processes.filter(({kind}) => kind !== 'graphics');

type Scan = {
	readonly observation: Observation;
	readonly bootId: string | undefined;
	readonly memoryThresholdMiB: number;
};

/**
Returns each GPU's least memory in use since boot without holder or process. Empty without the policy, so that switching it on again measures again.
@returns Undefined if nothing changed.
*/
export function nextBaselines(
	snapshot: StoredPolicy & Pick<Snapshot, 'baselines' | 'gpus'>,
	{observation, bootId, memoryThresholdMiB}: Scan,
): ReadonlyMap<number, MemoryBaseline> | undefined {
	const {baselines, gpus} = snapshot;
	if (policyValue(snapshot, 'clean') === 'off') {
		return baselines.size === 0 ? undefined : new Map();
	}

	const seen = observation.gpus.flatMap((reading): ReadonlyArray<readonly [number, MemoryBaseline]> => {
		const {index, uuid, memoryUsedMiB, processes, failure} = reading;
		const known = baselines.get(index);
		const isEmpty =
			gpus[index]?.kind === 'free' &&
			failure === undefined &&
			processes !== undefined &&
			tenantsOf(processes).length === 0;
		if (!isEmpty || memoryUsedMiB === undefined || memoryUsedMiB > memoryThresholdMiB) {
			return [];
		}

		const isSame = known !== undefined && known.uuid === uuid && known.bootId === bootId;
		return isSame && known.memoryMiB <= memoryUsedMiB ? [] : [[index, {memoryMiB: memoryUsedMiB, uuid, bootId}]];
	});
	return seen.length === 0 ? undefined : new Map([...baselines, ...seen]);
}

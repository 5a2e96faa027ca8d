/** Decides which GPUs are clean. With `clean=on`, a GPU is free only if it has no process and no memory in use except the driver's own. */
import {policyValue, type StoredPolicy} from '../policy/policy.js';
import type {GpuProcess, GpuReading, MemoryBaseline, Observation, Snapshot} from '../../model/types.js';

/** MiB that a clean GPU may use beyond its baseline. Even an empty CUDA context uses more. */
const toleranceMiB = 128;

export type CleanRule = {
	readonly limitMiB: (reading: GpuReading) => number | undefined;
};

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

/** Returns the processes that must end before the GPU is clean. A desktop may stay, and its memory is part of the baseline. */
export const tenantsOf = (processes: readonly GpuProcess[]): readonly GpuProcess[] =>
	processes.filter(({kind}) => kind !== 'graphics');

type Scan = {
	readonly observation: Observation;
	readonly bootId: string | undefined;
	readonly memoryThresholdMiB: number;
};

/**
Returns the memory baselines after one more scan: the smallest memory use of each GPU since boot while it had no holder and no process. Empty if the
policy does not require clean GPUs, so that the baselines are measured again when the policy changes. Undefined if nothing changed.
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

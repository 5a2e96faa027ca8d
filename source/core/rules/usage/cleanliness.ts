/**
Clean between tenants: with `clean=on` in the policy, a GPU that no one holds is free only with no process on it and with no more memory in use
than the driver keeps for itself.
*/
import {policyValue, type StoredPolicy} from '../policy/policy.js';
import type {GpuProcess, GpuReading, MemoryBaseline, Observation, Snapshot} from '../../model/types.js';

/** Memory in MiB that a clean GPU may use beyond its baseline. Even an empty CUDA context uses more. */
const toleranceMiB = 128;

export type CleanRule = {
	/** Returns the memory in MiB above which a GPU is not clean. Undefined without a baseline for that GPU. */
	readonly limitMiB: (reading: GpuReading) => number | undefined;
};

/** Undefined: the policy asks for no such thing. */
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

/** Processes that a tenant started. A desktop stays, and its memory is part of the baseline. */
export const tenantsOf = (processes: readonly GpuProcess[]): readonly GpuProcess[] =>
	processes.filter(({kind}) => kind !== 'graphics');

type Scan = {
	readonly observation: Observation;
	/** Boot id of this machine. */
	readonly bootId: string | undefined;
	/** Memory in MiB above which a GPU counts as in use. */
	readonly memoryThresholdMiB: number;
};

/**
The baselines as they are after a scan: the least memory that each GPU had in use while no one held it and no process was on it, since the
start of the machine. None while the policy asks for no clean GPUs, so that switching it off and on measures them again.

@returns Undefined when nothing differs.
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

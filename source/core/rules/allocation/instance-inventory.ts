/** How many instances of each profile of MIG there are, and how many of them no one has. */
import {holdingsIn} from '../leases/holdings.js';
import type {GpuReading, GpuRecord, InstanceOfGpu} from '../../model/types.js';
import {instancesOf} from '../mig/instances.js';
import {compareNumbers, sizeOfProfile} from '../mig/profile.js';

/** Instances of one profile, in the order in which they were given. */
export type OfProfile = {readonly profile: string | undefined; readonly instances: readonly InstanceOfGpu[]};

/** The smallest profile first, an unknown one last. */
export const byProfile = (instances: readonly InstanceOfGpu[]): readonly OfProfile[] =>
	[...Map.groupBy(instances, ({profile}) => profile)]
		.toSorted(([a], [b]) => compareNumbers(sizeOfProfile(a), sizeOfProfile(b)))
		.map(([profile, all]) => ({profile, instances: all}));

export type ProfileCount = {readonly profile: string; readonly total: number; readonly free: number};

/** UUIDs of the instances that leases have. */
const heldInstances = (gpus: readonly GpuRecord[]): ReadonlySet<string> =>
	new Set(holdingsIn(gpus).flatMap(({lease}) => (lease.mig === undefined ? [] : [lease.mig.uuid])));

/** Of the profiles that are known, the smallest first. Free are those that no lease has: whether they are idle is not asked. */
export function inventory(readings: readonly GpuReading[], gpus: readonly GpuRecord[]): readonly ProfileCount[] {
	const held = heldInstances(gpus);
	return byProfile(readings.flatMap((reading) => instancesOf(reading) ?? [])).flatMap(({profile, instances}) =>
		profile === undefined
			? []
			: [{profile, total: instances.length, free: instances.filter(({uuid}) => !held.has(uuid)).length}],
	);
}

import {holdingsIn, holdingsOn, type Holding} from '../leases/holdings.js';
import type {GpuRecord, InstanceOfGpu, Lease, GpuReading, InstanceNeed} from '../../model/types.js';
import {sizeOfProfile, fitsProfile} from '../mig/profile.js';
import {instancesOf} from '../mig/instances.js';
import type {GpuBlock} from './gpu-candidate.js';
import {compareNumbers} from './compare-numbers.js';

const isAboutGpu = (need: InstanceNeed, gpu: number): boolean =>
	'profile' in need || need.instances.some((name) => name.gpu === gpu);

const isWanted = (need: InstanceNeed, {gpu, number, profile}: InstanceOfGpu): boolean =>
	'profile' in need
		? profile !== undefined && fitsProfile(profile, need.profile)
		: need.instances.some((name) => name.gpu === gpu && name.number === number);

type InstancesFor = {
	readonly instances: readonly InstanceOfGpu[];
	readonly unknown: readonly number[];
};

/** Finds the MIG instances that can serve a request. `readings` contains the readings of all GPUs that meet the other requirements. */
export function instancesFor(
	need: InstanceNeed,
	readings: ReadonlyArray<readonly [index: number, reading: GpuReading | undefined]>,
): InstancesFor {
	const gpus = readings
		.filter(([index]) => isAboutGpu(need, index))
		.map(([index, reading]) => ({index, all: instancesOf(reading)}));
	// An instance of unknown profile may have the requested profile.
	const isUnsure = (all: readonly InstanceOfGpu[]): boolean =>
		'profile' in need && all.some(({profile}) => profile === undefined);
	return {
		instances: gpus.flatMap(({all = []}) => all.filter((instance) => isWanted(need, instance))),
		unknown: gpus.filter(({all}) => all === undefined || isUnsure(all)).map(({index}) => index),
	};
}

export type InstanceCandidate = {
	readonly kind: 'candidate';
	readonly record: GpuRecord;
	readonly instance: InstanceOfGpu;
	readonly takes: readonly Holding[];
};

/** Returns whether a MIG instance is available. If the whole GPU was leased before it was split by MIG, none of its instances is available. */
export function instanceCandidateOf(
	record: GpuRecord,
	instance: InstanceOfGpu,
	canTake: (lease: Lease) => boolean,
): InstanceCandidate | GpuBlock {
	if (record.kind === 'garbage') {
		return {kind: 'garbage', problem: record.problem};
	}

	const takes = holdingsOn(record).filter(({lease: {mig}}) => mig === undefined || mig.uuid === instance.uuid);
	const firm = takes.map(({lease}) => lease).filter((lease) => !canTake(lease));
	const holder = firm.find(({mig}) => mig !== undefined) ?? (record.kind === 'leased' ? firm[0] : undefined);
	return holder === undefined
		? firm.length > 0
			? {kind: 'shared', shares: firm}
			: {kind: 'candidate', record, instance, takes}
		: {kind: 'leased', lease: holder};
}

/**
Chooses MIG instances: free ones before those held by waiting requests, then the smallest profile, then the GPU with the most instances in use,
so that large instances and empty GPUs stay available. Returns fewer than `count` if there are not enough.
@param candidates - Instances held by waiting requests must be in the order in which they are taken.
*/
export function chooseInstances(
	gpus: readonly GpuRecord[],
	candidates: readonly InstanceCandidate[],
	count: number,
): readonly InstanceCandidate[] {
	const used = new Map<number, number>();
	const use = (gpu: number): void => {
		used.set(gpu, (used.get(gpu) ?? 0) + 1);
	};

	for (const {index, lease} of holdingsIn(gpus)) {
		if (lease.mig !== undefined) {
			use(index);
		}
	}

	const taken = candidates.filter(({takes}) => takes.length > 0);
	const orderOf = (candidate: InstanceCandidate): readonly number[] => {
		const {takes, instance} = candidate;
		const {gpu, profile, number = Infinity} = instance;
		return takes.length > 0
			? [1, taken.indexOf(candidate)]
			: [0, ...sizeOfProfile(profile), -(used.get(gpu) ?? 0), gpu, number];
	};

	const chosen: InstanceCandidate[] = [];
	let left = candidates;
	while (chosen.length < count && left.length > 0) {
		const [best] = left
			.map((candidate) => ({candidate, order: orderOf(candidate)}))
			.toSorted((a, b) => compareNumbers(a.order, b.order));
		const {candidate} = best!;
		chosen.push(candidate);
		left = left.filter((one) => one !== candidate);
		if (candidate.takes.length === 0) {
			use(candidate.instance.gpu);
		}
	}

	return chosen;
}

type OfProfile = {readonly profile: string | undefined; readonly instances: readonly InstanceOfGpu[]};

export const byProfile = (instances: readonly InstanceOfGpu[]): readonly OfProfile[] =>
	[...Map.groupBy(instances, ({profile}) => profile)]
		.toSorted(([a], [b]) => compareNumbers(sizeOfProfile(a), sizeOfProfile(b)))
		.map(([profile, all]) => ({profile, instances: all}));

export type ProfileCount = {readonly profile: string; readonly total: number; readonly free: number};

const heldInstances = (gpus: readonly GpuRecord[]): ReadonlySet<string> =>
	new Set(holdingsIn(gpus).flatMap(({lease}) => (lease.mig === undefined ? [] : [lease.mig.uuid])));

/** Counts the MIG instances of each profile, the smallest profile first. Instances without a lease count as free. */
export function inventory(readings: readonly GpuReading[], gpus: readonly GpuRecord[]): readonly ProfileCount[] {
	const held = heldInstances(gpus);
	return byProfile(readings.flatMap((reading) => instancesOf(reading) ?? [])).flatMap(({profile, instances}) =>
		profile === undefined
			? []
			: [{profile, total: instances.length, free: instances.filter(({uuid}) => !held.has(uuid)).length}],
	);
}

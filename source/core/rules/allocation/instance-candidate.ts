/** Which instances of MIG a request could have, and which of them it gets. */
import {holdingsIn, holdingsOn, type Holding} from '../leases/holdings.js';
import type {GpuRecord, InstanceOfGpu, Lease} from '../../model/types.js';
import {compareNumbers, sizeOfProfile} from '../mig/profile.js';
import type {GpuBlock} from './gpu-candidate.js';

export type InstanceCandidate = {
	readonly kind: 'candidate';
	readonly record: GpuRecord;
	readonly instance: InstanceOfGpu;
	/** What others hold of it meanwhile, and lose with the grant. */
	readonly takes: readonly Holding[];
};

/**
Whether an instance could be had, by what others have of its GPU. A lease of another instance is in no one's way; one that has the whole GPU or a
share of its memory, from before MIG split the GPU, is.

@param canTake - Whether what a lease holds may be taken, because its holder waits.
*/
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
Chooses: what is free before what others hold while they wait, the smallest profile, and of that the GPU with the most instances in use, so
that large instances and empty GPUs are left for those who need them.

@param gpus - The records of the pool.
@param candidates - Of what others hold, in the order in which it is taken.
@returns As many as could be had; fewer than the count where there are no more.
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

/** A request for instances that this pool can never give is refused at once, with those that there are. */
import {CanhazgpuError, cutShort} from '../../../errors.js';
import type {GpuReading, InstanceNeed, InstanceOfGpu} from '../../model/types.js';
import {instancesOf, instanceText, isWhole} from '../mig/instances.js';
import {byProfile} from './instance-inventory.js';

/** `2 MIG instances of 1g.10gb or larger`, `MIG instance 0:1`, `MIG instances 0:1 0:2`. */
export function wantedInstanceText(need: InstanceNeed, count: number): string {
	const noun = `MIG ${('instances' in need ? need.instances.length : count) === 1 ? 'instance' : 'instances'}`;
	return 'instances' in need
		? `${noun} ${need.instances.map((name) => instanceText(name)).join(' ')}`
		: `${count} ${noun} of ${cutShort(need.profile)} or larger`;
}

/** Named one by one before the rest is only counted. */
const fewInstances = 8;

/** `0:0 (1g.10gb), 0:1 (1g.10gb)`. */
function listOf(instances: readonly InstanceOfGpu[]): string {
	const named = instances
		.slice(0, fewInstances)
		.map(({profile, ...instance}) => `${instanceText(instance)}${profile === undefined ? '' : ` (${profile})`}`);
	return `${named.join(', ')}${instances.length > fewInstances ? ` and ${instances.length - fewInstances} more` : ''}`;
}

/** `3 of 1g.10gb, 1 of 3g.40gb`, the smallest first. */
const inventoryOf = (instances: readonly InstanceOfGpu[]): string =>
	byProfile(instances)
		.map(({profile = 'an unknown profile', instances: all}) => `${all.length} of ${profile}`)
		.join(', ');

/** What can be asked for of a GPU that MIG has split, as a hint. */
export function splitHint(readings: readonly GpuReading[]): string {
	if (readings.some((reading) => instancesOf(reading) === undefined)) {
		return 'See its instances: canhazgpu status';
	}

	const instances = readings.flatMap((reading) => instancesOf(reading) ?? []);
	const [first] = instances;
	if (first === undefined) {
		return 'It has no instances yet: an administrator makes them by nvidia-smi mig.';
	}

	const profile = first.profile === undefined ? '' : `, or a profile: --mig ${first.profile}`;
	return `Its instances are ${listOf(instances)}. Name one: --gpu-ids ${instanceText(first)}${profile}`;
}

/** Why an instance that was named is not there. */
function missingProblem(gpu: number, name: string, reading: GpuReading | undefined): CanhazgpuError {
	const instances = instancesOf(reading) ?? [];
	if (isWhole(reading) === true) {
		return new CanhazgpuError('impossible', `GPU ${gpu} is not split by MIG: there is no instance ${name}`, {
			hint: `Ask for the whole GPU: --gpu-ids ${gpu}`,
		});
	}

	return new CanhazgpuError('impossible', `GPU ${gpu} has no MIG instance ${name}`, {
		hint:
			instances.length === 0
				? 'It has no instances yet: an administrator makes them by nvidia-smi mig.'
				: `GPU ${gpu} has the instances ${listOf(instances)}.`,
	});
}

type Suitable = {
	/** Instances that are what is wanted; fewer than the count. */
	readonly suitable: number;
	/** What is needed of their GPUs, in words that follow `GPU`: ` of model h100`. Empty where every GPU has it. */
	readonly besides: string;
	/** Which GPUs there are. */
	readonly inventory: string;
};

/**
The error for a request that cannot be served.

@param readings - By GPU.
*/
export function impossibleInstances(
	need: InstanceNeed,
	count: number,
	readings: ReadonlyArray<GpuReading | undefined>,
	{suitable, besides, inventory}: Suitable,
): CanhazgpuError {
	const all = readings.flatMap((reading) => instancesOf(reading) ?? []);
	const gpusHint = `The GPUs: ${inventory}.`;
	if ('instances' in need) {
		const missing = need.instances.find(({gpu, number}) =>
			all.every((instance) => instance.gpu !== gpu || instance.number !== number),
		);
		return missing === undefined
			? new CanhazgpuError(
					'impossible',
					`${wantedInstanceText(need, count)} ${need.instances.length === 1 ? 'is on no GPU' : 'are not all on GPUs'}${besides}`,
					{
						hint: gpusHint,
					},
				)
			: missingProblem(missing.gpu, instanceText(missing), readings[missing.gpu]);
	}

	if (all.length === 0) {
		const isSplit = readings.some((reading) => isWhole(reading) === false);
		return new CanhazgpuError(
			'impossible',
			isSplit ? 'MIG is on in this pool, and there are no instances yet' : 'No GPU of this pool is split by MIG',
			{
				hint: isSplit
					? 'An administrator makes them by nvidia-smi mig.'
					: 'Leave out --mig for whole GPUs. Where the policy allows it, --share 10G asks for a part of one.',
			},
		);
	}

	const hint = `The pool has ${inventoryOf(all)}.${besides === '' ? '' : ` ${gpusHint}`}`;
	return suitable === 0
		? new CanhazgpuError(
				'impossible',
				besides === ''
					? `No MIG instance of this pool is ${need.profile} or larger`
					: `No GPU${besides} in this pool has a MIG instance of ${need.profile} or larger`,
				{hint},
			)
		: new CanhazgpuError(
				'impossible',
				`Cannot reserve ${wantedInstanceText(need, count)}${besides === '' ? '' : `, on GPUs${besides}`}: this pool has ${suitable}`,
				{hint},
			);
}

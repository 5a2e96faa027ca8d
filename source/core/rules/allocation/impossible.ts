/** A need that this pool can never serve is refused at once, with what there is instead. */
import {CanhazgpuError, cutShort} from '../../../errors.js';
import {instancesOf, instanceText, isWhole} from '../mig/instances.js';
import type {GpuLinks, GpuReading, InstanceNeed, Need, Observation} from '../../model/types.js';
import {memoryText, sizeText} from '../request/memory-size.js';
import type {Wanted} from '../request/request.js';
import {eligibilityOf, isOfOneModel, meets, type Eligibility} from './need.js';
import {instancesFor} from './instance-need.js';
import {impossibleInstances, splitHint} from './impossible-instances.js';

/** What is needed of each GPU and of all together, in words that follow `2 GPUs`: ` with 40G or more, of one model`. Empty: nothing. */
export function needText({minMemoryMiB, shareMiB, models, minCompute, sameModel, nvlink}: Need = {}): string {
	const words = [
		models === undefined ? [] : [` of model ${models.join(' or ')}`],
		minMemoryMiB === undefined ? [] : [` with ${memoryText(minMemoryMiB)} or more`],
		shareMiB === undefined ? [] : [` with room for a share of ${sizeText(shareMiB)}`],
		minCompute === undefined ? [] : [` of compute capability ${minCompute} or higher`],
		sameModel === true ? [' of one model'] : [],
		nvlink === true ? [' linked by NVLink'] : [],
	].flat();
	return words.join(',');
}

/** Without the vendor, which the models of one box share. */
const shortName = (name: string): string => name.replace(/^(?:nvidia|amd)\s+/iv, '');

/** `4 A100-SXM4-80GB of 80 GiB, 4 L40S of 45 GiB`, the most frequent first. Empty: nothing is known. */
export function inventoryText(readings: readonly GpuReading[]): string {
	const kinds = Map.groupBy(readings, ({name = 'unknown', memoryTotalMiB, computeCapability}) =>
		[
			shortName(name),
			memoryTotalMiB === undefined ? '' : ` of ${Math.round(memoryTotalMiB / 1024)} GiB`,
			computeCapability === undefined ? '' : ` (${computeCapability})`,
		].join(''),
	);
	return [...kinds]
		.toSorted(([, a], [, b]) => b.length - a.length)
		.map(([kind, gpus]) => `${gpus.length} ${kind}`)
		.join(', ');
}

/** The largest count that could be had with the same need. */
function mostPossible(wanted: Wanted, observation: Observation, gpuCount: number, links: GpuLinks | undefined): number {
	const least: Need = {...wanted.need, sameModel: isOfOneModel(wanted)};
	for (let count = wanted.count - 1; count > 0; count--) {
		if (eligibilityOf({count, need: least}, observation, gpuCount, links).isPossible) {
			return count;
		}
	}

	return 0;
}

/** What to ask for in place of GPUs that MIG has split. */
function migExample(split: readonly GpuReading[]): string {
	const [first] = split.flatMap((reading) => instancesOf(reading) ?? []);
	return first === undefined
		? '--mig 1g.10gb'
		: first.profile === undefined
			? `--gpu-ids ${instanceText(first)}`
			: `--mig ${first.profile}`;
}

function instancesProblem(
	mig: InstanceNeed,
	{
		wanted,
		observation,
		gpuCount,
	}: Pick<Circumstances, 'gpuCount'> & {readonly wanted: Wanted; readonly observation: Observation},
): CanhazgpuError {
	const readings = Array.from({length: gpuCount}, (_, position) =>
		observation.gpus.find(({index}) => index === position),
	);
	const fit = readings
		.map((reading, index) => [index, reading] as const)
		.filter(([, reading]) => meets(wanted.need!, reading) === true);
	return impossibleInstances(mig, wanted.count, readings, {
		suitable: instancesFor(mig, fit).instances.length,
		besides: fit.length === readings.length ? '' : cutShort(needText(wanted.need)),
		inventory: inventoryText(observation.gpus),
	});
}

type Circumstances = {
	readonly eligibility: Eligibility;
	readonly observation: Observation | undefined;
	readonly gpuCount: number;
	readonly links?: GpuLinks;
};

type Named = {
	readonly need: Need;
	/** GPUs that MIG has split. */
	readonly split: readonly GpuReading[];
	readonly readings: readonly GpuReading[];
	readonly hint: string | undefined;
};

/** Why the GPUs that were asked for by their ids can never serve the need: some are split, or lack what is needed. */
function namedProblem(ids: readonly number[], {need, split, readings, hint}: Named): CanhazgpuError {
	const named = split.filter(({index}) => ids.includes(index));
	if (named.length > 0) {
		const isOne = named.length === 1;
		return new CanhazgpuError(
			'impossible',
			`${isOne ? 'GPU' : 'GPUs'} ${named.map(({index}) => index).join(', ')} ${isOne ? 'is' : 'are'} split by MIG, and not handed out whole`,
			{hint: splitHint(named)},
		);
	}

	const readingOf = (id: number): GpuReading | undefined => readings.find(({index}) => index === id);
	const unfit = ids.filter((id) => meets(need, readingOf(id)) === false);
	const which = unfit.length > 0 ? unfit : ids;
	const words = which.length === 1 ? `GPU ${which[0]!} is no GPU` : `GPUs ${which.join(', ')} are no GPUs`;
	return new CanhazgpuError('impossible', `${words}${cutShort(needText(need))}`, {hint});
}

/**
@throws CanhazgpuError `impossible` when no GPUs of this pool could ever serve the need. Its hint names those that there are.
*/
export function requirePossible(wanted: Wanted, {eligibility, observation, gpuCount, links}: Circumstances): void {
	if (eligibility.isPossible || observation === undefined) {
		return;
	}

	const {need = {}, ids, count} = wanted;
	const ofPool = observation.gpus.filter(({index}) => index < gpuCount);
	if (need.mig !== undefined) {
		throw instancesProblem(need.mig, {wanted, observation, gpuCount});
	}

	const split = ofPool.filter((reading) => isWhole(reading) === false);
	const inventory = inventoryText(ofPool.filter((reading) => !split.includes(reading)));
	const hints = [
		...(inventory === '' ? [] : [`The pool has ${inventory}${split.length === 0 ? '' : ' that MIG has not split'}.`]),
		...(split.length === 0 ? [] : [`Of what MIG has split, ask for an instance: ${migExample(split)}.`]),
	];
	const hint = hints.length === 0 ? undefined : hints.join(' ');
	if (ids !== undefined) {
		throw namedProblem(ids, {need, split, readings: observation.gpus, hint});
	}

	const most = mostPossible(wanted, observation, gpuCount, links);
	if (split.length > 0 && split.length === ofPool.length) {
		throw new CanhazgpuError('impossible', 'MIG has split every GPU of this pool, and none is handed out whole', {
			hint,
		});
	}

	if (most === 0) {
		throw new CanhazgpuError(
			'impossible',
			`No GPU${cutShort(needText({...need, sameModel: false, nvlink: count > 1 ? need.nvlink : false}))} in this pool`,
			{
				hint,
			},
		);
	}

	// The caller may not know that GPUs are of one model by default.
	const isByDefault =
		need.sameModel === undefined &&
		eligibilityOf({...wanted, need: {...need, sameModel: false}}, observation, gpuCount, links).isPossible;
	const words = needText({...need, sameModel: isOfOneModel(wanted)});
	throw new CanhazgpuError(
		'impossible',
		`Cannot reserve ${count} GPUs${cutShort(words)}: this pool has at most ${most}`,
		{hint: `${hint ?? ''}${isByDefault ? ' Different models will do with --mixed.' : ''}`.trim()},
	);
}

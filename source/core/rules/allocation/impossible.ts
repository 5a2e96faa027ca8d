import {CanhazgpuError, cutShort} from '../../../errors.js';
import {instancesOf, instanceText, isWhole} from '../mig/instances.js';
import type {GpuLinks, GpuReading, InstanceNeed, Need, Observation, InstanceOfGpu} from '../../model/types.js';
import {memoryText, sizeText} from '../request/memory-size.js';
import type {Wanted} from '../request/request.js';
import {eligibilityOf, isOfOneModel, meets, readingsByIndex, type Eligibility} from './need.js';
import {instancesFor, byProfile} from './instances.js';

/** How a hint writes a part of a request: as a flag, or as a field of the agents' tools. */
type Notation = {
	readonly gpu: (index: number) => string;
	readonly instance: (instance: InstanceOfGpu) => string;
	readonly profile: (profile: string) => string;
	readonly share: string;
	readonly mixed: string;
	readonly mig: string;
	readonly status: string;
};

const flags: Notation = {
	gpu: (index) => `--gpu-ids ${index}`,
	instance: (instance) => `--gpu-ids ${instanceText(instance)}`,
	profile: (profile) => `--mig ${profile}`,
	share: '--share 10G',
	mixed: '--mixed',
	mig: '--mig',
	status: 'canhazgpu status',
};

const fields: Notation = {
	gpu: (index) => `gpu_ids: [${index}]`,
	instance: (instance) => `gpu_ids: ["${instanceText(instance)}"]`,
	profile: (profile) => `mig: "${profile}"`,
	share: 'share: "10G"',
	mixed: 'mixed: true',
	mig: 'mig',
	status: 'gpu_status',
};

type Hint = (notation: Notation) => string | undefined;

const impossible = (message: string, hint: string | Hint): CanhazgpuError =>
	new CanhazgpuError(
		'impossible',
		message,
		typeof hint === 'function' ? {hint: hint(flags), agentHint: hint(fields)} : {hint},
	);

/** Describes requested MIG instances: `2 MIG instances of 1g.10gb or larger`, `MIG instance 0:1`, `MIG instances 0:1 0:2`. */
export function wantedInstanceText(need: InstanceNeed, count: number): string {
	const noun = `MIG ${('instances' in need ? need.instances.length : count) === 1 ? 'instance' : 'instances'}`;
	return 'instances' in need
		? `${noun} ${need.instances.map((name) => instanceText(name)).join(' ')}`
		: `${count} ${noun} of ${cutShort(need.profile)} or larger`;
}

const fewInstances = 8;

function listOf(instances: readonly InstanceOfGpu[]): string {
	const named = instances
		.slice(0, fewInstances)
		.map(({profile, ...instance}) => `${instanceText(instance)}${profile === undefined ? '' : ` (${profile})`}`);
	return `${named.join(', ')}${instances.length > fewInstances ? ` and ${instances.length - fewInstances} more` : ''}`;
}

const inventoryOf = (instances: readonly InstanceOfGpu[]): string =>
	byProfile(instances)
		.map(({profile = 'an unknown profile', instances: all}) => `${all.length} of ${profile}`)
		.join(', ');

const noInstancesHint = 'It has no instances yet. An administrator can create them with nvidia-smi mig.';

function splitHint(readings: readonly GpuReading[], notation: Notation): string {
	if (readings.some((reading) => instancesOf(reading) === undefined)) {
		return `See its instances: ${notation.status}`;
	}

	const instances = readings.flatMap((reading) => instancesOf(reading) ?? []);
	const [first] = instances;
	if (first === undefined) {
		return noInstancesHint;
	}

	const profile = first.profile === undefined ? '' : `, or a profile: ${notation.profile(first.profile)}`;
	return `Its instances are ${listOf(instances)}. Name one: ${notation.instance(first)}${profile}`;
}

function missingProblem(gpu: number, name: string, reading: GpuReading | undefined): CanhazgpuError {
	if (isWhole(reading) === true) {
		return impossible(
			`GPU ${gpu} is not split by MIG: there is no instance ${name}`,
			(notation) => `Ask for the whole GPU: ${notation.gpu(gpu)}`,
		);
	}

	const instances = instancesOf(reading) ?? [];
	return impossible(
		`GPU ${gpu} has no MIG instance ${name}`,
		instances.length === 0 ? noInstancesHint : `GPU ${gpu} has the instances ${listOf(instances)}.`,
	);
}

/** Describes requirements, as a text to append to `2 GPUs`: ` with 40G or more, of one model`. */
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

const gpuNames = (readings: readonly GpuReading[]): string =>
	`${readings.length === 1 ? 'GPU' : 'GPUs'} ${readings.map(({index}) => index).join(', ')}`;

const shortName = (name: string): string => name.replace(/^(?:nvidia|amd)\s+/iv, '');

/** Lists GPUs by model, the most frequent first: `4 A100-SXM4-80GB of 80 GiB, 4 L40S of 45 GiB`. Empty if nothing is known. */
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

function mostPossible(wanted: Wanted, observation: Observation, gpuCount: number, links: GpuLinks | undefined): number {
	const least: Need = {...wanted.need, sameModel: isOfOneModel(wanted)};
	for (let count = wanted.count - 1; count > 0; count--) {
		if (eligibilityOf({count, need: least}, observation, gpuCount, links).isPossible) {
			return count;
		}
	}

	return 0;
}

function migExample(split: readonly GpuReading[], notation: Notation): string {
	const [first] = split.flatMap((reading) => instancesOf(reading) ?? []);
	return first === undefined
		? notation.profile('1g.10gb')
		: first.profile === undefined
			? notation.instance(first)
			: notation.profile(first.profile);
}

function instancesProblem(mig: InstanceNeed, {count, need}: Wanted, observation: Observation, gpuCount: number) {
	const readings = readingsByIndex(observation.gpus, gpuCount);
	const fit = readings
		.entries()
		.filter(([, reading]) => meets(need!, reading) === true)
		.toArray();
	/** Requirements to append to `GPU`. Empty if every GPU meets them. */
	const besides = fit.length === readings.length ? '' : cutShort(needText(need));
	const gpusHint = `The GPUs: ${inventoryText(observation.gpus)}.`;
	const all = readings.flatMap((reading) => instancesOf(reading) ?? []);
	if ('instances' in mig) {
		const missing = mig.instances.find(({gpu, number}) =>
			all.every((instance) => instance.gpu !== gpu || instance.number !== number),
		);
		return missing === undefined
			? impossible(
					`${wantedInstanceText(mig, count)} ${mig.instances.length === 1 ? 'belongs to no GPU' : 'do not all belong to GPUs'}${besides}`,
					gpusHint,
				)
			: missingProblem(missing.gpu, instanceText(missing), readings[missing.gpu]);
	}

	if (all.length === 0) {
		return readings.some((reading) => isWhole(reading) === false)
			? impossible(
					'MIG is on in this pool, but there are no instances yet',
					'An administrator can create them with nvidia-smi mig.',
				)
			: impossible(
					'No GPU of this pool is split by MIG',
					({mig: field, share}) =>
						`For whole GPUs, leave out ${field}. If the policy allows it, ${share} reserves a part of a GPU.`,
				);
	}

	const suitable = instancesFor(mig, fit).instances.length;
	const hint = `The pool has ${inventoryOf(all)}.${besides === '' ? '' : ` ${gpusHint}`}`;
	if (suitable > 0) {
		const on = besides === '' ? '' : `, on GPUs${besides}`;
		return impossible(`Cannot reserve ${wantedInstanceText(mig, count)}${on}: this pool has ${suitable}`, hint);
	}

	return impossible(
		besides === ''
			? `No MIG instance of this pool is ${mig.profile} or larger`
			: `No GPU${besides} in this pool has a MIG instance of ${mig.profile} or larger`,
		hint,
	);
}

type Circumstances = {
	readonly eligibility: Eligibility;
	readonly observation: Observation | undefined;
	readonly gpuCount: number;
	readonly links?: GpuLinks;
};

/** Returns why GPUs that were requested by id can never meet the need: the GPUs are split by MIG, or do not meet a requirement. */
function namedProblem(ids: readonly number[], need: Need, readings: readonly GpuReading[], hint: Hint): CanhazgpuError {
	const named = readings.filter((reading) => isWhole(reading) === false && ids.includes(reading.index));
	if (named.length > 0) {
		const isOne = named.length === 1;
		return impossible(
			`${gpuNames(named)} ${isOne ? 'is' : 'are'} split by MIG, so ${isOne ? 'it' : 'they'} cannot be reserved whole`,
			(notation) => splitHint(named, notation),
		);
	}

	const unfit = ids.filter((id) => {
		const reading = readings.find(({index}) => index === id);
		return meets(need, reading) === false;
	});
	const which = unfit.length > 0 ? unfit : ids;
	const words = which.length === 1 ? `GPU ${which[0]!} is not a GPU` : `GPUs ${which.join(', ')} are not GPUs`;
	return impossible(`${words}${cutShort(needText(need))}`, hint);
}

/** Throws `impossible` if this pool can never serve the need. The hint of the error lists what the pool has. */
export function requirePossible(wanted: Wanted, {eligibility, observation, gpuCount, links}: Circumstances): void {
	if (eligibility.isPossible || observation === undefined) {
		return;
	}

	const {need = {}, ids, count} = wanted;
	const ofPool = observation.gpus.filter(({index}) => index < gpuCount);
	if (need.mig !== undefined) {
		throw instancesProblem(need.mig, wanted, observation, gpuCount);
	}

	const split = ofPool.filter((reading) => isWhole(reading) === false);
	const doubtful = ofPool.filter((reading) => isWhole(reading) === undefined);
	const hasMig = split.length > 0 || doubtful.length > 0;
	const inventory = inventoryText(ofPool.filter((reading) => isWhole(reading) === true));
	const hint: Hint = (notation) => {
		const hints = [
			...(inventory === '' ? [] : [`The pool has ${inventory}${hasMig ? ' not split by MIG' : ''}.`]),
			...(doubtful.length === 0 ? [] : [`Whether ${gpuNames(doubtful)} can be reserved whole is unknown.`]),
			...(split.length === 0
				? []
				: [`On a GPU that is split by MIG, ask for an instance: ${migExample(split, notation)}.`]),
		];
		return hints.length === 0 ? undefined : hints.join(' ');
	};

	if (ids !== undefined) {
		throw namedProblem(ids, need, observation.gpus, hint);
	}

	const most = mostPossible(wanted, observation, gpuCount, links);
	if (split.length > 0 && split.length === ofPool.length) {
		throw impossible('Every GPU of this pool is split by MIG, so only instances can be reserved', hint);
	}

	if (most === 0) {
		const words = needText({...need, sameModel: false, nvlink: count > 1 ? need.nvlink : false});
		throw impossible(`No GPU${cutShort(words)} in this pool`, hint);
	}

	// The user may not know that all GPUs must be of the same model by default, so the message says it.
	const isByDefault =
		need.sameModel === undefined &&
		eligibilityOf({...wanted, need: {...need, sameModel: false}}, observation, gpuCount, links).isPossible;
	const words = needText({...need, sameModel: isOfOneModel(wanted)});
	throw impossible(`Cannot reserve ${count} GPUs${cutShort(words)}: this pool has at most ${most}`, (notation) =>
		`${hint(notation) ?? ''}${isByDefault ? ` Different models are allowed with ${notation.mixed}.` : ''}`.trim(),
	);
}

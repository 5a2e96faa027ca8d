/**
Which GPUs can serve a need: one answer, from what is known of each GPU. What is unknown never meets a need that names it.
*/
import type {GpuGroup, GpuLinks, GpuReading, Need, Observation} from '../../model/types.js';
import type {Wanted} from './request.js';
import {capacityOf} from './share-fit.js';

/** What a need may ask of a GPU, in words. */
export type Quality = 'model' | 'memory' | 'compute capability' | 'links';

export type Eligibility = {
	/** Groups of GPUs of which any as many as are wanted serve the request. Undefined: all GPUs of the pool are one group. */
	readonly groups: readonly GpuGroup[] | undefined;
	/** GPUs that may have what is needed, with what is unknown of them. */
	readonly unknown: ReadonlyMap<number, Quality>;
	/** False: this pool can never serve it, whatever the unknown readings turn out to be. */
	readonly isPossible: boolean;
	/** False where an unknown reading might change the groups. */
	readonly isCertain: boolean;
};

/** Of a request that asks for nothing but a number of GPUs, or for those that it names. */
export const anyGpus: Eligibility = {groups: undefined, unknown: new Map(), isPossible: true, isCertain: true};

const wordsOf = (text: string): readonly string[] =>
	text
		.toLowerCase()
		.split(/[^\p{Letter}\p{Number}]+/v)
		.filter((word) => word !== '');

/** Whether a model's name has all of these words, in their order and in any case: `a100 80gb` is in `NVIDIA A100-SXM4-80GB`. */
export function isModel(name: string, wanted: string): boolean {
	const missing = [...wordsOf(wanted)];
	if (missing.length === 0) {
		return false;
	}

	for (const word of wordsOf(name)) {
		if (word === missing[0]) {
			missing.shift();
		}
	}

	return missing.length === 0;
}

/** Whether one compute capability, such as `10.0`, is at least another, such as `8.0`. Undefined where it is no such number. */
function isComputeAtLeast(capability: string, least: string): boolean | undefined {
	const [major = NaN, minor = 0] = capability.split('.').map(Number);
	const [leastMajor = NaN, leastMinor = 0] = least.split('.').map(Number);
	return [major, minor, leastMajor, leastMinor].every((part) => Number.isFinite(part))
		? major > leastMajor || (major === leastMajor && minor >= leastMinor)
		: undefined;
}

/** Whether the memory of a GPU that nobody uses is enough for a share. Undefined when it is unknown. */
function isRoomFor(shareMiB: number, reading: GpuReading | undefined): boolean | undefined {
	const capacityMiB = reading && capacityOf(reading);
	return capacityMiB === undefined ? undefined : capacityMiB >= shareMiB;
}

/** Whether a GPU has what is needed of it alone, or what of that is unknown. */
export function meets(
	{minMemoryMiB, shareMiB, models, minCompute}: Need,
	reading: GpuReading | undefined,
): boolean | Exclude<Quality, 'links'> {
	const answers: ReadonlyArray<readonly [Exclude<Quality, 'links'>, boolean | undefined]> = [
		[
			'memory',
			minMemoryMiB === undefined ||
				(reading?.memoryTotalMiB === undefined ? undefined : reading.memoryTotalMiB >= minMemoryMiB),
		],
		['memory', shareMiB === undefined || isRoomFor(shareMiB, reading)],
		[
			'model',
			models === undefined ||
				(reading?.name === undefined ? undefined : models.some((model) => isModel(reading.name!, model))),
		],
		[
			'compute capability',
			minCompute === undefined ||
				(reading?.computeCapability === undefined
					? undefined
					: isComputeAtLeast(reading.computeCapability, minCompute)),
		],
	];
	return answers.every(([, answer]) => answer !== false)
		? (answers.find(([, answer]) => answer === undefined)?.[0] ?? true)
		: false;
}

const isNvlink = (links: GpuLinks | undefined, one: number, other: number): boolean | undefined =>
	links?.[one]?.[other]?.startsWith('NV');

/**
All sets of GPUs that cannot grow in which each is linked to each other, by the algorithm of Bron and Kerbosch.

@param isLinked - Symmetric.
*/
function cliquesOf(gpus: GpuGroup, isLinked: (one: number, other: number) => boolean): readonly GpuGroup[] {
	const found: GpuGroup[] = [];
	const linkedTo = (one: number, others: readonly number[]) => others.filter((other) => isLinked(one, other));
	const grow = (clique: readonly number[], candidates: readonly number[], done: readonly number[]): void => {
		if (candidates.length === 0 && done.length === 0) {
			found.push(clique.toSorted((a, b) => a - b));
			return;
		}

		// What is linked to the pivot is found with the pivot, or in a set without it.
		const pivot = [...candidates, ...done].toSorted(
			(a, b) => linkedTo(b, candidates).length - linkedTo(a, candidates).length,
		)[0]!;
		const tried: number[] = [];
		const branches = candidates.filter((candidate) => !isLinked(pivot, candidate));
		for (const gpu of branches) {
			grow(
				[...clique, gpu],
				linkedTo(
					gpu,
					candidates.filter((candidate) => !tried.includes(candidate)),
				),
				linkedTo(gpu, [...done, ...tried]),
			);
			tried.push(gpu);
		}
	};

	if (gpus.length > 0) {
		grow([], gpus, []);
	}

	return found;
}

type Facts = {
	readonly readings: ReadonlyArray<GpuReading | undefined>;
	readonly links: GpuLinks | undefined;
	/** Whether what is unknown counts as what is needed, to see what could be possible at best. */
	readonly isHopeful: boolean;
};

function groupsFor(wanted: Wanted, {readings, links, isHopeful}: Facts): readonly GpuGroup[] {
	const {ids, need = {}, count} = wanted;
	const fits = (index: number): boolean => {
		const answer = meets(need, readings[index]);
		return typeof answer === 'boolean' ? answer : isHopeful;
	};

	const gpus = (ids ?? readings.map((_, index) => index)).filter((index) => fits(index));
	const models = new Set(gpus.map((index) => readings[index]?.name).filter((name) => name !== undefined));
	// Nobody named the model where it is one by default: then a GPU of unknown model goes with all.
	const mayBeUnknown = isHopeful || need.sameModel !== true;
	const ofModels =
		!isOfOneModel(wanted) || (models.size === 0 && mayBeUnknown)
			? [gpus]
			: Array.from(models, (model) =>
					gpus.filter((index) => {
						const {name} = readings[index] ?? {};
						return name === undefined ? mayBeUnknown : name === model;
					}),
				);
	const linked =
		need.nvlink === true && count > 1
			? ofModels.flatMap((group) =>
					cliquesOf(group, (one, other) => one !== other && (isNvlink(links, one, other) ?? isHopeful)),
				)
			: ofModels;
	return linked.filter((group) => group.length >= count);
}

/** Whether all GPUs of a request have to be of one model. */
export const isOfOneModel = ({count, ids, need}: Wanted): boolean =>
	need?.sameModel ?? (count > 1 && ids === undefined);

/**
@param wanted - As checkWanted returned it.
@param observation - What the GPU tool saw. After a failed scan all is unknown.
@param gpuCount - Size of the pool.
@param links - Undefined: no link is known.
*/
export function eligibilityOf(
	wanted: Wanted,
	observation: Observation,
	gpuCount: number,
	links?: GpuLinks,
): Eligibility {
	const byIndex = new Map(observation.gpus.map((reading) => [reading.index, reading]));
	const readings = Array.from({length: gpuCount}, (_, index) => byIndex.get(index));
	const groups = groupsFor(wanted, {readings, links, isHopeful: false});
	const {need = {}, ids} = wanted;
	const considered = ids ?? readings.map((_, index) => index);
	const unknown = new Map<number, Quality>();
	let isCertain = true;
	for (const index of considered) {
		const answer = meets(need, readings[index]);
		const isModelUnknown = answer === true && isOfOneModel(wanted) && readings[index]?.name === undefined;
		const areLinksUnknown =
			answer === true &&
			need.nvlink === true &&
			considered.some((other) => other !== index && isNvlink(links, index, other) === undefined);
		if (typeof answer !== 'boolean') {
			unknown.set(index, answer);
		} else if (isModelUnknown && need.sameModel === true) {
			unknown.set(index, 'model');
		} else if (areLinksUnknown) {
			unknown.set(index, 'links');
		}

		isCertain &&= !unknown.has(index) && !isModelUnknown;
	}

	const isPlain = asksForNothing(need) && (ids !== undefined || groups[0]?.length === gpuCount);
	return {
		groups: isPlain ? undefined : groups,
		unknown,
		isPossible: groups.length > 0 || groupsFor(wanted, {readings, links, isHopeful: true}).length > 0,
		isCertain,
	};
}

const asksForNothing = ({minMemoryMiB, shareMiB, models, minCompute, sameModel, nvlink}: Need): boolean =>
	minMemoryMiB === undefined &&
	shareMiB === undefined &&
	models === undefined &&
	minCompute === undefined &&
	sameModel !== true &&
	nvlink !== true;

/** The GPUs of all groups, ascending. */
export const gpusOf = (groups: readonly GpuGroup[]): GpuGroup => [...new Set(groups.flat())].toSorted((a, b) => a - b);

/** Whether two entries may have the same GPUs. */
export const isSameGroups = (one: readonly GpuGroup[] | undefined, other: readonly GpuGroup[] | undefined): boolean =>
	JSON.stringify(one) === JSON.stringify(other);

/** Whether a scan of the GPUs can make a difference to which of them serve a request. */
export const dependsOnGpus = (wanted: Wanted): boolean => wanted.need !== undefined || isOfOneModel(wanted);

/**
What an entry has to say of its GPUs after another scan. Where something could not be read, it takes nothing back: such a GPU is not handed
out anyway, and a reading that fails for a moment must not cost anybody the claim to a GPU.

@param current - What the entry says now.
@param possible - Which of that this pool has: see groupsOf in queue/eligible.ts.
*/
export function groupsAfterLook(
	current: readonly GpuGroup[] | undefined,
	possible: readonly GpuGroup[],
	{groups, isCertain}: Eligibility,
): readonly GpuGroup[] | undefined {
	const loses =
		groups !== undefined && possible.some((group) => groups.every((one) => group.some((gpu) => !one.includes(gpu))));
	return !isCertain && loses ? current : groups;
}

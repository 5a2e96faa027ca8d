/** Decides which GPUs can serve a need. If a quality of a GPU, such as its memory, is unknown, the GPU meets no requirement for this quality. */
import type {GpuGroup, GpuLinks, GpuReading, InstanceOfGpu, Need, Observation, QueueEntry} from '../../model/types.js';
import {isWhole} from '../mig/instances.js';
import type {Wanted} from '../request/request.js';
import {instancesFor} from './instances.js';
import {capacityOf} from './gpu-candidate.js';

export type Quality = 'model' | 'memory' | 'compute capability' | 'links' | 'MIG mode' | 'MIG instances';

type OwnQuality = Exclude<Quality, 'links' | 'MIG instances'>;

export type Eligibility = {
	/** The groups of GPUs that can serve the request. Undefined if all GPUs of the pool form a single group. */
	readonly groups: readonly GpuGroup[] | undefined;
	/** The groups, if every group has too few GPUs for the request. Used for a message about how many GPUs are free. */
	readonly tooSmall?: readonly GpuGroup[];
	readonly instances?: readonly InstanceOfGpu[];
	/** GPUs that may meet the need, each with the quality that is unknown. */
	readonly unknown: ReadonlyMap<number, Quality>;
	/** False if this pool can never serve the request, whatever the unknown qualities turn out to be. */
	readonly isPossible: boolean;
	/** False if an unknown reading could change the groups once it is known. */
	readonly isCertain: boolean;
};

export const anyGpus: Eligibility = {groups: undefined, unknown: new Map(), isPossible: true, isCertain: true};

const wordsOf = (text: string): readonly string[] =>
	text
		.toLowerCase()
		.split(/[^\p{Letter}\p{Number}]+/v)
		.filter((word) => word !== '');

/** Returns whether a GPU's name contains all wanted words in the same order. Ignores case: `a100 80gb` matches `NVIDIA A100-SXM4-80GB`. */
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

function isComputeAtLeast(capability: string, least: string): boolean | undefined {
	const [major = NaN, minor = 0] = capability.split('.').map(Number);
	const [leastMajor = NaN, leastMinor = 0] = least.split('.').map(Number);
	return [major, minor, leastMajor, leastMinor].every((part) => Number.isFinite(part))
		? major > leastMajor || (major === leastMajor && minor >= leastMinor)
		: undefined;
}

/** Returns whether a share fits on the GPU while the GPU is empty. Undefined if unknown. */
function isRoomFor(shareMiB: number, reading: GpuReading | undefined): boolean | undefined {
	const capacityMiB = reading && capacityOf(reading);
	return capacityMiB === undefined ? undefined : capacityMiB >= shareMiB;
}

/** Returns whether one GPU meets the need, or which quality is unknown. A GPU in MIG mode can only serve requests for MIG instances. */
export function meets(
	{minMemoryMiB, shareMiB, mig, models, minCompute}: Need,
	reading: GpuReading | undefined,
): boolean | OwnQuality {
	let unknown: OwnQuality | undefined;
	const mayHave = (quality: OwnQuality, answer: boolean | undefined): boolean => {
		if (answer === undefined) {
			unknown ??= quality;
		}

		return answer !== false;
	};

	const {memoryTotalMiB, name, computeCapability} = reading ?? {};
	return (
		(mig !== undefined || mayHave('MIG mode', isWhole(reading))) &&
		(minMemoryMiB === undefined ||
			mayHave('memory', memoryTotalMiB === undefined ? undefined : memoryTotalMiB >= minMemoryMiB)) &&
		(shareMiB === undefined || mayHave('memory', isRoomFor(shareMiB, reading))) &&
		(models === undefined ||
			mayHave('model', name === undefined ? undefined : models.some((model) => isModel(name, model)))) &&
		(minCompute === undefined ||
			mayHave(
				'compute capability',
				computeCapability === undefined ? undefined : isComputeAtLeast(computeCapability, minCompute),
			)) &&
		(unknown ?? true)
	);
}

function isNvlink(links: GpuLinks | undefined, one: number, other: number): boolean | undefined {
	const link = links?.[one]?.[other];
	return link === undefined ? undefined : link === 'XGMI' || link.startsWith('NV');
}

/** Returns all maximal sets in which every two GPUs are linked, by the Bron-Kerbosch algorithm. `isLinked` must be symmetric. */
function cliquesOf(gpus: GpuGroup, isLinked: (one: number, other: number) => boolean): readonly GpuGroup[] {
	const found: GpuGroup[] = [];
	const linkedTo = (one: number, others: readonly number[]) => others.filter((other) => isLinked(one, other));
	const grow = (clique: readonly number[], candidates: readonly number[], done: readonly number[]): void => {
		if (candidates.length === 0 && done.length === 0) {
			found.push(clique.toSorted((a, b) => a - b));
			return;
		}

		// Candidates that are linked to the pivot need no step of their own. Each set with such a candidate is found by another step, because it
		// also contains the pivot or a GPU that is not linked to the pivot.
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
	readonly answers: ReadonlyArray<boolean | OwnQuality>;
	readonly links: GpuLinks | undefined;
	/** Whether a GPU with an unknown quality is assumed to meet the need, to find out whether the request could ever be served. */
	readonly isHopeful: boolean;
};

function groupsFor(wanted: Wanted, {readings, answers, links, isHopeful}: Facts): readonly GpuGroup[] {
	const {ids, need = {}, count} = wanted;
	const gpus = (ids ?? readings.map((_, index) => index)).filter((index) => {
		const answer = answers[index]!;
		return typeof answer === 'boolean' ? answer : isHopeful;
	});
	const models = new Set(gpus.map((index) => readings[index]?.name).filter((name) => name !== undefined));
	// Unless the user asked for a single model, a GPU of unknown model can be combined with all others.
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
	return linked;
}

export const isOfOneModel = ({count, ids, need}: Wanted): boolean =>
	need?.sameModel ?? (count > 1 && ids === undefined && need?.mig === undefined);

export function readingsByIndex(gpus: readonly GpuReading[], gpuCount: number): ReadonlyArray<GpuReading | undefined> {
	// Fast path: usually the scan shows every GPU, in the order of the indices.
	if (gpus.length === gpuCount && gpus.every(({index}, position) => index === position)) {
		return gpus;
	}

	const readings = Array.from<GpuReading | undefined>({length: gpuCount});
	for (const reading of gpus) {
		if (reading.index < gpuCount) {
			readings[reading.index] = reading;
		}
	}

	return readings;
}

const isServedByAny = (wanted: Wanted, readings: ReadonlyArray<GpuReading | undefined>): boolean =>
	wanted.ids === undefined &&
	asksForNothing(wanted.need ?? {}) &&
	!isOfOneModel(wanted) &&
	readings.every((reading) => isWhole(reading) === true);

/** Returns the GPUs that can serve a request. `wanted` must come from checkWanted. Without `links`, no link between GPUs is known. */
export function eligibilityOf(
	wanted: Wanted,
	observation: Observation,
	gpuCount: number,
	links?: GpuLinks,
): Eligibility {
	const readings = readingsByIndex(observation.gpus, gpuCount);
	if (wanted.need?.mig !== undefined) {
		return instanceEligibility(wanted, wanted.need, readings);
	}

	if (isServedByAny(wanted, readings)) {
		return {...anyGpus, isPossible: wanted.count <= gpuCount};
	}

	const {need = {}, ids} = wanted;
	const answers = readings.map((reading) => meets(need, reading));
	const isEnough = (group: GpuGroup): boolean => group.length >= wanted.count;
	const certain = groupsFor(wanted, {readings, answers, links, isHopeful: false});
	const groups = certain.filter((group) => isEnough(group));
	const considered = ids ?? readings.map((_, index) => index);
	/** Returns the unknown quality of a GPU, if any. An unknown model or link matters too, because the GPU's groups depend on it. */
	const unknownOf = (index: number, isModelUnknown: boolean): Quality | undefined => {
		const answer = answers[index]!;
		if (typeof answer === 'string') {
			return answer;
		}

		if (isModelUnknown && need.sameModel === true) {
			return 'model';
		}

		const isLinkUnknown = (other: number) => other !== index && isNvlink(links, index, other) === undefined;
		return answer && need.nvlink === true && considered.some((other) => isLinkUnknown(other)) ? 'links' : undefined;
	};

	const unknown = new Map<number, Quality>();
	let isCertain = true;
	for (const index of considered) {
		const isModelUnknown = answers[index] === true && isOfOneModel(wanted) && readings[index]?.name === undefined;
		const quality = unknownOf(index, isModelUnknown);
		if (quality !== undefined) {
			unknown.set(index, quality);
		}

		isCertain &&= quality === undefined && !isModelUnknown;
	}

	const isPlain =
		asksForNothing(need) &&
		(ids === undefined ? groups[0]?.length === gpuCount : ids.every((index) => isWhole(readings[index]) === true));
	return {
		groups: isPlain ? undefined : groups,
		...(groups.length === 0 && {tooSmall: certain}),
		unknown,
		isPossible:
			groups.length > 0 ||
			groupsFor(wanted, {readings, answers, links, isHopeful: true}).some((group) => isEnough(group)),
		isCertain,
	};
}

/** Returns the most GPUs that a request with this need could get if none were in use. Ignores links, which are read only on demand. */
export function mostGpusFor(need: Need, observation: Observation, gpuCount: number): number {
	const mostOf = (count: number): number => {
		const {groups} = eligibilityOf({count, need: {...need, nvlink: undefined}}, observation, gpuCount);
		return groups === undefined ? gpuCount : Math.max(0, ...groups.map((group) => group.length));
	};

	// A count of 1 puts GPUs of different models into one group, so only a count of 2 shows how many GPUs can be combined.
	return Math.max(mostOf(2), Math.min(1, mostOf(1)));
}

function instanceEligibility(
	{count}: Wanted,
	need: Need,
	readings: ReadonlyArray<GpuReading | undefined>,
): Eligibility {
	const answers = readings.map((reading, index) => ({index, reading, answer: meets(need, reading)}));
	const suitable = answers.filter(({answer}) => answer === true);
	const {instances, unknown: unread} = instancesFor(
		need.mig!,
		suitable.map(({index, reading}) => [index, reading]),
	);
	const unknown = new Map<number, Quality>(unread.map((index) => [index, 'MIG instances']));
	for (const {index, reading, answer} of answers) {
		if (typeof answer !== 'boolean' && instancesFor(need.mig!, [[index, reading]]).instances.length > 0) {
			unknown.set(index, answer);
		}
	}

	const isEnough = instances.length >= count;
	return {
		groups: isEnough ? [[...new Set(instances.map(({gpu}) => gpu))]] : [],
		instances: isEnough ? instances : [],
		unknown,
		isPossible: isEnough || unknown.size > 0,
		isCertain: unknown.size === 0,
	};
}

const asksForNothing = ({minMemoryMiB, shareMiB, models, minCompute, sameModel, nvlink}: Need): boolean =>
	minMemoryMiB === undefined &&
	shareMiB === undefined &&
	models === undefined &&
	minCompute === undefined &&
	sameModel !== true &&
	nvlink !== true;

export const gpusOf = (groups: readonly GpuGroup[]): GpuGroup => [...new Set(groups.flat())].toSorted((a, b) => a - b);

export const dependsOnGpus = (wanted: Wanted): boolean => wanted.need !== undefined || isOfOneModel(wanted);

export type Eligible = Pick<QueueEntry, 'eligible' | 'eligibleInstances'>;

export const eligibleOf = ({groups, instances}: Eligibility): Eligible => ({
	eligible: groups,
	eligibleInstances: instances?.map(({gpu, uuid}) => ({gpu, uuid})),
});

export const isSameEligible = (one: Eligible, other: Eligible): boolean =>
	JSON.stringify(one.eligible) === JSON.stringify(other.eligible) &&
	JSON.stringify(one.eligibleInstances ?? []) === JSON.stringify(other.eligibleInstances ?? []);

/**
Returns the eligible GPUs to store in an entry after a scan. A GPU that cannot be read stays eligible, so that the entry keeps its claim to the GPU
during a brief failure. `current` is the stored value. `possible` is the part of `current` that exists in this pool: see groupsOf in
queue/eligible.ts.
*/
export function eligibleAfterScan(
	current: Eligible,
	possible: readonly GpuGroup[],
	eligibility: Eligibility,
): Eligible {
	const {groups, instances, isCertain} = eligibility;
	const losesInstance = (current.eligibleInstances ?? []).some(({uuid}) =>
		instances?.every((instance) => instance.uuid !== uuid),
	);
	const losesGroup =
		groups !== undefined && possible.some((group) => groups.every((one) => group.some((gpu) => !one.includes(gpu))));
	const loses = instances === undefined ? losesGroup : losesInstance;
	return !isCertain && loses
		? {eligible: current.eligible, eligibleInstances: current.eligibleInstances}
		: eligibleOf(eligibility);
}

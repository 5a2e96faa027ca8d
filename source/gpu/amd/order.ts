import {type JsonObject, readIndex} from './json.js';

/**
Returns the numbers that programs use for the GPUs. AMD's tools number GPUs in the order of detection. HIP, and `hip_id` of `amd-smi list -e`, number
the nodes of the kernel's topology. On some machines, these two numbers of a GPU differ. Jobs need HIP's numbers, so they are the GPU ids here. GPUs
without a node come last, because HIP does not count them. If the tool reports no nodes, or one node for two GPUs, its own numbers are used.
@param listed - The tool's facts about each GPU. Several GPUs must all be listed.
*/
export const numbersForPrograms = (
	indices: readonly number[],
	listed: ReadonlyMap<number, JsonObject>,
): ReadonlyMap<number, number> => {
	const numbers = indices.toSorted((a, b) => a - b);
	const nodes = new Map(numbers.map((index) => [index, readIndex(listed.get(index)?.['node_id'])]));
	const nodesOfAll = numbers.flatMap((index) => nodes.get(index) ?? []);
	const isUnique = new Set(nodesOfAll).size === nodesOfAll.length;
	const rankOf = (index: number): number => nodes.get(index) ?? Number.MAX_SAFE_INTEGER;
	const counted = isUnique ? numbers.toSorted((a, b) => rankOf(a) - rankOf(b)) : numbers;
	return new Map(counted.map((index, position) => [index, numbers[position] ?? index]));
};

/** Gives GPUs the numbers that programs use, and sorts the GPUs by these numbers. */
export const inOrderOfPrograms = <Gpu extends {readonly index: number}>(
	gpus: readonly Gpu[],
	numbers: ReadonlyMap<number, number>,
): readonly Gpu[] =>
	gpus.map((gpu) => ({...gpu, index: numbers.get(gpu.index) ?? gpu.index})).toSorted((a, b) => a.index - b.index);

import {type JsonObject, readIndex} from './json.js';

/**
Which number programs know each GPU by. AMD's tools count in the order in which they find the devices, HIP by the nodes of the kernel's
topology (`hip_id` of `amd-smi list -e` is made of the node, too). The two agree on most machines, not on all; and a job gets its
GPUs in HIP's numbers, so those are the GPU ids here. What is no node of that topology comes last, as HIP does not count it at all.

The tool's own count stands where it tells no nodes, or not of every GPU.

@param listed - What the tool lists of each GPU.
*/
export const numbersForPrograms = (
	indices: readonly number[],
	listed: ReadonlyMap<number, JsonObject>,
): ReadonlyMap<number, number> => {
	const numbers = indices.toSorted((a, b) => a - b);
	const nodes = new Map(numbers.map((index) => [index, readIndex(listed.get(index)?.['node_id'])]));
	const nodesOfAll = numbers.flatMap((index) => nodes.get(index) ?? []);
	const isWhole = numbers.every((index) => listed.has(index)) && new Set(nodesOfAll).size === nodesOfAll.length;
	const rankOf = (index: number): number => nodes.get(index) ?? Number.MAX_SAFE_INTEGER;
	// Equal GPUs keep their order.
	const counted = isWhole ? numbers.toSorted((a, b) => rankOf(a) - rankOf(b)) : numbers;
	return new Map(counted.map((index, position) => [index, numbers[position] ?? index]));
};

/** The GPUs by the numbers that programs know them by. */
export const inOrderOfPrograms = <Gpu extends {readonly index: number}>(
	gpus: readonly Gpu[],
	numbers: ReadonlyMap<number, number>,
): readonly Gpu[] =>
	gpus.map((gpu) => ({...gpu, index: numbers.get(gpu.index) ?? gpu.index})).toSorted((a, b) => a.index - b.index);

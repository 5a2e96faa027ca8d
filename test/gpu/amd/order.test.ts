import * as fc from 'fast-check';
import {expect, test} from 'vitest';
import {numbersForPrograms} from '../../../source/gpu/amd/order.js';
import {busy, idle, json, listOf, metricOf, observe, setUp, staticOf} from './set-up.js';

/** Returns the number that programs use for each GPU 0, 1, ..., given their nodes. */
const numbersOf = (nodes: ReadonlyArray<number | string | undefined>) => {
	const listed = new Map(nodes.map((node, index) => [index, node === undefined ? {} : {node_id: node}]));
	const numbers = numbersForPrograms(listed.keys().toArray(), listed);
	return nodes.map((_, index) => numbers.get(index));
};

test.each([
	['in the order of the tool', [2, 3, 4], [0, 1, 2]],
	['in reverse order', [9, 5, 2], [2, 1, 0]],
	['by node numbers given as text, as in rocm-smi', ['10', '9'], [1, 0]],
	['in the order of the tool if no nodes are known', [undefined, undefined], [0, 1]],
	['in the order of the tool if two have the same node', [7, 7, 3], [0, 1, 2]],
	['with an invalid node last', ['N/A', 5, 2, 3], [3, 2, 0, 1]],
])('numbersForPrograms numbers GPUs %s', (_name, nodes, numbers) => {
	expect(numbersOf(nodes)).toEqual(numbers);
});

test("numbersForPrograms keeps the tool's order if a GPU is missing from the list", () => {
	const numbers = numbersForPrograms(
		[0, 1, 2],
		new Map([
			[0, {node_id: 3}],
			[1, {node_id: 2}],
		]),
	);
	expect(Object.fromEntries(numbers)).toEqual({0: 0, 1: 1, 2: 2});
});

test('numbersForPrograms never loses a GPU or counts it twice', () => {
	const node = fc.option(fc.nat(6), {nil: undefined});
	fc.assert(
		fc.property(fc.uniqueArray(fc.nat(9)), fc.array(node, {minLength: 10, maxLength: 10}), (indices, nodes) => {
			const listed = new Map(nodes.map((one, index) => [index, one === undefined ? {} : {node_id: one}]));
			const numbers = numbersForPrograms(indices, listed);
			expect(new Set(numbers.keys())).toEqual(new Set(indices));
			expect(new Set(numbers.values())).toEqual(new Set(indices));
		}),
	);
});

test('amd-smi readings stay with their GPU if programs number the GPUs differently', async () => {
	const {gpus} = await observe({
		metric: json([metricOf(0), metricOf(1, 40_000)]),
		process: json([idle(0), busy(1, 2 ** 22 + 7, 2 ** 30)]),
		static: json([staticOf(0), staticOf(1)]),
		list: json([
			{...listOf(0), node_id: 4},
			{...listOf(1), node_id: 3},
			{...listOf(2), node_id: 2},
		]),
	});
	expect(gpus).toMatchObject([
		{index: 0, uuid: 'uuid-2', failure: 'the GPU is listed, but without readings'},
		{index: 1, uuid: 'uuid-1', memoryUsedMiB: 40_000, processes: [{pid: 2 ** 22 + 7}]},
		{index: 2, uuid: 'uuid-0', memoryUsedMiB: 300, processes: []},
	]);
});

test('rocm-smi readings stay with their GPU if programs number the GPUs differently', async () => {
	const card = (node: string, used: number) => ({
		'Node ID': node,
		'VRAM Total Used Memory (B)': String(used * 2 ** 20),
	});
	const {provider} = await setUp({
		oldAnswers: {
			'--showproductname': json({card0: card('2', 20), card1: card('1', 5000)}),
			'--showpids': json({system: {PID4194311: 'python3, 1, 1073741824, 0, 0'}}),
			'--showpidgpus': {stdout: 'PID 4194311 is using 1 DRM device(s):\n1 \n'},
		},
	});
	const {gpus} = await provider.observe();
	expect(gpus).toMatchObject([
		{index: 0, memoryUsedMiB: 5000, processes: [{pid: 4_194_311}]},
		{index: 1, memoryUsedMiB: 20, processes: []},
	]);
});

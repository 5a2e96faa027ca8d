import * as fc from 'fast-check';
import {expect, test} from 'vitest';
import {createAmdProvider} from '../../../source/gpu/amd/amd.js';
import {numbersForPrograms} from '../../../source/gpu/amd/order.js';
import type {RunTool} from '../../../source/gpu/tool/tool.js';
import {describeProcesses} from '../nvidia/set-up.js';
import type {Answer} from '../nvidia/stub-nvidia-smi.js';
import {busy, goodAnswers, idle, json, listOf, metricOf, observe, setUp, staticOf} from './set-up.js';

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

/** Lists GPUs whose numbers for programs are the reverse of the tool's numbers. */
const reversed = (...indices: readonly number[]) =>
	json(indices.map((index) => ({...listOf(index), node_id: 9 - index})));

/**
Creates a provider whose `amd-smi list` gives these answers one after another, and the last one from then on. Of two GPUs, the tool's GPU 1 is in use.
Each call of the result scans once, after the constant values are due again.
*/
const scanWithLists = (...lists: readonly Answer[]) => {
	let nowMs = 0;
	let position = 0;
	const asked: string[] = [];
	const run: RunTool = async (_command, [command = '']) => {
		asked.push(command);
		const answer = command === 'list' ? lists[Math.min(position++, lists.length - 1)] : goodAnswers[command];
		return {stdout: '', stderr: '', exitCode: 0, ...answer};
	};

	const provider = createAmdProvider({run, describeProcesses, monotonicMs: () => nowMs});
	return async () => {
		nowMs += 600_000;
		asked.length = 0;
		const {gpus, failure} = await provider.observe();
		return {
			usedMiB: gpus.map(({memoryUsedMiB}) => memoryUsedMiB),
			failure,
			listCount: asked.filter((command) => command === 'list').length,
		};
	};
};

const broken = {stderr: 'Traceback', exitCode: 1};

test('the AMD provider keeps the last good list of amd-smi if a later one fails', async () => {
	const scan = scanWithLists(reversed(0, 1), broken);
	expect(await scan()).toEqual({usedMiB: [40_000, 300], failure: undefined, listCount: 1});
	expect(await scan()).toEqual({usedMiB: [40_000, 300], failure: undefined, listCount: 1});
});

test.each([
	['failed', broken],
	['lacks a GPU', reversed(0)],
	['is empty', json([])],
])('the AMD provider asks amd-smi for the list again in the same scan if the list %s', async (_name, first) => {
	const scan = scanWithLists(first, reversed(0, 1));
	expect(await scan()).toEqual({usedMiB: [40_000, 300], failure: undefined, listCount: 2});
	expect(await scan()).toEqual({usedMiB: [40_000, 300], failure: undefined, listCount: 1});
});

test.each([
	['fails', broken, 'It failed: amd-smi exited with 1.'],
	['lacks a GPU', reversed(0), 'Run it to see which GPUs it lists.'],
])('a scan of several AMD GPUs fails as long as the list of amd-smi %s', async (_name, list, hint) => {
	const scan = scanWithLists(list, list, reversed(0, 1));
	expect(await scan()).toEqual({
		usedMiB: [],
		failure: {
			message: '`amd-smi list` does not name every GPU, so it is unknown which readings belong to which GPU.',
			hint,
		},
		listCount: 2,
	});
	expect(await scan()).toEqual({usedMiB: [40_000, 300], failure: undefined, listCount: 1});
});

test('a single AMD GPU needs no list of amd-smi', async () => {
	const {gpus, failure} = await observe({metric: json([metricOf(0)]), list: broken});
	expect(failure).toBeUndefined();
	expect(gpus).toMatchObject([{index: 0, memoryUsedMiB: 300}]);
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

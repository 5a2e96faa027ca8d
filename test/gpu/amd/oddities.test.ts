/** Unusual output of AMD's tools, as seen on real machines. */
import {expect, test} from 'vitest';
import {busy, idle, json, metricOf, observe, setUp, staticOf} from './set-up.js';

const text = (...documents: readonly unknown[]) => ({
	stdout: documents.map((document) => `${JSON.stringify(document, undefined, 4)}\n`).join(''),
});

test.each([
	['its JSON printed twice', text([metricOf(0), metricOf(1)], [metricOf(0), metricOf(1)])],
	['a list of processors first', text([{cpu: 0, power: 'N/A'}], [metricOf(0), metricOf(1)])],
	['processors next to the GPUs', text({cpu_data: [{cpu: 0}], gpu_data: [metricOf(0), metricOf(1)]})],
])('the AMD provider accepts output of amd-smi with %s', async (_name, metric) => {
	const {gpus, warnings} = await observe({metric, process: json([idle(0), idle(1)])});
	expect(gpus).toMatchObject([
		{memoryUsedMiB: 300, processes: []},
		{memoryUsedMiB: 300, processes: []},
	]);
	expect(warnings).toEqual([]);
});

/** The second partition of a GPU. Only the first partition reports values of the whole GPU. */
const partition = {
	...metricOf(1),
	usage: 'N/A',
	power: {socket_power: 'N/A', throttle_status: 'N/A'},
	temperature: {edge: 'N/A', hotspot: 'N/A', mem: 'N/A'},
	ecc: 'N/A',
};

test('the AMD provider accepts a GPU partition of which only the memory can be read', async () => {
	const {gpus} = await observe({metric: json([metricOf(0), partition]), process: json([idle(0), idle(1)])});
	expect(gpus[1]).toMatchObject({
		failure: undefined,
		memoryUsedMiB: 300,
		utilizationPercent: undefined,
		powerWatts: undefined,
		temperatureCelsius: undefined,
		eccUncorrectedErrors: undefined,
		processes: [],
	});
});

test('the AMD provider reports a GPU without any reading as failed, even if its memory size is known', async () => {
	const {gpus} = await observe({
		metric: json([metricOf(0), {...partition, mem_usage: 'N/A'}]),
		static: json([staticOf(0), staticOf(1)]),
	});
	expect(gpus[1]).toMatchObject({failure: 'no readings (N/A)', memoryTotalMiB: 196_608, processes: undefined});
});

test('the AMD provider reads 0 of 0 MB as unknown memory', async () => {
	const nothing = {value: 0, unit: 'MB'};
	const {gpus} = await observe({
		metric: json([{...metricOf(0), mem_usage: {used_vram: nothing, total_vram: nothing}}]),
		process: json([idle(0)]),
	});
	expect(gpus[0]).toMatchObject({memoryUsedMiB: undefined, memoryTotalMiB: undefined, processes: undefined});
});

test('the AMD provider does not report a GPU with unknown memory as idle', async () => {
	const unknown = {...metricOf(1), mem_usage: {used_vram: 'N/A', total_vram: 'N/A'}};
	const metric = json([{...unknown, gpu: 0}, unknown]);
	const {gpus} = await observe({metric, process: json([idle(0), busy(1, 2 ** 22 + 7, 0)])});
	expect(gpus.map(({failure, processes}) => [failure, processes?.length])).toEqual([
		[undefined, undefined],
		[undefined, 1],
	]);
});

test.each([
	[{value: -1, unit: 'MB'}, '-1 MB'],
	[{value: 4_294_967_295, unit: 'B'}, 4096],
	[{value: 4_294_967_295, unit: 'GB'}, '4294967295 GB'],
	[{unit: 'MB'}, ''],
	['12 apples', '12 apples'],
])('the AMD provider reads memory given as %j as %j', async (used, reported) => {
	const {gpus} = await observe({metric: json([{...metricOf(0), mem_usage: {used_vram: used}}])});
	expect(gpus[0]?.memoryUsedMiB ?? gpus[0]?.unknown['memoryUsedMiB']).toBe(reported);
});

test('an invalid number in the output of amd-smi affects only its own field', async () => {
	const metric = {stdout: JSON.stringify([metricOf(0), metricOf(1)]).replace('"value":141', '"value":NaN')};
	const {gpus} = await observe({metric});
	expect(gpus.map(({powerWatts, memoryUsedMiB}) => [powerWatts, memoryUsedMiB])).toEqual([
		[undefined, 300],
		[141, 300],
	]);
});

test.each([['[]'], ['{\n    "gpu_data": []\n}']])(
	'the output %s of amd-smi means that there is no GPU',
	async (stdout) => {
		const {failure} = await observe({metric: {stdout}, list: {stdout: '[]'}});
		expect(failure?.message).toBe('The AMD GPU driver cannot find a GPU.');
	},
);

test('the AMD provider accepts cards without readable memory in the output of rocm-smi', async () => {
	const {provider} = await setUp({
		oldAnswers: {
			'--showproductname': {
				stdout: `ERROR: GPU[1] : Unable to get GPU memory use.\n${JSON.stringify({
					card0: {'GPU use (%)': '0'},
					card1: {'GPU use (%)': '0', 'VRAM Total Used Memory (B)': 'N/A'},
				})}\n`,
				exitCode: 2,
			},
			'--showpids': {stdout: 'WARNING: No JSON data to report\n'},
			'--showpidgpus': {},
		},
	});
	const {gpus, warnings} = await provider.observe();
	expect(gpus.map(({memoryUsedMiB, processes, unknown}) => [memoryUsedMiB, processes, unknown])).toEqual([
		[undefined, undefined, {}],
		[undefined, undefined, {memoryUsedMiB: 'N/A'}],
	]);
	expect(warnings).toContain('ERROR: GPU[1] : Unable to get GPU memory use.');
});

test.each([
	[{mem_usage: {value: 0, unit: 'B'}}, undefined],
	[{mem: {value: 3_145_728, unit: 'B'}}, 3],
	[{mem_usage: {value: 0, unit: 'B'}, memory_usage: {vram_mem: {value: 2_097_152, unit: 'B'}}}, 2],
	[{mem_usage: {value: 0, unit: 'B'}, memory_usage: {vram_mem: {value: 0, unit: 'B'}}}, 0],
])('the AMD provider reads the memory of a process, %j, as %j MiB', async (memory, reported) => {
	const {gpus} = await observe({
		metric: json([metricOf(0)]),
		process: json([{gpu: 0, process_list: [{process_info: {name: 'rvs', pid: 2 ** 22 + 7, ...memory}}]}]),
	});
	expect(gpus[0]?.processes).toMatchObject([{memoryUsedMiB: reported}]);
});

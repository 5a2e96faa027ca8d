import process from 'node:process';
import {expect, test, vi} from 'vitest';
import {judgeUsage} from '../../../source/core/rules/usage/gpu-usage.js';
import {createAmdProvider} from '../../../source/gpu/amd/amd.js';
import type {RunTool} from '../../../source/gpu/tool/tool.js';
import {patienceMs} from '../../_helpers/eventually.js';
import {describeProcesses, monotonicMs, users} from '../nvidia/set-up.js';
import {busy, goodAnswers, idle, json, listOf, metricOf, observe, setUp, staticOf} from './set-up.js';

const hung = {before: 'sleep 600'};

test('the AMD provider reads every value of two GPUs, and queries constant values only once', async () => {
	const {provider, stub} = await setUp();
	const seen = await provider.observe();
	expect(seen).toMatchObject({provider: 'amd', simulated: false, driverVersion: '6.12.12', warnings: []});
	expect(seen.gpus).toMatchObject([{index: 0, processes: []}, {index: 1}]);
	expect(seen.gpus[1]).toEqual({
		index: 1,
		uuid: 'uuid-1',
		pciBusId: '00000000:02:00.0',
		name: 'AMD Instinct MI300X',
		memoryUsedMiB: 40_000,
		memoryTotalMiB: 196_592,
		utilizationPercent: 88,
		memoryUtilizationPercent: 3,
		temperatureCelsius: 51,
		temperatureLimitCelsius: 100,
		powerWatts: 141,
		powerLimitWatts: 750,
		fanPercent: undefined,
		smClockMHz: 2100,
		memoryClockMHz: 1300,
		throttleReasons: [],
		eccUncorrectedErrors: 0,
		health: [],
		failure: undefined,
		processes: [{pid: 2 ** 22 + 7, name: 'python3', commandLine: 'python3', memoryUsedMiB: 38_000}],
		unknown: {fanPercent: 'N/A'},
	});
	const calls = await stub.calls();
	expect(calls.map((call) => call.split(' ', 1)[0]).toSorted()).toEqual(['list', 'metric', 'process', 'static']);
	// Constant values are queried only once.
	await provider.observe();
	const later = await stub.calls();
	expect(
		later
			.slice(4)
			.map((call) => call.split(' ', 1)[0])
			.toSorted(),
	).toEqual(['metric', 'process']);
});

/** A Strix Halo GPU in the format of ROCm 6.3, with AI models in system memory. */
const integrated = (usedGtt: unknown) => ({
	metric: json([
		{
			...metricOf(0),
			mem_usage: {
				total_vram: {value: 512, unit: 'MB'},
				used_vram: {value: 455, unit: 'MB'},
				total_gtt: {value: 126_976, unit: 'MB'},
				used_gtt: usedGtt,
			},
		},
	]),
	static: json([{...staticOf(0), vram: {type: 'UNKNOWN'}, bus: {bdf: '0000:c4:00.0', max_pcie_width: 'N/A'}}]),
	list: json([listOf(0)]),
	process: json([
		{
			gpu: 0,
			process_list: [
				{
					process_info: {
						name: 'llama-server',
						pid: 4_194_311,
						memory_usage: {vram_mem: {value: 5 * 2 ** 20, unit: 'B'}, gtt_mem: {value: 64_000 * 2 ** 20, unit: 'B'}},
					},
				},
			],
		},
	]),
});

test('the AMD provider counts system memory as the memory of an integrated GPU', async () => {
	const {gpus} = await observe(integrated({value: 64_512, unit: 'MB'}));
	expect(gpus).toMatchObject([
		{memoryUsedMiB: 64_967, memoryTotalMiB: 127_488, processes: [{name: 'llama-server', memoryUsedMiB: 64_005}]},
	]);
	const [unknown] = (await observe(integrated('N/A'))).gpus;
	expect(judgeUsage(unknown, 1024)).toMatchObject({kind: 'used'});
	expect(judgeUsage({...unknown!, processes: undefined}, 1024)).toMatchObject({kind: 'unknown'});
});

test('the AMD provider does not count system memory that a discrete GPU borrows', async () => {
	const metric = metricOf(0);
	const borrowed = {total_gtt: {value: 257_000, unit: 'MB'}, used_gtt: {value: 9000, unit: 'MB'}};
	const {gpus} = await observe({
		metric: json([{...metric, mem_usage: {...metric.mem_usage, ...borrowed}}]),
		static: json([{...staticOf(0), vram: {type: 'HBM'}}]),
	});
	expect(gpus[0]).toMatchObject({memoryUsedMiB: 300});
});

test.each([
	[
		'several, as in 5.7 to 6.1',
		{values: [4_194_311, 4_194_312].map((pid) => ({process_info: {name: 'python3', pid}}))},
		[4_194_311, 4_194_312],
	],
	['one', {process_info: {name: 'ollama', pid: 4_194_313}}, [4_194_313]],
	['none', {process_info: 'Not Found'}, []],
	['none, in a sentence', {process_info: 'No running processes detected'}, []],
])('the AMD provider reads the process format of older amd-smi versions: %s', async (_, reported, pids) => {
	const {gpus} = await observe({process: json([{gpu: 0, ...reported}, idle(1)])});
	expect(gpus[0]?.processes?.map(({pid}) => pid)).toEqual(pids);
});

test('the AMD provider returns the owner of each process', async () => {
	const {gpus} = await observe({process: json([idle(0), busy(1, process.pid, 2 ** 30)])});
	expect(gpus[1]?.processes).toMatchObject([
		{pid: process.pid, user: users.nameOfSync(process.getuid?.() ?? 0), memoryUsedMiB: 1024},
	]);
});

test('the AMD provider never repeats an option that an old amd-smi has rejected', async () => {
	const refuse =
		'case "$*" in *--mem-usage*) echo \'amd-smi: error: unrecognized arguments: --mem-usage\' >&2; exit 2;; esac';
	const {provider, stub} = await setUp({
		answers: {...goodAnswers, metric: {...goodAnswers['metric'], before: refuse}},
	});
	expect(await provider.observe()).toMatchObject({gpus: [{memoryUsedMiB: 300}, {memoryUsedMiB: 40_000}]});
	expect(await stub.calls()).toHaveLength(5);
	expect(await provider.observe()).toMatchObject({gpus: [{memoryUsedMiB: 300}, {memoryUsedMiB: 40_000}]});
	const calls = await stub.calls();
	expect(calls.slice(5).toSorted()).toEqual(['metric --json', 'process --json']);
});

test('if the amd-smi query of all GPUs fails because of one GPU, the AMD provider reads the other GPUs one by one', async () => {
	const error = json({error: "AMDSMI has returned error '-1028' - 'I/O Error'", code: -1028});
	const {failure, gpus, warnings} = await observe({
		metric: {...error, exitCode: 28, stderr: 'Traceback (most recent call last):\n'},
		'metric --gpu 0': json([metricOf(0)]),
		'metric --gpu 1': {...error, exitCode: 28},
	});
	expect(failure).toBeUndefined();
	expect(gpus).toMatchObject([
		{index: 0, failure: undefined, memoryUsedMiB: 300, processes: []},
		{index: 1, failure: "AMDSMI has returned error '-1028' - 'I/O Error'", processes: undefined},
	]);
	expect(gpus[1]?.memoryUsedMiB).toBeUndefined();
	expect(warnings).toEqual([]);
});

test('the AMD provider reports a GPU as failed if amd-smi lists the GPU without readings', async () => {
	const {gpus} = await observe({metric: json([metricOf(0)])});
	expect(gpus.map(({index, failure}) => [index, failure])).toEqual([
		[0, undefined],
		[1, 'the GPU is listed, but without readings'],
	]);
});

test('the AMD provider reports a GPU with only N/A readings as failed', async () => {
	const silent = {
		gpu: 1,
		usage: 'N/A',
		power: 'N/A',
		temperature: 'N/A',
		mem_usage: {used_vram: 'N/A', total_vram: 'N/A'},
	};
	const {gpus} = await observe({metric: json([metricOf(0), silent]), static: json([staticOf(0)])});
	expect(gpus[1]).toMatchObject({failure: 'no readings (N/A)', processes: undefined});
});

test('the AMD provider reports processes as unknown if the process query fails', async () => {
	const {gpus, warnings} = await observe({process: {stdout: 'Segmentation fault\n', exitCode: 139}});
	expect(gpus).toMatchObject([
		{failure: undefined, processes: undefined},
		{failure: undefined, processes: undefined},
	]);
	expect(warnings).toEqual([expect.stringMatching(/^The processes could not be read: .*exited with 139\.$/v)]);
});

test('the AMD provider reports processes as unknown if the account lacks the groups render and video', async () => {
	const warning =
		'WARNING: User is missing the following required groups: render, video. Please add user to these groups.';
	const {gpus, warnings} = await observe({
		process: {stdout: `${warning}\n${JSON.stringify([idle(0), busy(1, 2 ** 22 + 7, 2 ** 30)])}\n`},
	});
	expect(gpus[0]).toMatchObject({processes: undefined, unknown: {processes: warning}});
	expect(gpus[1]?.processes).toHaveLength(1);
	expect(warnings).toEqual([warning.slice('WARNING: '.length)]);
});

test('the AMD provider assigns a process that ROCm 7.2 lists under every GPU to the GPU with memory in use', async () => {
	const {gpus} = await observe({process: json([busy(0, 2 ** 22 + 7, 0), busy(1, 2 ** 22 + 7, 0)])});
	expect(gpus.map(({processes}) => processes?.length)).toEqual([0, 1]);
});

test('the AMD provider explains a complete failure of amd-smi with a hint', async () => {
	const {gpus, failure} = await observe({
		metric: {stdout: '{"error": "amdgpu driver not loaded", "code": -1032}\n', exitCode: 32},
		list: {exitCode: 32},
	});
	expect(gpus).toEqual([]);
	expect(failure).toMatchObject({
		message: 'The AMD GPU driver (amdgpu) is not loaded.',
		hint: expect.stringContaining('modprobe amdgpu') as string,
	});
});

test('the AMD provider ends a hanging amd-smi at the time limit', async () => {
	const {provider} = await setUp({answers: {metric: hung, process: hung, static: hung, list: hung}, timeoutMs: 300});
	const {failure} = await provider.observe();
	expect(failure?.message).toMatch(/amd-smi did not answer within 0\.3 s\.$/v);
});

test('the AMD provider does not start amd-smi again while a hanging amd-smi cannot be killed', async () => {
	const {promise, resolve} = Promise.withResolvers<void>();
	const run = vi.fn<RunTool>(async () => ({stdout: '', stderr: '', failure: 'timed-out', ended: promise}));
	const provider = createAmdProvider({run, describeProcesses, monotonicMs});
	await provider.observe();
	const calls = run.mock.calls.length;
	expect(await provider.observe()).toMatchObject({
		failure: {message: expect.stringContaining('cannot be ended') as string},
	});
	expect(run).toHaveBeenCalledTimes(calls);
	resolve();
	await promise;
	await provider.observe();
	expect(run.mock.calls.length).toBeGreaterThan(calls);
});

test('the AMD provider shares one scan among concurrent callers', async () => {
	const {provider, stub} = await setUp();
	const [first, second] = await Promise.all([provider.observe(), provider.observe()]);
	expect(second).toBe(first);
	expect(await stub.calls()).toHaveLength(4);
	expect(await provider.count()).toBe(2);
});

test('closing the AMD provider ends a running scan', async () => {
	const {provider, stub} = await setUp({
		answers: {metric: hung, process: hung, static: hung, list: hung},
		timeoutMs: 60_000,
	});
	const scan = provider.observe();
	await vi.waitFor(
		async () => {
			expect(await stub.calls()).toHaveLength(4);
		},
		{timeout: patienceMs},
	);
	await provider.close?.();
	expect(await scan).toMatchObject({failure: {message: expect.stringContaining('no longer wanted') as string}});
});

test('counting GPUs with the AMD provider fails with an error if amd-smi fails or is missing', async () => {
	const {provider} = await setUp({answers: {}});
	await expect(provider.count()).rejects.toMatchObject({code: 'provider'});
	const nothing = createAmdProvider({
		run: async () => ({stdout: '', stderr: '', failure: 'not-found'}),
		describeProcesses,
		monotonicMs,
	});
	await expect(nothing.count()).rejects.toMatchObject({message: 'amd-smi was not found.'});
});

test('after a minute, the AMD provider repeats an incomplete query of constant values such as names', async () => {
	let nowMs = 0;
	const asked: string[] = [];
	const run: RunTool = async (_command, [command = '']) => {
		asked.push(command);
		const isLater = nowMs > 0;
		const answers = {
			metric: json([metricOf(0), metricOf(1)]),
			process: json([idle(0), idle(1)]),
			static: isLater ? json([staticOf(0), staticOf(1)]) : {stdout: 'Traceback'},
			list: json([listOf(0), listOf(1)]),
		};
		return {stderr: '', stdout: '', exitCode: 0, ...answers[command as keyof typeof answers]};
	};

	const provider = createAmdProvider({run, describeProcesses, monotonicMs: () => nowMs});
	expect(await provider.observe()).toMatchObject({gpus: [{uuid: 'uuid-0', name: undefined}, {name: undefined}]});
	await provider.observe();
	expect(asked.filter((command) => command === 'list' || command === 'static')).toHaveLength(2);
	nowMs = 60_000;
	expect(await provider.observe()).toMatchObject({
		gpus: [{name: 'AMD Instinct MI300X'}, {uuid: 'uuid-1', name: 'AMD Instinct MI300X'}],
	});
	nowMs = 600_000;
	await provider.observe();
	expect(asked.filter((command) => command === 'list' || command === 'static')).toHaveLength(4);
});

test('the AMD provider reports a GPU with memory errors or overheating as unhealthy', async () => {
	const hot = {...metricOf(0), temperature: {edge: 'N/A', hotspot: {value: 101, unit: 'C'}}};
	const worn = {...metricOf(1), ecc: {total_uncorrectable_count: 2}};
	const {gpus} = await observe({metric: json([hot, worn])});
	expect(gpus.map(({health}) => health)).toEqual([
		[{kind: 'temperature', words: '101 °C (the GPU slows down at 100 °C)'}],
		[{kind: 'ecc', words: '2 memory errors that could not be corrected (ECC)'}],
	]);
});

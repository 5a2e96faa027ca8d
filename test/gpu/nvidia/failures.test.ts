import {expect, test, vi} from 'vitest';
import {createNvidiaProvider} from '../../../source/gpu/nvidia/nvidia.js';
import type {RunTool, ToolOutcome} from '../../../source/gpu/tool/tool.js';
import {runTool} from '../../../source/host/tool/spawn.js';
import {fixture} from '../fixture.js';
import {describeProcesses, good, monotonicMs, observe, setUp} from './set-up.js';

test('a scan fails if nvidia-smi does not know a vital field', async () => {
	const {failure} = await observe({
		...good,
		gpus: {stdout: 'Field "index" is not a valid field to query.', exitCode: 2},
	});
	expect(failure).toMatchObject({hint: 'It said: Field "index" is not a valid field to query.'});
});

test('a scan fails if nvidia-smi hangs', async () => {
	const {failure, gpus} = await observe({gpus: {before: 'sleep 600'}, processes: {before: 'sleep 600'}}, 300);
	expect(gpus).toEqual([]);
	expect(failure).toMatchObject({
		message: expect.stringContaining('did not answer within 0.3 s') as string,
		hint: expect.stringContaining('dmesg') as string,
	});
});

test('a longer time limit applies from the next scan', async () => {
	const {stub} = await setUp({gpus: {before: 'sleep 600'}, processes: {before: 'sleep 600'}});
	let limitMs = 200;
	const provider = createNvidiaProvider({
		run: runTool,
		describeProcesses,
		monotonicMs,
		timeLimitMs: () => limitMs,
		command: stub.command,
		gpusDirectory: '/nowhere',
	});
	expect((await provider.observe()).failure?.message).toContain('within 0.2 s');
	limitMs = 400;
	expect((await provider.observe()).failure?.message).toContain('within 0.4 s');
});

test('a hanging process query does not affect the readings of the GPUs', async () => {
	const {failure, gpus, warnings} = await observe({...good, processes: {before: 'sleep 600'}}, 500);
	expect(failure).toBeUndefined();
	expect(gpus).toMatchObject([{processes: undefined}, {processes: undefined}]);
	expect(warnings).toEqual([expect.stringContaining('did not answer')]);
});

test('nvidia-smi is not started again while a hanging nvidia-smi cannot be killed', async () => {
	const {promise: ended, resolve: release} = Promise.withResolvers<void>();
	const hung: ToolOutcome = {stdout: '', stderr: '', failure: 'timed-out', ended};
	const run = vi.fn<RunTool>(async (_command, [query = '']) =>
		query.startsWith('--query-gpu') ? hung : {...good.processes, stderr: '', exitCode: 0},
	);
	let now = 0;
	const provider = createNvidiaProvider({run, describeProcesses, monotonicMs: () => now});
	expect(await provider.observe()).toMatchObject({failure: {message: 'nvidia-smi did not answer within 10 s.'}});
	expect(run).toHaveBeenCalledTimes(2);

	now = 34_000;
	expect(await provider.observe()).toMatchObject({
		gpus: [],
		takenAtMs: 34_000,
		failure: {message: 'nvidia-smi has hung for 34 s and cannot be ended, so it is not started again.'},
	});
	expect(run).toHaveBeenCalledTimes(2);

	release();
	await ended;
	const {stub} = await setUp();
	run.mockImplementation(async (_command, args, options) => runTool(stub.command, args, options));
	expect(await provider.observe()).toMatchObject({gpus: [{index: 0}, {index: 1}]});
});

test('a scan fails if nvidia-smi prints endless output', async () => {
	const {failure} = await observe({...good, gpus: {before: 'yes garbage'}});
	expect(failure).toMatchObject({
		message: expect.stringContaining('printed much more than a table') as string,
		hint: 'It said: garbage',
	});
});

test.each([
	["NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n", 9, /driver is not loaded/v],
	[
		'Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 535.161\n',
		18,
		/updated, but the older version/v,
	],
	['No devices were found\n', 6, /cannot find a GPU/v],
	['No devices were found\n', 0, /cannot find a GPU/v],
	[
		'Unable to determine the device handle for GPU 0000:02:00.0: GPU is lost.  Reboot the system\n',
		15,
		/fallen off the bus/v,
	],
	['Unable to determine the device handle for GPU0: 0000:0B:00.0: Unknown Error\n', 255, /cannot reach a GPU/v],
	['Failed to initialize NVML: Unknown Error\n', 255, /cannot reach the driver/v],
	["NVIDIA-SMI couldn't find libnvidia-ml.so library in your system.\n", 12, /cannot find the driver's library/v],
	['Failed to initialize NVML: GPU access blocked by the operating system\n', 17, /blocks access/v],
	['Failed to initialize NVML: Insufficient Permissions\n', 4, /is not allowed to access/v],
	['', 9, /driver is not loaded/v],
	['', 255, /exited with 255\.$/v],
	['what is this\n', 0, /printed no table of GPUs\.$/v],
	[fixture('gpus/none.csv'), 0, /printed no table of GPUs\.$/v],
])('the failure of a scan is explained if nvidia-smi prints %j and exits with %i', async (text, exitCode, message) => {
	for (const stream of ['stdout', 'stderr'] as const) {
		const {gpus, failure} = await observe({gpus: {[stream]: text, exitCode}, processes: {[stream]: text, exitCode}});
		expect(gpus).toEqual([]);
		expect(failure?.message).toMatch(message);
	}
});

test('a scan fails if nvidia-smi is killed by a signal', async () => {
	const {failure} = await observe({
		...good,
		gpus: {before: 'cat "$(dirname "$0")/gpus.out"; kill -SEGV $$', ...good.gpus},
	});
	expect(failure?.message).toMatch(/was ended by SIGSEGV\.$/v);
});

test('a missing nvidia-smi is reported as missing', async () => {
	const provider = createNvidiaProvider({run: runTool, describeProcesses, monotonicMs, command: 'no-such-nvidia-smi'});
	expect(await provider.observe()).toMatchObject({
		gpus: [],
		failure: {
			message: 'no-such-nvidia-smi was not found.',
			hint: 'Is the NVIDIA driver installed, and its directory in PATH?',
		},
	});
});

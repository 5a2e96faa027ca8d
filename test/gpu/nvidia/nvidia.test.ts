import {mkdir, mkdtemp, writeFile} from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import {performance} from 'node:perf_hooks';
import process from 'node:process';
import {expect, test, vi} from 'vitest';
import {gpuFields, readDriverMajor} from '../../../source/gpu/nvidia/fields.js';
import {createNvidiaProvider} from '../../../source/gpu/nvidia/nvidia.js';
import type {RunTool} from '../../../source/gpu/tool/tool.js';
import {runTool} from '../../../source/host/tool/spawn.js';
import {patienceMs} from '../../_helpers/eventually.js';
import {fixture} from '../fixture.js';
import {describeProcesses, good, monotonicMs, observe, setUp, users} from './set-up.js';

test('a scan queries GPUs and processes in parallel', async () => {
	// Each query ends only after the other has started.
	const meet = (mine: string, other: string) =>
		`cd "$(dirname "$0")"; touch ${mine}; for i in $(seq 500); do [ -e ${other} ] && break; sleep 0.01; done; [ -e ${other} ] || exit 1`;
	const {provider, stub} = await setUp({
		gpus: {...good.gpus, before: meet('a', 'b')},
		processes: {...good.processes, before: meet('b', 'a')},
	});
	const before = performance.now();
	const seen = await provider.observe();
	expect(seen).toMatchObject({
		provider: 'nvidia',
		simulated: false,
		driverVersion: '570.86.15',
		warnings: [],
		gpus: [{index: 0, processes: []}, {index: 1}],
	});
	expect(seen.takenAtMs).toBeGreaterThan(before);
	const calls = await stub.calls();
	expect(calls.toSorted()).toEqual([
		'--query-compute-apps=gpu_uuid,pid,used_gpu_memory --format=csv,nounits',
		`--query-gpu=${gpuFields(new Set(), readDriverMajor()).join(',')} --format=csv,nounits`,
	]);
});

test('a scan returns each process with its owner, program and start time', async () => {
	const {gpus} = await observe({
		gpus: {stdout: fixture('gpus/one.csv')},
		processes: {
			stdout: `gpu_uuid, pid, used_gpu_memory [MiB], process_name\nGPU-0a0a0a0a-1111-2222-3333-000000000000, ${process.pid}, 30, node\n`,
		},
	});
	expect(gpus[0]?.processes).toMatchObject([
		{
			pid: process.pid,
			user: users.nameOfSync(process.getuid?.() ?? 0),
			memoryUsedMiB: 30,
			startTicks: expect.any(Number) as number,
			commandLine: expect.stringContaining('node') as string,
		},
	]);
});

test('a process name with a newline and a forged table row cannot add a process', async () => {
	const first = 'GPU-0a0a0a0a-1111-2222-3333-000000000000';
	const second = 'GPU-0a0a0a0a-1111-2222-3333-000000000001';
	const {gpus} = await observe({
		gpus: {stdout: fixture('gpus/two.csv')},
		processes: {
			// The stub behaves like nvidia-smi: each row has the queried fields, and the name is not escaped.
			before: String.raw`name=; header=
case "$1" in *process_name*) header=', process_name'; name=', ./train
${second}, 1, 900, init';; esac
printf '%s\n' "gpu_uuid, pid, used_gpu_memory [MiB]$header" "${first}, ${process.pid}, 30$name"`,
		},
	});
	expect(gpus.map(({processes}) => processes?.map(({pid}) => pid))).toEqual([[process.pid], []]);
});

test('a warning after a usable table becomes a warning of the scan', async () => {
	const seen = await observe({...good, gpus: {stdout: fixture('gpus/inforom-warning.csv'), exitCode: 14}});
	expect(seen).toMatchObject({
		gpus: [{index: 0, failure: undefined, processes: []}],
		warnings: ['infoROM is corrupted at gpu 0000:02:00.0'],
	});
});

test('an error exit of nvidia-smi after a complete table becomes a warning of the scan', async () => {
	const {gpus, warnings} = await observe({...good, gpus: {...good.gpus, exitCode: 255}});
	expect(gpus).toHaveLength(2);
	expect(warnings).toEqual([expect.stringMatching(/nvidia-smi printed a complete table, but exited with 255\.$/v)]);
});

test('a broken GPU does not affect the readings of other GPUs', async () => {
	const {failure, gpus, warnings} = await observe({
		gpus: {stdout: fixture('gpus/one-without-a-handle.csv'), exitCode: 15},
		processes: {...good.processes, exitCode: 15},
	});
	expect(failure).toBeUndefined();
	expect(warnings).toEqual([]);
	expect(gpus).toMatchObject([
		{index: 0, failure: undefined, processes: []},
		{index: 1, failure: 'Unable to determine the device handle: Unknown Error', processes: undefined},
		{index: 2, failure: undefined, processes: []},
	]);
});

test('the processes are unknown if the process query fails', async () => {
	const {failure, gpus, warnings} = await observe({...good, processes: {stdout: 'Unknown Error\n', exitCode: 255}});
	expect(failure).toBeUndefined();
	expect(gpus).toMatchObject([{processes: undefined}, {processes: undefined}]);
	expect(warnings).toEqual([expect.stringMatching(/^The processes could not be read: .*exited with 255\.$/v)]);
});

test('the processes are unknown if the process query prints nothing', async () => {
	const {gpus} = await observe({...good, processes: {stdout: ''}});
	expect(gpus).toMatchObject([{processes: undefined}, {processes: undefined}]);
});

test('a field that an older nvidia-smi rejected is never queried again', async () => {
	const refuse = (field: string) =>
		`case "$1" in *${field}*) echo 'Field "${field}" is not a valid field to query.'; echo; exit 2;; esac`;
	const text = fixture('gpus/with-units-in-other-order.csv');
	const before = `${refuse('power.limit')}\n${refuse('driver_version')}`;
	const {provider, stub} = await setUp({...good, gpus: {stdout: text, before}});
	expect(await provider.observe()).toMatchObject({gpus: [{index: 0}]});
	expect(await stub.calls()).toHaveLength(4);
	expect(await provider.observe()).toMatchObject({gpus: [{index: 0}]});
	const calls = await stub.calls();
	expect(calls).toHaveLength(6);
	expect(calls.slice(4).join('\n')).not.toMatch(/power\.limit|driver_version/v);
});

test('concurrent scans share one run of nvidia-smi', async () => {
	const {provider, stub} = await setUp();
	const [first, second, third] = await Promise.all([provider.observe(), provider.observe(), provider.observe()]);
	expect(second).toBe(first);
	expect(third).toBe(first);
	expect(await stub.calls()).toHaveLength(2);
	expect(await provider.observe()).not.toBe(first);
	expect(await stub.calls()).toHaveLength(4);
});

test('closing the NVIDIA provider ends a running scan', async () => {
	const {provider, stub} = await setUp({gpus: {before: 'sleep 600'}, processes: {before: 'sleep 600'}}, 60_000);
	const scan = provider.observe();
	await vi.waitFor(
		async () => {
			expect(await stub.calls()).toHaveLength(2);
		},
		{timeout: patienceMs},
	);
	await provider.close?.();
	expect(await scan).toMatchObject({failure: {message: expect.stringContaining('no longer wanted') as string}});
});

test('the NVIDIA provider counts the table rows of nvidia-smi if the driver has no list of GPUs', async () => {
	const {provider} = await setUp();
	expect(await provider.count()).toBe(2);
});

test("the NVIDIA provider counts the GPUs in the driver's list without running nvidia-smi", async () => {
	const directory = await mkdtemp(path.join(os.tmpdir(), 'gpus-'));
	for (const [address, information] of [
		['0000:02:00.0', 'Model: \t NVIDIA L4\nGPU Excluded:\t No\n'],
		['0000:04:00.0', undefined],
		['0000:06:00.0', 'Model: \t NVIDIA L4\nGPU Excluded:\t Yes\n'],
	] as const) {
		await mkdir(path.join(directory, address));
		if (information !== undefined) {
			await writeFile(path.join(directory, address, 'information'), information);
		}
	}

	const run = vi.fn<RunTool>(runTool);
	const provider = createNvidiaProvider({run, describeProcesses, monotonicMs, gpusDirectory: directory});
	expect(await provider.count()).toBe(2);
	expect(run.mock.calls.map(([command]) => command)).toEqual(['grep']);
});

test('counting GPUs with the NVIDIA provider fails with the reason if the driver finds no GPU', async () => {
	const {provider} = await setUp({gpus: {stdout: 'No devices were found\n', exitCode: 6}});
	await expect(provider.count()).rejects.toMatchObject({
		code: 'provider',
		message: 'The NVIDIA driver cannot find a GPU.',
		hint: expect.stringContaining('dmesg') as string,
	});
});

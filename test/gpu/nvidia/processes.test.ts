import {expect, test} from 'vitest';
import {parseGpuTable} from '../../../source/gpu/nvidia/gpus.js';
import {attachProcesses, parseProcessTable} from '../../../source/gpu/nvidia/processes.js';
import type {DescribeProcesses} from '../../../source/gpu/tool/tool.js';
import {joinDetails} from '../../../source/gpu/tool/process-rows.js';
import {fixture} from '../fixture.js';

const knowsNobody: DescribeProcesses = async () => new Map();

const attach = async (name: string, {gpus = 'gpus/two.csv', describe = knowsNobody} = {}) =>
	attachProcesses(parseGpuTable(fixture(gpus), '')?.gpus ?? [], parseProcessTable(fixture(name)), describe);

const processesOf = async (name: string, options?: {gpus?: string; describe?: DescribeProcesses}) => {
	const {gpus} = await attach(name, options);
	return gpus.map(({processes}) => processes);
};

test('attachProcesses gives each GPU the processes that nvidia-smi lists under its UUID', async () => {
	expect(await processesOf('processes/two.csv')).toEqual([
		[],
		[
			{pid: 11_327, name: 'python3', commandLine: '/opt/env/bin/python3', memoryUsedMiB: 2566, kind: 'compute'},
			{pid: 11_345, name: 'gpu_burn', commandLine: './gpu_burn', memoryUsedMiB: 15_690, kind: 'compute'},
		],
	]);
});

test('attachProcesses reads a process table without rows as no processes', async () => {
	expect(await processesOf('processes/none.csv')).toEqual([[], []]);
});

test('attachProcesses leaves processes unknown if there is no process table', async () => {
	const gpus = parseGpuTable(fixture('gpus/two.csv'), '')?.gpus ?? [];
	const attached = await attachProcesses(gpus, parseProcessTable('Unknown Error\n'), knowsNobody);
	expect(attached.gpus.map(({processes}) => processes)).toEqual([undefined, undefined]);
});

test('attachProcesses leaves the processes of a broken GPU unknown', async () => {
	const [broken, sound] = parseGpuTable(fixture('gpus/two.csv'), '')!.gpus;
	const table = parseProcessTable(fixture('processes/none.csv'));
	const attached = await attachProcesses([{...broken!, failure: 'GPU is lost'}, sound!], table, knowsNobody);
	expect(attached.gpus.map(({processes}) => processes)).toEqual([undefined, []]);
});

test('attachProcesses keeps the commas of a command line', async () => {
	expect(await processesOf('processes/commas.csv')).toMatchObject([
		[{pid: 4242, name: 'python3', commandLine: 'python3 train.py --layers 1,2,3, --name a, b', memoryUsedMiB: 512}],
		[],
	]);
});

test('attachProcesses finds process columns by name, in any order', async () => {
	expect(await processesOf('processes/with-units-in-other-order.csv')).toMatchObject([
		[{pid: 20_037, commandLine: 'ffmpeg -i a,b.mp4', memoryUsedMiB: 538}],
		[],
	]);
});

test('attachProcesses reports that the process list of a GPU with hidden processes is unknown or incomplete', async () => {
	const {gpus} = await attach('processes/insufficient-permissions.csv');
	expect(gpus).toMatchObject([
		{processes: [{pid: 41}], unknown: {processes: '[Insufficient Permissions]'}},
		{processes: undefined, unknown: {processes: '[Insufficient Permissions]'}},
	]);
});

test('attachProcesses leaves unreported process names and memory unknown', async () => {
	expect(await processesOf('processes/unknown-name-and-memory.csv')).toEqual([
		[
			{pid: 77, name: undefined, commandLine: undefined, memoryUsedMiB: undefined, kind: 'compute'},
			{pid: 78, name: undefined, commandLine: undefined, memoryUsedMiB: 20, kind: 'compute'},
		],
		[],
	]);
});

test('attachProcesses lists a process on two MIG instances of a GPU once', async () => {
	expect(await processesOf('processes/two-parts-of-one-gpu.csv')).toMatchObject([
		[
			{pid: 500, memoryUsedMiB: 3568},
			{pid: 501, memoryUsedMiB: undefined},
		],
		[],
	]);
});

test('attachProcesses leaves all processes unknown if one process is on an unlisted GPU', async () => {
	const {gpus, strays} = await attach('processes/gpu-not-listed.csv');
	expect(strays).toBe(1);
	expect(gpus.map(({processes}) => processes)).toEqual([undefined, undefined]);
});

test('attachProcesses leaves the processes of a GPU without a handle unknown', async () => {
	expect(await processesOf('processes/none.csv', {gpus: 'gpus/one-without-a-handle.csv'})).toEqual([[], undefined, []]);
});

test('attachProcesses prefers the name and owner from /proc to those from nvidia-smi', async () => {
	const described: Array<readonly number[]> = [];
	const describe: DescribeProcesses = async (pids) => {
		described.push([...pids]);
		return new Map([[11_327, {startTicks: 99, user: 'ada', name: 'python3.12', commandLine: 'python3.12 train.py'}]]);
	};

	expect(await processesOf('processes/two.csv', {describe})).toMatchObject([
		[],
		[
			{pid: 11_327, startTicks: 99, user: 'ada', name: 'python3.12', commandLine: 'python3.12 train.py'},
			{pid: 11_345, name: 'gpu_burn'},
		],
	]);
	expect(described).toEqual([[11_327, 11_345]]);
});

test('attachProcesses truncates a process name of 100,000 characters', async () => {
	const table = parseProcessTable(`gpu_uuid, pid, used_memory, process_name\nGPU-1, 5, 6, ${'x'.repeat(100_000)}\n`);
	expect(table?.byGpu.get('GPU-1')?.[0]?.program).toHaveLength(4096);
});

test("joinDetails ignores a kernel thread with the pid of another container's process", () => {
	const row = {pid: 29, program: '/Xwayland'};
	const thread = {parentPid: 2, user: 'root', name: 'rcu_tasks', startTicks: 1};
	expect(joinDetails(row, thread)).toEqual({pid: 29, name: 'Xwayland', commandLine: '/Xwayland'});
	expect(joinDetails(row, {...thread, commandLine: 'sleep 1'})).toMatchObject({user: 'root', name: 'rcu_tasks'});
	expect(joinDetails(row, {...thread, parentPid: 1})).toMatchObject({user: 'root'});
});

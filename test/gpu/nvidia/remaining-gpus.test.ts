/** Versions of nvidia-smi that report no GPU at all if one cannot be reached. */
import {writeFileSync} from 'node:fs';
import path from 'node:path';
import {expect, test} from 'vitest';
import {createNvidiaProvider} from '../../../source/gpu/nvidia/nvidia.js';
import {runTool} from '../../../source/host/tool/spawn.js';
import {describeProcesses, monotonicMs, setUp} from './set-up.js';

const lost =
	'Unable to determine the device handle for GPU 0000:02:00.0: GPU is lost.  Reboot the system to recover this GPU';
const listing = `${lost}
GPU 1: NVIDIA GeForce RTX 2080 Ti (UUID: GPU-b)
GPU 2: NVIDIA GeForce RTX 2080 Ti (UUID: GPU-c)`;
const gpus = `index, uuid, pci.bus_id, memory.used [MiB]
1, GPU-b, 00000000:03:00.0, 4
2, GPU-c, 00000000:04:00.0, 9000`;
const processes = 'gpu_uuid, pid, used_gpu_memory [MiB], process_name\nGPU-c, 4194303, 8900, python3';

/** Scans with a stub. `list` is its output for `-L`. */
const scanOf = async (list: string, answer = gpus) => {
	const {stub} = await setUp();
	const text = (name: string, content: string) => {
		const file = path.join(stub.directory, name);
		writeFileSync(file, `${content}\n`);
		return `cat '${file}'`;
	};

	const script = `#!/bin/sh
echo "$*" >> '${stub.directory}/calls'
case "$*" in
-L) ${text('list', list)};;
--query-gpu*"-i GPU-b,GPU-c") ${text('some-gpus', answer)};;
--query-compute-apps*"-i GPU-b,GPU-c") ${text('some-processes', processes)};;
*) ${text('lost', lost)}; exit 15;;
esac`;
	writeFileSync(stub.command, script);
	const provider = createNvidiaProvider({
		run: runTool,
		describeProcesses,
		monotonicMs,
		command: stub.command,
		gpusDirectory: '/no/such/directory',
	});
	return {seen: await provider.observe(), calls: await stub.calls()};
};

test('if one GPU is lost, a scan lists the GPUs once and queries the other GPUs', async () => {
	const {seen, calls} = await scanOf(listing);
	expect(seen.failure).toBeUndefined();
	expect(seen.gpus).toMatchObject([
		{index: 0, failure: expect.stringContaining('GPU is lost') as string, health: [{kind: 'fell-off-the-bus'}]},
		{index: 1, memoryUsedMiB: 4, processes: []},
		{index: 2, memoryUsedMiB: 9000, processes: [{pid: 4_194_303, memoryUsedMiB: 8900}]},
	]);
	expect(seen.warnings).toEqual([]);
	// The list is read once for both queries.
	expect(calls.map((call) => call.split(/[ =]/v, 1)[0]).toSorted()).toEqual([
		'--query-compute-apps',
		'--query-compute-apps',
		'--query-gpu',
		'--query-gpu',
		'-L',
	]);
});

test.each([
	['lists no GPU', lost, gpus],
	['fails for the remaining GPUs', listing, lost],
])('a scan fails if one GPU is lost and nvidia-smi %s', async (_name, list, answer) => {
	const {seen} = await scanOf(list, answer);
	expect(seen.gpus).toEqual([]);
	expect(seen.failure?.message).toBe('A GPU has fallen off the bus.');
});

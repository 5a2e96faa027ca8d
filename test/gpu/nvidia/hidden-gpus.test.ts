/** GPUs as nvidia-smi shows them to an isolated job. It omits those whose devices cannot be opened, and numbers the others from 0. */
import {once} from 'node:events';
import {mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:net';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {expect, onTestFinished, test, vi} from 'vitest';
import {createNvidiaProvider} from '../../../source/gpu/nvidia/nvidia.js';
import type {RunTool} from '../../../source/gpu/tool/tool.js';
import {runTool} from '../../../source/host/tool/spawn.js';
import {describeProcesses, monotonicMs} from './set-up.js';
import {createStub} from './stub-nvidia-smi.js';

const addressOf = (index: number): string => `0000:${(index + 1).toString(16).padStart(2, '0')}:00.0`;

/** Returns the output of nvidia-smi if it sees these GPUs, with this much memory in use on each. */
const tableOf = (indices: readonly number[]): string =>
	[
		'index, uuid, name, pci.bus_id, memory.used [MiB], memory.total [MiB]',
		...indices.map(
			(index, row) => `${row}, GPU-${index}, NVIDIA L4, 0000${addressOf(index)}, ${100 * (index + 1)} MiB, 23034 MiB`,
		),
		'',
	].join('\n');

type Box = {
	/** The minor number of each GPU in the driver's list. Undefined if an administrator has excluded the GPU. */
	readonly minors: ReadonlyArray<number | undefined>;
	/** Minor numbers of the devices that can be opened. */
	readonly opening: readonly number[];
	/** Minor numbers of devices that cannot be opened for a reason other than permissions. */
	readonly failing?: readonly number[];
	/** The GPUs that nvidia-smi shows, by their usual number. */
	readonly seen: readonly number[];
};

async function providerOf({minors, opening, failing = [], seen}: Box) {
	const directory = mkdtempSync(path.join(tmpdir(), 'hidden-'));
	onTestFinished(() => {
		rmSync(directory, {recursive: true});
	});
	const [gpusDirectory, devicesDirectory] = ['gpus', 'dev'].map((name) => path.join(directory, name)) as [
		string,
		string,
	];
	mkdirSync(devicesDirectory);
	for (const [index, minor] of minors.entries()) {
		mkdirSync(path.join(gpusDirectory, addressOf(index)), {recursive: true});
		const excluded = minor === undefined ? 'Yes' : 'No';
		writeFileSync(
			path.join(gpusDirectory, addressOf(index), 'information'),
			`Model: \t NVIDIA L4\nDevice Minor: \t ${minor ?? 9}\nGPU Excluded:\t ${excluded}\n`,
		);
	}

	for (const minor of opening) {
		writeFileSync(path.join(devicesDirectory, `nvidia${minor}`), '');
	}

	for (const minor of failing) {
		const server = createServer().listen(path.join(devicesDirectory, `nvidia${minor}`));
		await once(server, 'listening');
		onTestFinished(() => {
			server.close();
		});
	}

	const stub = await createStub({
		gpus: {stdout: tableOf(seen)},
		processes: {stdout: 'gpu_uuid, pid, used_gpu_memory [MiB]\n'},
	});
	const run = vi.fn<RunTool>(runTool);
	const {command} = stub;
	return {
		run,
		provider: createNvidiaProvider({run, describeProcesses, monotonicMs, command, gpusDirectory, devicesDirectory}),
	};
}

/** Returns the memory in use on each GPU, or `?` if it could not be read. */
const usedBy = async (box: Box): Promise<ReadonlyArray<number | '?'>> => {
	const {gpus} = await (await providerOf(box)).provider.observe();
	expect(gpus.map(({index}) => index)).toEqual(gpus.map((_, index) => index));
	return gpus.map(({memoryUsedMiB, failure}) => (failure === undefined ? memoryUsedMiB! : '?'));
};

test('readings in an isolated job belong to the GPUs with the same PCI addresses', async () => {
	const box = {minors: [2, 0, 3, 1], opening: [3], seen: [2]};
	expect(await usedBy(box)).toEqual(['?', '?', 300, '?']);
	expect(await usedBy({...box, opening: [0, 1], seen: [1, 3]})).toEqual(['?', 200, '?', 400]);
	const {provider} = await providerOf(box);
	expect(await provider.observe()).toMatchObject({
		isPartial: true,
		gpus: [
			{
				processes: undefined,
				failure: 'this process cannot open the device of this GPU, which is normal in an isolated job',
			},
			{},
			{},
			{},
		],
	});
	// Links between GPUs are unknown, because nvidia-smi numbers the GPUs differently here too.
	expect(await provider.readLinks!()).toBeUndefined();
});

test('scans in an isolated job check only once which GPU devices the job can open', async () => {
	const {provider, run} = await providerOf({minors: [0, 1], opening: [1], seen: [1]});
	await provider.observe();
	await provider.observe();
	expect(run.mock.calls.filter(([command]) => ['grep', 'sh'].includes(command)).map(([command]) => command)).toEqual([
		'grep',
		'sh',
	]);
});

test.each<[string, Box, ReadonlyArray<number | '?'>]>([
	['are all visible', {minors: [0, 1], opening: [0, 1], seen: [0, 1]}, [100, 200]],
	['are excluded by an administrator', {minors: [0, undefined, 1], opening: [0, 1], seen: [0, 2]}, [100, 300]],
	['are missing although their devices can be opened', {minors: [0, 1], opening: [0, 1], seen: [1]}, [200]],
	[
		'are missing because their devices cannot be opened',
		{minors: [0, 1], opening: [1], failing: [0], seen: [1]},
		[200],
	],
	['have other addresses than in the list of the driver', {minors: [0, 1], opening: [], seen: [5]}, [600]],
])('GPU numbers of nvidia-smi are used unchanged if GPUs %s', async (_, box, expected) => {
	expect(await usedBy(box)).toEqual(expected);
	expect((await (await providerOf(box)).provider.observe()).isPartial).toBeUndefined();
});

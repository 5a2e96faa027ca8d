import {chmod, mkdir, mkdtemp, writeFile} from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import {expect, test, vi} from 'vitest';
import {detectProvider} from '../../source/gpu/detect.js';
import type {RunTool} from '../../source/gpu/tool/tool.js';
import {runTool} from '../../source/host/tool/spawn.js';
import {createStub as createAmdStub, goodAnswers} from './amd/set-up.js';
import {fixture} from './fixture.js';
import {createStub, type Stub} from './nvidia/stub-nvidia-smi.js';

const nowhere = '/no/such/directory';

/** Runs the stub instead of a tool in PATH. */
const runIn =
	({command}: Stub): RunTool =>
	async (_name, args, options) =>
		runTool(command, args, options);

test('detectProvider starts no program if no GPU tool is in PATH', async () => {
	const run = vi.fn<RunTool>();
	const directory = await mkdtemp(path.join(os.tmpdir(), 'path-'));
	await mkdir(path.join(directory, 'nvidia-smi'));
	const searchPath = `${directory}::relative:${nowhere}`;
	expect(await detectProvider({run, searchPath, gpusDirectory: nowhere})).toEqual({
		provider: undefined,
		reason: 'None of nvidia-smi, amd-smi and rocm-smi is in PATH.',
	});
	expect(run).not.toHaveBeenCalled();
});

test('detectProvider ignores a tool without execute permission', async () => {
	const run = vi.fn<RunTool>();
	const directory = await mkdtemp(path.join(os.tmpdir(), 'path-'));
	await writeFile(path.join(directory, 'nvidia-smi'), '');
	await chmod(path.join(directory, 'nvidia-smi'), 0o644);
	expect(await detectProvider({run, searchPath: directory, gpusDirectory: nowhere})).toMatchObject({
		provider: undefined,
	});
	expect(run).not.toHaveBeenCalled();
});

test("detectProvider finds GPUs in the driver's list without running the tool", async () => {
	const run = vi.fn<RunTool>();
	const stub = await createStub({});
	const gpusDirectory = path.join(stub.directory, 'gpus');
	await mkdir(path.join(gpusDirectory, '0000:02:00.0'), {recursive: true});
	expect(await detectProvider({run, searchPath: `${nowhere}:${stub.directory}`, gpusDirectory})).toEqual({
		provider: 'nvidia',
		others: [],
	});
	expect(run).not.toHaveBeenCalled();
});

test('detectProvider runs the tool if the driver has no list', async () => {
	const stub = await createStub({gpus: {stdout: fixture('gpus/one.csv')}});
	const found = await detectProvider({run: runIn(stub), searchPath: stub.directory, gpusDirectory: nowhere});
	expect(found).toEqual({provider: 'nvidia', others: []});
});

test('detectProvider finds a GPU that nvidia-smi reports as lost', async () => {
	const stdout = 'Unable to determine the device handle for GPU 0000:02:00.0: GPU is lost.  Reboot the system\n';
	const stub = await createStub({gpus: {stdout, exitCode: 15}});
	const found = await detectProvider({run: runIn(stub), searchPath: stub.directory, gpusDirectory: nowhere});
	expect(found).toEqual({provider: 'nvidia', others: []});
});

test('detectProvider reports why a tool finds no GPUs', async () => {
	const stub = await createStub({gpus: {stdout: 'No devices were found\n', exitCode: 6}});
	const found = await detectProvider({run: runIn(stub), searchPath: stub.directory, gpusDirectory: nowhere});
	expect(found).toEqual({provider: undefined, reason: 'The NVIDIA driver cannot find a GPU.'});
});

test('detectProvider finds AMD GPUs with amd-smi if there is no NVIDIA tool', async () => {
	const {directory, command} = await createAmdStub('amd-smi', goodAnswers);
	const run: RunTool = async (_name, args, options) => runTool(command, args, options);
	expect(await detectProvider({run, searchPath: directory, gpusDirectory: nowhere})).toEqual({
		provider: 'amd',
		others: [],
	});
});

test('detectProvider reports GPUs of both vendors', async () => {
	const nvidia = await createStub({gpus: {stdout: fixture('gpus/one.csv')}});
	const amd = await createAmdStub('amd-smi', goodAnswers);
	const run: RunTool = async (name, args, options) =>
		runTool(name === 'nvidia-smi' ? nvidia.command : amd.command, args, options);
	const searchPath = `${nvidia.directory}:${amd.directory}`;
	expect(await detectProvider({run, searchPath, gpusDirectory: nowhere})).toEqual({
		provider: 'nvidia',
		others: ['amd'],
	});
});

test('detectProvider finds AMD GPUs if the NVIDIA tool finds no GPUs', async () => {
	const nvidia = await createStub({gpus: {stdout: 'No devices were found\n', exitCode: 6}});
	const amd = await createAmdStub('amd-smi', goodAnswers);
	const none = await createAmdStub('amd-smi', {metric: {stderr: 'amdgpu not found\n', exitCode: 1}});
	const both =
		(amdCommand: string): RunTool =>
		async (name, args, options) =>
			runTool(name === 'nvidia-smi' ? nvidia.command : amdCommand, args, options);
	const searchPath = `${nvidia.directory}:${amd.directory}`;
	expect(await detectProvider({run: both(amd.command), searchPath, gpusDirectory: nowhere})).toEqual({
		provider: 'amd',
		others: [],
	});
	expect(await detectProvider({run: both(none.command), searchPath, gpusDirectory: nowhere})).toEqual({
		provider: undefined,
		reason: 'The NVIDIA driver cannot find a GPU. The AMD GPU driver (amdgpu) is not loaded.',
	});
});

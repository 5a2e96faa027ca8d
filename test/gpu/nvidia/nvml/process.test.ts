import path from 'node:path';
import process from 'node:process';
import {afterEach, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {createNvidiaProvider} from '../../../../source/gpu/nvidia/nvidia.js';
import {createLiveSources} from '../../../../source/gpu/nvidia/live.js';
import {libraryCommand} from '../../../../source/app/names.js';
import {runTool} from '../../../../source/host/tool/spawn.js';
import {starter, starterText} from '../../../_helpers/program/cli.js';
import {eventually} from '../../../_helpers/eventually.js';
import {firstCase} from '../../../_helpers/slow.js';
import {compileNvml, hasCompiler} from '../../../_helpers/machine/compiled/nvml-stub.js';
import {describeProcesses, good, monotonicMs} from '../set-up.js';
import {createStub} from '../stub-nvidia-smi.js';

let directory = '';
const given = process.env['LD_LIBRARY_PATH'];

beforeAll(() => {
	if (hasCompiler) {
		directory = compileNvml();
	}
});

afterEach(() => {
	delete process.env['NVML_STUB'];
	if (given === undefined) {
		delete process.env['LD_LIBRARY_PATH'];
	} else {
		process.env['LD_LIBRARY_PATH'] = given;
	}
});

/** Creates a provider that reads the library in another process of the program. */
const setUp = async (words: string, library = directory, readerText = starterText) => {
	process.env['NVML_STUB'] = words;
	process.env['LD_LIBRARY_PATH'] = library;
	const stub = await createStub(good);
	const readers: Array<Promise<unknown>> = [];
	const run: typeof runTool = async (command, ...rest) => {
		const outcome = runTool(command, ...rest);
		if (command === starter) {
			readers.push(outcome);
		}

		return outcome;
	};

	const provider = createNvidiaProvider({
		run,
		describeProcesses,
		monotonicMs,
		timeLimitMs: () => 3000,
		command: stub.command,
		gpusDirectory: path.join(stub.directory, 'none'),
		createSources: createLiveSources({
			run: async (command, ...rest) =>
				command === stub.command || command === starter
					? run(command, ...rest)
					: {stdout: '', stderr: '', failure: 'not-found'},
			monotonicMs,
			timeLimitMs: () => 3000,
			intervalMs: 500,
			uptimeSeconds: () => 0,
			library: {command: starter, args: [...readerText, libraryCommand]},
		}),
	});
	onTestFinished(async () => provider.close?.());
	return {provider, stub, readers};
};

describe.skipIf(!hasCompiler)('the process that reads NVML', () => {
	test('serves every scan after the first without running nvidia-smi again', async () => {
		const {provider, stub, readers} = await setUp('');
		expect((await provider.observe()).gpus[0]?.name).toBe('NVIDIA H100 80GB HBM3');
		expect(await stub.calls()).toHaveLength(2);
		for (let round = 0; round < 3; round++) {
			const {gpus, failure, driverVersion, takenAtMs} = await provider.observe();
			expect(failure).toBeUndefined();
			expect(driverVersion).toBe('580.65.06');
			expect(gpus).toMatchObject([
				{
					uuid: 'GPU-0',
					memoryUsedMiB: 40_123,
					processes: [{pid: 100, kind: 'compute'}, {kind: 'both'}, {kind: 'graphics'}],
				},
				{uuid: 'GPU-1', processes: [], migInstances: [{profile: '3g.40gb'}, {}]},
			]);
			expect(monotonicMs() - takenAtMs).toBeLessThan(3500);
		}

		expect(await stub.calls()).toHaveLength(2);
		expect(readers).toHaveLength(1);
		await provider.close?.();
		expect(await readers[0]).toMatchObject({failure: 'aborted'});
	});

	test.each(firstCase(['init-fails', 'crash', 'hang']))('is replaced by nvidia-smi if it fails (%s)', async (words) => {
		const {provider, stub, readers} = await setUp(words);
		await provider.observe();
		expect(await provider.observe()).toMatchObject({gpus: [{index: 0}, {index: 1}]});
		expect(await provider.observe()).toMatchObject({gpus: [{index: 0}, {index: 1}]});
		expect((await stub.calls()).length).toBeGreaterThan(2);
		expect(readers).toHaveLength(1);
		await readers[0];
	});

	test('is replaced by nvidia-smi if the library is missing', async () => {
		const {provider, stub} = await setUp('', '/nowhere');
		await provider.observe();
		expect(await provider.observe()).toMatchObject({gpus: [{index: 0}, {index: 1}]});
		await eventually(async () => (await stub.calls()).length > 2);
	});
});

test('nvidia-smi replaces the process that reads NVML if the installed program was removed meanwhile', async () => {
	// Node.js fails because its file is missing. A binary gets a command that it does not know.
	const {provider, stub, readers} = await setUp('', '/nowhere', ['/nowhere/dist/cli.js']);
	await provider.observe();
	expect(await provider.observe()).toMatchObject({gpus: [{index: 0}, {index: 1}]});
	expect(await provider.observe()).toMatchObject({gpus: [{index: 0}, {index: 1}]});
	await eventually(async () => (await stub.calls()).length > 2);
	expect(await readers[0]).not.toMatchObject({exitCode: 0});
});

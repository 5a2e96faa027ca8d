import path from 'node:path';
import process from 'node:process';
import * as fc from 'fast-check';
import {afterEach, beforeAll, describe, expect, test} from 'vitest';
import {decodeScan, encodeScan, readScans} from '../../../../source/gpu/nvidia/nvml/lines.js';
import {openLibrary} from '../../../../source/gpu/nvidia/nvml/library.js';
import {openScanner} from '../../../../source/gpu/nvidia/nvml/scan.js';
import {compileNvml, hasCompiler} from '../../../_helpers/machine/compiled/nvml-stub.js';

let current = '';
let old = '';

beforeAll(() => {
	if (!hasCompiler) {
		return;
	}

	current = path.join(compileNvml(), 'libnvidia-ml.so.1');
	old = path.join(compileNvml('-DOLD'), 'libnvidia-ml.so.1');
});

afterEach(() => {
	delete process.env['NVML_STUB'];
});

const scanWith = (words = '', file = current) => {
	process.env['NVML_STUB'] = words;
	const scanner = openScanner(openLibrary(file));
	try {
		return scanner.scan();
	} finally {
		scanner.close();
	}
};

const working = {
	index: 0,
	uuid: 'GPU-0',
	pciBusId: '00000000:0A:00.0',
	name: 'NVIDIA H100 80GB HBM3',
	memoryUsedMiB: 40_123,
	memoryTotalMiB: 81_559,
	memoryReservedMiB: 612,
	utilizationPercent: 97,
	memoryUtilizationPercent: 41,
	temperatureCelsius: 61,
	temperatureLimitCelsius: 89,
	powerWatts: 640.5,
	powerLimitWatts: 700,
	fanPercent: undefined,
	smClockMHz: 1755,
	memoryClockMHz: 2619,
	throttleReasons: ['power cap'],
	eccUncorrectedErrors: 0,
	isMigEnabled: false,
	computeMode: 'Default',
	computeCapability: '9.0',
	failure: undefined,
	unknown: {fanPercent: '[Not Supported]'},
};

describe.skipIf(!hasCompiler)('a scan with a fake NVML library', () => {
	test('reads every field of every GPU, its instances and its processes', () => {
		const {gpus, processes, driverVersion} = scanWith();
		expect(driverVersion).toBe('580.65.06');
		expect(gpus[0]).toEqual(working);
		const part = {profile: '3g.40gb', computeInstanceId: 0, memoryUsedMiB: 12, memoryTotalMiB: 40_448};
		expect(gpus[1]).toMatchObject({
			index: 1,
			utilizationPercent: undefined,
			isMigEnabled: true,
			migInstances: [
				{...part, number: 0, uuid: 'MIG-1-0', gpuInstanceId: 1},
				{...part, number: 1, uuid: 'MIG-1-1', gpuInstanceId: 2},
			],
			computeMode: 'Exclusive_Process',
			unknown: {utilizationPercent: '[Not Supported]'},
		});
		expect(processes).toEqual({
			byGpu: new Map([
				[
					'GPU-0',
					[
						{pid: 100, memoryUsedMiB: 100, kind: 'compute', utilizationPercent: 63},
						{pid: 101, memoryUsedMiB: undefined, kind: 'both'},
						{pid: 102, memoryUsedMiB: undefined, kind: 'graphics'},
					],
				],
				['GPU-1', []],
			]),
			hidden: new Map(),
			remarks: [],
		});
	});

	test('assigns a process to its MIG instance', () => {
		const {byGpu} = scanWith('part-process').processes;
		expect(byGpu.get('GPU-1')).toMatchObject([{pid: 100, gpuInstanceId: 2, computeInstanceId: 0}, {pid: 101}]);
		expect(byGpu.get('GPU-0')?.map(({gpuInstanceId}) => gpuInstanceId)).toEqual([undefined, undefined, undefined]);
	});

	test('does not know the instances of a GPU if one of them cannot be read', () => {
		expect(scanWith('part-lost').gpus[1]).toMatchObject({isMigEnabled: true, migInstances: undefined});
	});

	test('supports an older library, and leaves the values that the library lacks unknown', () => {
		const {gpus, processes} = scanWith('', old);
		expect(gpus[0]).toMatchObject({
			memoryUsedMiB: 1000,
			memoryTotalMiB: 80_000,
			memoryReservedMiB: undefined,
			throttleReasons: ['power cap'],
			isMigEnabled: undefined,
			failure: undefined,
			unknown: {isMigEnabled: '[Not Supported]'},
		});
		expect(processes.byGpu.get('GPU-0')?.map(({pid, kind}) => [pid, kind])).toEqual([
			[100, 'compute'],
			[101, 'both'],
			[102, 'graphics'],
		]);
	});

	test('reads a process list that grows between two calls', () => {
		expect(scanWith('crowd').processes.byGpu.get('GPU-0')).toHaveLength(500);
	});

	test.each([
		['lost', 'GPU is lost (memory.used)'],
		['lost-handle', 'GPU is lost'],
	])('reads the other GPU if one GPU is lost (%s)', (words, failure) => {
		const {gpus} = scanWith(words);
		expect(gpus).toMatchObject([
			{index: 0, failure: undefined, memoryUsedMiB: 40_123},
			{index: 1, failure, health: [{kind: 'fell-off-the-bus'}]},
		]);
		expect(gpus[1]?.memoryUsedMiB).toBeUndefined();
	});

	test('reads memory with an older function if the newer one is not supported, and fails the GPU on another error', () => {
		// The first version of the function is used in place of the second.
		expect(scanWith('no-memory').gpus[1]).toMatchObject({memoryUsedMiB: 1000, failure: undefined});
		expect(scanWith('unknown').gpus[1]).toMatchObject({
			memoryUsedMiB: undefined,
			failure: 'Unknown Error (memory.used)',
		});
	});

	test('reports memory errors and overheating as health problems', () => {
		expect(scanWith('hot ecc').gpus[0]?.health).toEqual([
			{kind: 'ecc', words: '3 memory errors that could not be corrected (ECC)'},
			{kind: 'temperature', words: '61 °C (the GPU slows down at 61 °C)'},
		]);
	});

	test.each([
		['rows', [['ecc'], undefined]],
		['pending', [undefined, undefined]],
		['pages', [undefined, ['needs-reset']]],
		['drain', [['needs-reset'], ['needs-reset']]],
		['drain no-recovery', [undefined, undefined]],
		['imex', [undefined, undefined]],
		// The first GPU needs a reset, and the second must be drained.
		['no-recovery status', [['needs-reset'], ['needs-reset']]],
		['status', [undefined, undefined]],
	])('reports the recovery that the driver demands in the state "%s"', (words, kinds) => {
		expect(scanWith(words).gpus.map(({health}) => health?.map(({kind}) => kind))).toEqual(kinds);
	});

	test('reports processes as hidden if the account may not see them', () => {
		const {gpus, processes} = scanWith('no-processes no-power');
		expect(processes.hidden).toEqual(new Map([['GPU-0', '[Insufficient Permissions]']]));
		expect(gpus[0]).toMatchObject({powerWatts: undefined, unknown: {powerWatts: '[Insufficient Permissions]'}});
	});

	test('fails if the library is invalid or does not initialize', () => {
		expect(() => scanWith('init-fails')).toThrow('999');
		expect(() => openLibrary('/no/such/library.so')).toThrow();
		expect(() => openLibrary(process.execPath)).toThrow();
	});

	test('can be encoded as one line and decoded again', () => {
		const scan = scanWith();
		expect(decodeScan(encodeScan(scan))).toEqual(scan);
	});
});

test('readScans accepts any lines and returns only valid scans', () => {
	const odd = fc.oneof(
		fc.string(),
		fc.json(),
		fc.constantFrom('{"gpus":[]}', '{"gpus":[1]}', '{"gpus":[{"index":0}],"byGpu":3}'),
	);
	fc.assert(
		fc.property(fc.array(odd), fc.nat(20), (lines, length) => {
			let blocks = 0;
			const read = readScans({
				block() {
					blocks++;
				},
				garbage: () => undefined,
			});
			const text = lines.join('\n');
			for (let at = 0; at < text.length; at += length + 1) {
				read(text.slice(at, at + length + 1));
			}

			expect(blocks).toBe(0);
		}),
	);
});

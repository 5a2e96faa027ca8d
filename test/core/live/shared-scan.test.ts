import fc from 'fast-check';
import {expect, test} from 'vitest';
import {longestScan} from '../../../source/core/model/ports.js';
import {decodeSharedScan, encodeSharedScan} from '../../../source/core/rules/pool/shared-scan.js';
import type {GpuReading, Observation} from '../../../source/core/model/types.js';
import {idleReading, observationOf} from '../../_helpers/world.js';

/** A reading with every optional field. */
const full: GpuReading = {
	index: 3,
	uuid: 'GPU-3',
	pciBusId: '0000:3B:00.0',
	name: 'NVIDIA H100 80GB HBM3',
	memoryUsedMiB: 61_000.5,
	memoryTotalMiB: 81_559,
	memoryReservedMiB: 600,
	utilizationPercent: 84,
	memoryUtilizationPercent: 20,
	temperatureCelsius: -4,
	temperatureLimitCelsius: 87,
	powerWatts: 540.5,
	powerLimitWatts: 700,
	fanPercent: 30,
	smClockMHz: 1980,
	memoryClockMHz: 2619,
	throttleReasons: ['power cap'],
	eccUncorrectedErrors: 0,
	isMigEnabled: true,
	migInstances: [
		{profile: '1g.10gb', gpuInstanceId: 7, computeInstanceId: 0, uuid: 'MIG-1', memoryUsedMiB: 1, memoryTotalMiB: 2},
		{uuid: 'MIG-2', unknown: {memoryUsedMiB: '[Unknown Error]'}},
	],
	computeMode: 'Default',
	computeCapability: '9.0',
	processes: [
		{
			pid: 81_234,
			startTicks: 5,
			startTime: 1_760_000_000.5,
			parentPid: 1,
			user: 'alice',
			name: 'python3',
			commandLine: 'vllm serve Llama-3-70B',
			ancestors: ['bash', 'tmux'],
			memoryUsedMiB: 60_000,
			utilizationPercent: 84,
			cpuPercent: 312,
			hostMemoryMiB: 4000,
			containerId: 'abcdef012345',
			kind: 'both',
		},
	],
	health: [{kind: 'xid', words: 'Xid 79: GPU has fallen off the bus'}],
	failure: undefined,
	unknown: {fanPercent: '[N/A]'},
};

const idle = [{lease: 'lease-1', index: 3, uuid: 'GPU-3', seconds: 21_600.5, until: 1_760_000_000}];

const roundTrip = (observation: Observation) => decodeSharedScan(encodeSharedScan(observation)!);

test('decodeSharedScan returns the scan that encodeSharedScan encoded', () => {
	const {takenAtMs, ...shared} = observationOf([full, idleReading(0)], {
		driverVersion: '590.48',
		warnings: ['a warning'],
		idle,
	});
	expect(roundTrip({takenAtMs, ...shared})).toEqual(structuredClone(shared));
});

test('a shared scan keeps the failure of a scan, and keeps unknown processes unknown', () => {
	const failure = {message: 'nvidia-smi did not answer in 10 s', hint: 'dmesg'};
	expect(roundTrip(observationOf([], {failure}))).toMatchObject({gpus: [], failure});
	expect(roundTrip(observationOf([{...idleReading(0), processes: undefined}]))?.gpus[0]?.processes).toBeUndefined();
});

test('encodeSharedScan truncates long command lines so that the scan stays within the size limit', () => {
	const processes = (count: number, length: number) =>
		Array.from({length: count}, (_, pid) => ({pid, commandLine: 'x'.repeat(length), ancestors: ['y'.repeat(length)]}));
	const some = roundTrip(observationOf([{...idleReading(0), processes: processes(100, 5000)}]));
	expect(some?.gpus[0]?.processes?.[0]?.commandLine).toHaveLength(1024);
	const many = roundTrip(observationOf([{...idleReading(0), processes: processes(2000, 5000)}]));
	expect(many?.gpus[0]?.processes).toHaveLength(2000);
	expect(many?.gpus[0]?.processes?.[0]).toEqual({pid: 0});
	expect(encodeSharedScan(observationOf([{...idleReading(0), failure: 'x'.repeat(longestScan)}]))).toBeUndefined();
});

type Posted = Readonly<Record<string, unknown>>;

const goodText = encodeSharedScan(observationOf([full], {idle}))!;
const good = JSON.parse(goodText) as {
	readonly version: number;
	readonly scan: Posted & {readonly gpus: readonly Posted[]};
};
const withScan = (changes: Posted): string => JSON.stringify({...good, scan: {...good.scan, ...changes}});
const withGpu = (changes: Posted): string => withScan({gpus: [{...good.scan.gpus[0], ...changes}]});

test.each([
	['empty text', ''],
	['invalid JSON', '{'],
	['a list in place of an object', '[]'],
	['null in place of an object', 'null'],
	['another version', goodText.replace('"version":1', '"version":2')],
	['no GPUs', withScan({gpus: undefined})],
	['an unknown provider', withScan({provider: 'nobody'})],
	['the same GPU twice', withScan({gpus: [...good.scan.gpus, ...good.scan.gpus]})],
	[
		'more GPUs than a machine can have',
		withScan({gpus: Array.from({length: 1025}, (_, index) => ({index, unknown: {}}))}),
	],
	['a negative index', withGpu({index: -1})],
	['negative memory', withGpu({memoryUsedMiB: -1})],
	['a text in place of a number', withGpu({powerWatts: '540'})],
	['null in place of a text', withGpu({uuid: null})],
	['a number in place of a process', withGpu({processes: [1]})],
	['a process without a pid', withGpu({processes: [{}]})],
	['a health problem without a kind', withGpu({health: [{words: 'x'}]})],
	['a negative idle time', withScan({idle: [{lease: 'a', index: 0, seconds: -5}]})],
	['an idle time of more than a hundred years', withScan({idle: [{lease: 'a', index: 0, seconds: 1e300}]})],
	['a process whose start is not a valid date', withGpu({processes: [{pid: 1, startTime: 1e13}]})],
	['an idle time whose end is not a valid date', withScan({idle: [{lease: 'a', index: 0, seconds: 5, until: 1e13}]})],
	['1e999', goodText.replace('"powerWatts":540.5', '"powerWatts":1e999')],
])('decodeSharedScan rejects a scan with %s', (_, posted) => {
	expect(decodeSharedScan(goodText)).toBeDefined();
	expect(posted).not.toBe(goodText);
	expect(decodeSharedScan(posted)).toBeUndefined();
});

test("decodeSharedScan drops unknown fields and cannot change an object's prototype", () => {
	const posted = goodText
		.replace('"uuid":"GPU-3"', '"uuid":"GPU-3","later":{"a":1},"__proto__":{"polluted":1}')
		.replace('"fanPercent":"[N/A]"', '"__proto__":"x"');
	const shared = decodeSharedScan(posted);
	expect(shared?.gpus[0]).not.toHaveProperty('later');
	expect(shared?.gpus[0]).not.toHaveProperty('polluted');
	expect(Object.prototype).not.toHaveProperty('polluted');
});

test('decodeSharedScan never throws', () => {
	fc.assert(
		fc.property(
			fc.oneof(
				fc.string(),
				fc.json(),
				fc.jsonValue().map((scan) => JSON.stringify({version: 1, scan})),
			),
			(posted) => {
				decodeSharedScan(posted);
			},
		),
	);
	// A valid scan in which one value is replaced by an invalid one.
	fc.assert(
		fc.property(fc.constantFrom(...Object.keys(good.scan.gpus[0]!)), fc.jsonValue(), (name, value) => {
			const shared = decodeSharedScan(withGpu({[name]: value}));
			expect(shared === undefined || typeof shared.gpus[0]!.index === 'number').toBe(true);
		}),
	);
});

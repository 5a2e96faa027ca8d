import {mkdtemp, writeFile} from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import * as fc from 'fast-check';
import {expect, test} from 'vitest';
import {gpuFields, readDriverMajor} from '../../../source/gpu/nvidia/fields.js';
import {parseGpuTable} from '../../../source/gpu/nvidia/gpus.js';
import {fixture} from '../fixture.js';
import {good, setUp} from './set-up.js';

/** Shell lines of an nvidia-smi that knows only these fields. */
const refuseAllBut = (known: readonly string[]) => String.raw`
	for field in $(echo "$1" | cut -d= -f2 | tr , ' '); do
		case " ${known.join(' ')} " in
			*" $field "*) ;;
			*) echo "Field \"$field\" is not a valid field to query."; exit 2;;
		esac
	done`;

const gpusOf = (text: string) => parseGpuTable(text, '')?.gpus ?? [];

test('parseGpuTable writes every reading into its field', () => {
	const [working, , hot] = gpusOf(fixture('gpus/all-readings.csv'));
	expect(working).toEqual({
		index: 0,
		uuid: 'GPU-0a0a0a0a-1111-2222-3333-000000000000',
		pciBusId: '00000000:02:00.0',
		name: 'NVIDIA H100 80GB HBM3',
		memoryUsedMiB: 40_123,
		memoryTotalMiB: 81_559,
		memoryReservedMiB: 612,
		utilizationPercent: 98,
		memoryUtilizationPercent: 41,
		temperatureCelsius: 61,
		temperatureLimitCelsius: 87,
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
		unknown: {fanPercent: '[N/A]'},
	});
	expect(hot).toMatchObject({
		computeMode: undefined,
		eccUncorrectedErrors: undefined,
		isMigEnabled: undefined,
		throttleReasons: ['hardware slowdown', 'software thermal slowdown', 'hardware thermal slowdown'],
		unknown: {computeMode: '[Unknown Error]', eccUncorrectedErrors: '[N/A]', isMigEnabled: '[N/A]'},
	});
});

test('parseGpuTable reports a GPU as unhealthy only for a required reset, memory errors or overheating', () => {
	expect(gpusOf(fixture('gpus/all-readings.csv')).map(({health}) => health)).toEqual([
		undefined,
		[
			{kind: 'needs-reset', words: 'The driver recommends: Drain and Reset'},
			{kind: 'ecc', words: '2 memory errors that could not be corrected (ECC)'},
		],
		[{kind: 'temperature', words: '93 °C (the GPU slows down at 93 °C)'}],
		[{kind: 'temperature', words: '90 °C (the GPU slows down at 88 °C)'}],
	]);
	expect(gpusOf(fixture('gpus/one-requires-reset.csv')).map(({health}) => health)).toEqual([
		[{kind: 'needs-reset', words: 'GPU requires reset (utilization.gpu)'}],
		undefined,
	]);
});

test('parseGpuTable reports a GPU as unhealthy if its memory cannot be repaired', () => {
	const text = `index, remapped_rows.pending, remapped_rows.failure, retired_pages.pending
0, Yes, No, [N/A]
1, Yes, Yes, [N/A]
2, [N/A], [N/A], Yes
3, [N/A], [Unknown Error], [Not Supported]`;
	expect(gpusOf(text).map(({health}) => health)).toEqual([
		undefined,
		[{kind: 'ecc', words: 'Faulty memory could not be replaced (row remapping failed): the GPU must be replaced'}],
		[{kind: 'needs-reset', words: 'Faulty memory pages are in use until the GPU is reset (retired pages pending)'}],
		undefined,
	]);
});

test('parseGpuTable reads a required reset from drivers without the field gpu_recovery_action', () => {
	const text = `index, reset_status.reset_required, reset_status.drain_and_reset_recommended
0, No, No
1, Yes, No
2, No, Yes
3, [N/A], [Not Supported]`;
	expect(gpusOf(text).map(({health}) => health?.map(({words}) => words))).toEqual([
		undefined,
		['The driver recommends: Reset'],
		['The driver recommends: Drain and Reset'],
		undefined,
	]);
});

test('if the driver version was unknown, nvidia-smi of driver 550 is queried again with the field for a required reset', async () => {
	const known = gpuFields(new Set(), 550);
	const {provider, stub} = await setUp({...good, gpus: {...good.gpus, before: refuseAllBut(known)}});
	await provider.observe();
	const asked = (await stub.calls()).filter((call) => call.startsWith('--query-gpu'));
	expect(asked).toHaveLength(2);
	expect(asked[1]).toBe(`--query-gpu=${known.join(',')} --format=csv,nounits`);
	expect(known).toContain('reset_status.reset_required');
});

test('parseGpuTable reads 0 of 0 MiB as unknown memory', () => {
	const [shared, empty] = gpusOf('index, memory.total [MiB], memory.used [MiB]\n0, 0 MiB, 0 MiB\n1, 8192 MiB, 0 MiB');
	expect(shared).toMatchObject({memoryUsedMiB: undefined, unknown: {memoryUsedMiB: '[N/A]'}});
	expect(empty).toMatchObject({memoryTotalMiB: 8192, memoryUsedMiB: 0, unknown: {}});
});

test('parseGpuTable reports a lost GPU as fallen off the bus', () => {
	const line = 'Unable to determine the device handle for GPU1: 0000:04:00.0: GPU is lost.  Reboot the system';
	expect(parseGpuTable(fixture('gpus/gap.csv'), line)?.gpus[1]?.health).toMatchObject([{kind: 'fell-off-the-bus'}]);
});

test('parseGpuTable reads clock reasons under their older name', () => {
	const text = 'index, clocks_throttle_reasons.active\n0, 0x0000000000000042\n1, 0x0000000000000000\n2, Active';
	expect(gpusOf(text).map(({throttleReasons, health}) => [throttleReasons, health?.[0]?.kind])).toEqual([
		[['application clocks', 'hardware thermal slowdown'], 'temperature'],
		[[], undefined],
		[undefined, undefined],
	]);
});

test('gpuFields returns only fields that the driver version knows', () => {
	fc.assert(
		fc.property(fc.integer({min: 300, max: 700}), (major) => {
			const fields = gpuFields(new Set(), major);
			expect(fields.filter((field) => field.includes('reasons.active'))).toEqual([
				major < 535 ? 'clocks_throttle_reasons.active' : 'clocks_event_reasons.active',
			]);
			expect(fields.includes('memory.reserved')).toBe(major >= 510);
			expect(fields.includes('remapped_rows.failure')).toBe(major >= 580);
			expect(fields.includes('gpu_recovery_action')).toBe(major >= 565);
			expect(fields.includes('reset_status.reset_required')).toBe(major >= 535 && major < 565);
			expect(fields.filter((field) => /^(?:driver|kmd)_version$/v.test(field))).toEqual([
				major < 610 ? 'driver_version' : 'kmd_version',
			]);
			expect(fields).toHaveLength(new Set(fields).size);
		}),
	);
	// The version is unknown, so the most common name is used.
	expect(gpuFields(new Set())).toContain('driver_version');
});

test('gpuFields omits a removed field and keeps all others', () => {
	const gone = new Set(['temperature.gpu.tlimit']);
	expect(gpuFields(gone, 650)).toEqual(gpuFields(new Set(), 650).filter((field) => !gone.has(field)));
	expect(gpuFields(gone)).not.toContain('gpu_recovery_action');
	expect(gpuFields(new Set(['clocks_event_reasons.active']), 650)).toContain('clocks_throttle_reasons.active');
});

test('parseGpuTable reads the driver version under either name', () => {
	expect(parseGpuTable('index, driver_version\n0, 595.80', '')?.driverVersion).toBe('595.80');
	expect(parseGpuTable('index, kmd_version\n0, 610.43.02', '')?.driverVersion).toBe('610.43.02');
});

test('readDriverMajor reads the driver version from the kernel module', async () => {
	const file = path.join(await mkdtemp(path.join(os.tmpdir(), 'driver-')), 'version');
	expect(readDriverMajor(file)).toBeUndefined();
	await writeFile(file, '550.54.14\n');
	expect(readDriverMajor(file)).toBe(550);
	await writeFile(file, 'unknown\n');
	expect(readDriverMajor(file)).toBeUndefined();
});

test('if an old nvidia-smi rejects several fields, the second query omits all of them', async () => {
	const known = gpuFields(new Set(), 440);
	const before = refuseAllBut(known);
	const {provider, stub} = await setUp({...good, gpus: {...good.gpus, before}});
	expect(await provider.observe()).toMatchObject({gpus: [{index: 0}, {index: 1}]});
	const asked = (await stub.calls()).filter((call) => call.startsWith('--query-gpu'));
	expect(asked).toHaveLength(2);
	expect(asked[1]).toBe(`--query-gpu=${known.join(',')} --format=csv,nounits`);
});

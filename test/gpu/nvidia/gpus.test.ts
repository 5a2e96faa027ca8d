import {expect, test} from 'vitest';
import {parseGpuTable} from '../../../source/gpu/nvidia/gpus.js';
import {fixture} from '../fixture.js';

const parse = (name: string, stderr = '') => {
	const table = parseGpuTable(fixture(name), stderr);
	expect(table, `${name} is a table`).toBeDefined();
	return table ?? {gpus: [], remarks: [], driverVersion: undefined};
};

const healthy = {
	pciBusId: '00000000:02:00.0',
	name: 'NVIDIA H100 80GB HBM3',
	memoryUsedMiB: 4,
	memoryTotalMiB: 81_559,
	utilizationPercent: 0,
	temperatureCelsius: 31,
	powerWatts: 69.85,
	powerLimitWatts: 700,
	failure: undefined,
	unknown: {},
};

const uuid = (last: number) => `GPU-0a0a0a0a-1111-2222-3333-00000000000${last}`;

const noHandle = 'Unable to determine the device handle';

test('parseGpuTable reads every column of every row', () => {
	expect(parse('gpus/two.csv')).toEqual({
		gpus: [
			{...healthy, index: 0, uuid: uuid(0)},
			{
				...healthy,
				index: 1,
				uuid: uuid(1),
				pciBusId: '00000000:04:00.0',
				memoryUsedMiB: 19_818,
				utilizationPercent: 97,
				temperatureCelsius: 59,
				powerWatts: 631.95,
			},
		],
		driverVersion: '570.86.15',
		remarks: [],
	});
});

test('parseGpuTable finds columns by name, in any order', () => {
	expect(parse('gpus/with-units-in-other-order.csv').gpus).toEqual([
		{
			index: 0,
			uuid: uuid(0),
			pciBusId: '00000000:01:00.0',
			name: 'NVIDIA L40S',
			memoryUsedMiB: 1235,
			memoryTotalMiB: 46_068,
			utilizationPercent: 9,
			temperatureCelsius: 54,
			powerWatts: 110.23,
			powerLimitWatts: 350,
			failure: undefined,
			unknown: {fanPercent: '[N/A]'},
		},
	]);
});

test('parseGpuTable accepts CR LF line ends', () => {
	const text = fixture('gpus/one.csv').replaceAll('\n', '\r\n');
	expect(parseGpuTable(`${text}\r\n`, '')).toEqual(parseGpuTable(fixture('gpus/one.csv'), ''));
});

test('parseGpuTable leaves unknown readings undefined and keeps what nvidia-smi printed for them', () => {
	expect(parse('gpus/unknown-readings.csv').gpus).toMatchObject([
		{
			memoryUsedMiB: undefined,
			memoryTotalMiB: undefined,
			utilizationPercent: 0,
			failure: undefined,
			unknown: {memoryUsedMiB: '[N/A]', memoryTotalMiB: '[N/A]', powerLimitWatts: '[N/A]'},
		},
		{
			name: undefined,
			memoryUsedMiB: 310,
			utilizationPercent: undefined,
			temperatureCelsius: undefined,
			failure: 'Unknown Error (temperature.gpu)',
			unknown: {
				name: '[Unknown Error]',
				utilizationPercent: '[Not Supported]',
				temperatureCelsius: '[Unknown Error]',
				powerWatts: '[Insufficient Permissions]',
				powerLimitWatts: 'N/A',
			},
		},
	]);
});

test('parseGpuTable returns one failed GPU, in its place, for a GPU whose handle nvidia-smi cannot open', () => {
	const {gpus, remarks} = parse('gpus/one-without-a-handle.csv');
	expect(remarks).toEqual([]);
	expect(gpus).toEqual([
		{...healthy, index: 0, uuid: uuid(0)},
		{index: 1, pciBusId: '00000000:04:00.0', failure: `${noHandle}: Unknown Error`, unknown: {}},
		{...healthy, index: 2, uuid: uuid(2), pciBusId: '00000000:06:00.0'},
	]);
});

test('parseGpuTable also finds a GPU handle error on stderr', () => {
	const {gpus} = parse('gpus/gap.csv', fixture('gpus/gap.stderr.txt'));
	expect(gpus.map(({index, failure}) => [index, failure])).toEqual([
		[0, undefined],
		[1, `${noHandle}: Unknown Error`],
		[2, undefined],
	]);
});

test.each([
	['gpu 0000:04:00.0: Not Found', {index: 1, pciBusId: '00000000:04:00.0', failure: `${noHandle}: Not Found`}],
	['GPU0000:03:00.0: Unknown Error', {index: 1, pciBusId: '00000000:03:00.0', failure: `${noHandle}: Unknown Error`}],
	['GPU 0000:0B:00.0: Unknown Error', {index: 3, pciBusId: '00000000:0B:00.0', failure: `${noHandle}: Unknown Error`}],
	['GPU1: Unknown Error', {index: 1, pciBusId: undefined, failure: `${noHandle}: Unknown Error`}],
	['GPU1: 0000:04:00.0: GPU is lost.  Reboot the system to recover this GPU', {index: 1, pciBusId: '00000000:04:00.0'}],
	['GPU', {index: 1, failure: 'no answer'}],
])('parseGpuTable identifies the GPU in the handle error "%s"', (words, expected) => {
	const {gpus} = parse('gpus/gap.csv', `Unable to determine the device handle for ${words}\n`);
	expect(gpus).toHaveLength(3);
	expect(gpus.find(({failure}) => failure !== undefined)).toMatchObject(expected);
});

test('parseGpuTable marks a GPU as failed if another line reports an error of its handle', () => {
	const {gpus} = parse('gpus/one.csv', 'Unable to determine the device handle for GPU0: 0000:02:00.0: Unknown Error');
	expect(gpus).toMatchObject([{index: 0, uuid: uuid(0), failure: `${noHandle}: Unknown Error`}]);
});

test('parseGpuTable reports a GPU as broken if the GPU needs a reset, although 0 MiB are in use', () => {
	expect(parse('gpus/one-requires-reset.csv').gpus).toMatchObject([
		{
			index: 0,
			memoryUsedMiB: 0,
			failure: 'GPU requires reset (utilization.gpu)',
			unknown: {utilizationPercent: '[GPU requires reset]'},
		},
		{index: 1, failure: undefined},
	]);
});

test.each(['[GPU is lost]', '[Unknown Error]', 'ERR!'])(
	'parseGpuTable reports a GPU as broken if its memory is %s',
	(word) => {
		const text = fixture('gpus/one.csv').replace(', 4, 0,', () => `, ${word}, 0,`);
		expect(parseGpuTable(text, '')?.gpus).toMatchObject([
			{memoryUsedMiB: undefined, failure: `${word.replaceAll(/[\[\]]/gv, '')} (memory.used)`},
		]);
	},
);

test('parseGpuTable leaves the utilization of a GPU in MIG mode unknown', () => {
	expect(parse('gpus/mig.csv').gpus).toMatchObject([
		{utilizationPercent: undefined, failure: undefined, unknown: {utilizationPercent: '[N/A]'}},
	]);
});

test('parseGpuTable keeps a warning after the table unchanged', () => {
	expect(parse('gpus/inforom-warning.csv')).toMatchObject({
		gpus: [{failure: undefined}],
		remarks: ['WARNING: infoROM is corrupted at gpu 0000:02:00.0'],
	});
});

test('parseGpuTable returns a repeated, truncated or out-of-range row as a remark', () => {
	const text = fixture('gpus/one.csv');
	const row = text.split('\n', 2)[1] ?? '';
	const odd = [row, row.slice(0, 40), row.replace('0,', '99999,'), row.replace('0,', '-1,')];
	expect(parseGpuTable(`${text}${odd.join('\n')}`, '')).toMatchObject({gpus: [{index: 0}], remarks: odd});
});

test('parseGpuTable accepts a GPU name with commas', () => {
	const text = fixture('gpus/one.csv').replace('NVIDIA H100', 'NVIDIA, H100');
	expect(parseGpuTable(text, '')?.gpus).toEqual([
		{...healthy, index: 0, uuid: uuid(0), name: 'NVIDIA, H100 80GB HBM3'},
	]);
});

test('parseGpuTable sorts GPUs by index', () => {
	const [header = '', first = '', second = ''] = fixture('gpus/two.csv').split('\n', 3);
	const {gpus} = parseGpuTable([header, second, first].join('\n'), '') ?? {gpus: []};
	expect(gpus.map(({index}) => index)).toEqual([0, 1]);
});

test.each(['', '\n', 'No devices were found\n', '0, GPU-1, 00000000:02:00.0'])(
	'parseGpuTable returns undefined for %j',
	(text) => {
		expect(parseGpuTable(text, '')).toBeUndefined();
	},
);

test('parseGpuTable returns no GPUs for a header without rows', () => {
	expect(parse('gpus/none.csv').gpus).toEqual([]);
});

test('parseGpuTable returns at most 256 GPUs', () => {
	const flood = `index, uuid\n${'[Unknown Error], [Unknown Error]\n'.repeat(100_000)}`;
	const {gpus} = parseGpuTable(flood, '') ?? {gpus: []};
	expect(gpus).toHaveLength(256);
});

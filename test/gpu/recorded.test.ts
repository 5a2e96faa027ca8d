import {describe, expect, test} from 'vitest';
import {explainFailure} from '../../source/gpu/nvidia/problems/failures.js';
import {parseGpuTable} from '../../source/gpu/nvidia/gpus.js';
import {parseProcessTable} from '../../source/gpu/nvidia/processes.js';
import {openRecordings} from './recordings.js';

const {isHere, files, read} = openRecordings('nvidia');

/** The fields that were queried for recordings without a header. */
const headers: Readonly<Record<string, string>> = {
	'errors/query-gpu.one-gpu-failing.csv':
		'index, uuid, name, temperature.gpu, clocks.sm, clocks.mem, utilization.gpu, utilization.memory, pstate, power.limit',
	'errors/query-gpu.some-fields-unknown.csv':
		'index, name, uuid, temperature.gpu, utilization.gpu, power.draw, power.limit, memory.used, memory.total',
	'errors/query-compute-apps.insufficient-permissions.csv': 'gpu_uuid, pid, process_name, used_memory',
};

const withHeader = (file: string) => `${headers[file]}\n${read(file)}`;

/** Converts `81559 MiB` to 81559, and `[N/A]` to undefined. */
const readCell = (cell: string) => (cell.startsWith('[') ? undefined : Number(cell.split(' ', 1)[0]));

describe.skipIf(!isHere)('recorded outputs of nvidia-smi', () => {
	test.each(files)('%s is parsed without an error', (file) => {
		const text = read(file);
		parseGpuTable(text, text);
		parseProcessTable(text);
		expect(explainFailure({stdout: text, stderr: ''}, 'nvidia-smi', 1000).message).not.toBe('');
	});

	test.each(files.filter((file) => file.includes('query-gpu-all')))('every column of %s is parsed', (file) => {
		const [header = '', ...rows] = read(file).trim().split('\n');
		const columns = header.split(', ');
		const cells = rows.map((row) => row.split(', '));
		const cellOf = (row: number, column: string) =>
			cells[row]?.[columns.findIndex((name) => name.split(' ', 1)[0] === column)] ?? '';
		const {gpus = [], driverVersion} = parseGpuTable(read(file), '') ?? {};
		expect(gpus).toHaveLength(rows.length);
		for (const [row, gpu] of gpus.entries()) {
			const number = (column: string) => readCell(cellOf(row, column));
			expect(driverVersion).toBe(cellOf(row, 'driver_version'));
			expect(gpu).toMatchObject({
				index: number('index'),
				uuid: cellOf(row, 'uuid'),
				pciBusId: cellOf(row, 'pci.bus_id'),
				name: cellOf(row, 'name'),
				memoryUsedMiB: number('memory.used'),
				memoryTotalMiB: number('memory.total'),
				utilizationPercent: number('utilization.gpu'),
				temperatureCelsius: number('temperature.gpu'),
				powerWatts: number('power.draw'),
				powerLimitWatts: number('power.limit'),
				memoryReservedMiB: number('memory.reserved'),
				memoryUtilizationPercent: number('utilization.memory'),
				fanPercent: number('fan.speed'),
				smClockMHz: number('clocks.current.sm'),
				memoryClockMHz: number('clocks.current.memory'),
				eccUncorrectedErrors: number('ecc.errors.uncorrected.volatile.total'),
				computeCapability: cellOf(row, 'compute_cap'),
				computeMode: cellOf(row, 'compute_mode'),
				isMigEnabled: {Enabled: true, Disabled: false}[cellOf(row, 'mig.mode.current')],
				temperatureLimitCelsius: (number('temperature.gpu') ?? NaN) + (number('temperature.gpu.tlimit') ?? NaN),
				throttleReasons: [],
				failure: undefined,
			});
		}
	});

	test.each(files.filter((file) => file.includes('query-compute-apps') && file.startsWith('captures/')))(
		'every row of %s is parsed as one process',
		(file) => {
			const rows = read(file).trim().split('\n').slice(1);
			const table = parseProcessTable(read(file));
			const processes = [...(table?.byGpu ?? [])].flatMap(([, list]) => list);
			expect(processes).toHaveLength(rows.length);
			expect(table).toMatchObject({hidden: new Map(), remarks: []});
			expect(processes.every(({memoryUsedMiB = 0, program}) => memoryUsedMiB > 0 && program !== undefined)).toBe(true);
		},
	);

	test('a failed GPU between two good GPUs does not affect them', () => {
		const {gpus = []} = parseGpuTable(withHeader('errors/query-gpu.one-gpu-failing.csv'), '') ?? {};
		expect(gpus.map(({index, failure}) => [index, failure])).toEqual([
			[0, undefined],
			[1, 'Unable to determine the device handle: Unknown Error'],
			[2, undefined],
		]);
	});

	test('an unknown error in temperature or utilization means a broken GPU', () => {
		const {gpus = []} = parseGpuTable(withHeader('errors/query-gpu.some-fields-unknown.csv'), '') ?? {};
		expect(
			gpus.map(({memoryUsedMiB, temperatureCelsius, failure}) => [memoryUsedMiB, temperatureCelsius, failure]),
		).toEqual([
			[6, undefined, 'Unknown Error (temperature.gpu)'],
			[6, 32, 'Unknown Error (utilization.gpu)'],
			[6, undefined, 'Unknown Error (temperature.gpu)'],
		]);
	});

	test('a GPU that requires a reset is broken', () => {
		const {gpus} = parseGpuTable(read('errors/query-gpu.requires-reset.csv'), '') ?? {};
		expect(gpus).toMatchObject([{index: 0, memoryUsedMiB: 0, failure: 'GPU requires reset (temperature.gpu)'}]);
	});

	test('a row without permission hides only the processes of its GPU', () => {
		const table = parseProcessTable(withHeader('errors/query-compute-apps.insufficient-permissions.csv'));
		expect(table?.byGpu.get('GPU-abc')).toMatchObject([{pid: 41}, {pid: 43}]);
		expect([...(table?.hidden.values() ?? [])]).toEqual(['[Insufficient Permissions]']);
	});
});

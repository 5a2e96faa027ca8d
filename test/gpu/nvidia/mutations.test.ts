/** Damaged output of nvidia-smi, which must never make a used GPU look free. */
import * as fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {judgeUsage} from '../../../source/core/rules/usage/gpu-usage.js';
import {parseGpuTable} from '../../../source/gpu/nvidia/gpus.js';
import {attachProcesses, parseProcessTable} from '../../../source/gpu/nvidia/processes.js';
import {cpuMsOf} from '../../_helpers/program/timed.js';
import {fixture} from '../fixture.js';

const two = fixture('gpus/two.csv');
const [header = '', idle = '', busy = ''] = two.split('\n', 3);
const threshold = 1024;

/** Returns the free GPUs in a table. The second GPU uses 19 GiB. */
const freeBy = (text: string): readonly number[] =>
	(parseGpuTable(text, '')?.gpus ?? [])
		.map((gpu) => ({...gpu, processes: []}))
		.filter((gpu) => judgeUsage(gpu, threshold).kind === 'idle')
		.map(({index}) => index);

test('a table of nvidia-smi that is cut anywhere never shows a used GPU as free', () => {
	for (let length = 0; length < two.length; length++) {
		expect(freeBy(two.slice(0, length)), String(length)).not.toContain(1);
	}
});

test('a table of nvidia-smi with swapped, repeated or lost lines never shows a used GPU as free', () => {
	fc.assert(
		fc.property(
			fc.array(fc.constantFrom(header, idle, busy, '', '\0', '[Unknown Error]'), {maxLength: 9}),
			fc.constantFrom('\n', '\r\n', '\n\0', '\n\n'),
			(lines, end) => {
				expect(freeBy([header, ...lines].join(end))).not.toContain(1);
			},
		),
	);
});

test('parseGpuTable returns the same GPUs for columns in any order', () => {
	const names = header.split(', ');
	fc.assert(
		fc.property(fc.shuffledSubarray(names, {minLength: names.length}), (order) => {
			const columns = order.map((name) => names.indexOf(name));
			const reorder = (line: string) => columns.map((column) => line.split(', ')[column]).join(', ');
			const {gpus} = parseGpuTable([header, idle, busy].map((line) => reorder(line)).join('\n'), '') ?? {};
			expect(gpus).toEqual(parseGpuTable(two, '')?.gpus);
		}),
	);
});

describe('an unexpected comma in a table of nvidia-smi', () => {
	test('in a decimal number makes only that reading unknown', () => {
		const {gpus} = parseGpuTable(two.replaceAll('.95', ',95'), '') ?? {};
		expect(gpus).toMatchObject([
			{name: 'NVIDIA H100 80GB HBM3', memoryUsedMiB: 4},
			{memoryUsedMiB: 19_818, powerWatts: undefined, powerLimitWatts: 700, unknown: {powerWatts: '631,95'}},
		]);
	});

	test('in a thousands separator makes the reading unknown', () => {
		expect(freeBy(two.replace('19818', '19,818'))).toEqual([0]);
		expect(parseGpuTable(two.replace('19818', '19,818'), '')?.gpus[1]?.memoryUsedMiB).toBeUndefined();
	});

	test('in the last cell makes the row a remark and not a GPU', () => {
		const text = two.replaceAll('570.86.15', '570.86.15, patched');
		expect(parseGpuTable(text, '')).toMatchObject({gpus: [], remarks: [idle, busy].map((row) => `${row}, patched`)});
	});
});

test('two rows with the same GPU index make the GPU failed', () => {
	const text = [header, idle, busy.replace('1, ', '0, ')].join('\n');
	expect(parseGpuTable(text, '')?.gpus).toMatchObject([{index: 0, failure: 'two GPUs are listed under this index'}]);
	expect(freeBy(text)).toEqual([]);
});

test('a truncated process row never makes a used GPU look unused', async () => {
	const text = fixture('processes/two.csv');
	const gpus = parseGpuTable(two, '')?.gpus ?? [];
	const begin = text.indexOf('\n') + 1;
	for (let length = begin + 5; length < text.trimEnd().length; length++) {
		const table = parseProcessTable(text.slice(0, length));

		const attached = await attachProcesses(gpus, table, async () => new Map());
		expect(attached.gpus[1]?.processes, text.slice(0, length)).not.toEqual([]);
	}
});

test('parseProcessTable reads 150,000 rows in linear time', () => {
	const rows = Array.from({length: 150_000}, (_, pid) => `GPU-1, ${pid + 1}, 1, x`);
	const took = cpuMsOf(() => {
		const table = parseProcessTable(['gpu_uuid, pid, used_memory, process_name', ...rows].join('\n'));
		expect(table?.byGpu.get('GPU-1')).toHaveLength(150_000);
	});
	// This limit would be exceeded tenfold if each row copied all earlier rows.
	expect(took).toBeLessThan(3000);
});

describe('the use of a GPU on an unusual machine', () => {
	const columns =
		'index, uuid, pci.bus_id, name, memory.total, memory.used, utilization.gpu, temperature.gpu, power.draw, mig.mode.current';
	const processHeader = 'gpu_uuid, pid, used_memory, process_name';
	const use = async (row: string, processes: readonly string[] | undefined) => {
		const {gpus = []} = parseGpuTable(`${columns}\n${row}\n`, '') ?? {};
		const table = processes && parseProcessTable([processHeader, ...processes].join('\n'));
		const attached = await attachProcesses(gpus, table, async () => new Map());
		return judgeUsage(attached.gpus[0], threshold);
	};

	const spark = '0, GPU-1, 0000000F:01:00.0, NVIDIA GB10, [N/A], [N/A], 0, 41, 4.38, [N/A]';
	const wsl = '0, GPU-1, 00000000:01:00.0, NVIDIA GeForce RTX 4090, 24564, 9120, 12, 44, 31.00, [N/A]';

	test.each<[what: string, row: string, processes: readonly string[] | undefined, kind: string]>([
		['it has no memory of its own and no process', spark, [], 'idle'],
		['it has no memory of its own and a process', spark, ['GPU-1, 77, 300, python3'], 'used'],
		['it has no memory of its own and its processes are hidden', spark, ['GPU-1, [N/A], [N/A], [N/A]'], 'unknown'],
		['it has no memory of its own and the process query failed', spark, undefined, 'unknown'],
		['Windows hides the pids', wsl, ['GPU-1, [N/A], [N/A], [Insufficient Permissions]'], 'used'],
		['Windows hides the memory', wsl.replace('9120', '[GPU access blocked by the operating system]'), [], 'failed'],
		['it has no readable values', '0, [N/A], [N/A], [N/A], [N/A], [N/A], [N/A], [N/A], [N/A], [N/A]', [], 'unknown'],
		[
			'only root may read the memory of its MIG instances',
			wsl.replace('9120', '[Insufficient Permissions]'),
			[],
			'unknown',
		],
	])('is judged correctly if %s', async (_what, row, processes, kind) => {
		expect(await use(row, processes)).toMatchObject({kind});
	});
});

import {describe, expect, test} from 'vitest';
import {explainAmdFailure} from '../../../source/gpu/amd/failures.js';
import {readDriverVersion, readGpus} from '../../../source/gpu/amd/gpus.js';
import {entriesByGpu} from '../../../source/gpu/amd/json.js';
import {readProcesses} from '../../../source/gpu/amd/processes.js';
import {readCards, readPids} from '../../../source/gpu/amd/rocm-smi.js';
import {parseToolJson} from '../../../source/gpu/tool/json.js';
import {openRecordings} from '../recordings.js';

const {isHere, files, read} = openRecordings('amd');
const entriesOf = (file: string) => entriesByGpu(parseToolJson(read(file))?.documents) ?? new Map();
const nothing = new Map();

describe.skipIf(!isHere)('recorded outputs of AMD tools', () => {
	test.each(files)('%s is parsed without an error', (file) => {
		const text = read(file);
		const documents = parseToolJson(text)?.documents;
		const metric = entriesByGpu(documents) ?? nothing;
		const [value] = documents ?? [];
		readGpus({metric, fixed: metric, list: metric});
		readProcesses(metric);
		readPids(value, text, text, readCards(value).metric.keys().toArray());
		expect(explainAmdFailure({stdout: text, stderr: ''}, 'amd-smi', 1000).message).not.toBe('');
	});

	test.each(files.filter((file) => file.includes('metric')))('every reading in %s is parsed into its field', (file) => {
		const gpus = readGpus({metric: entriesOf(file), fixed: nothing, list: nothing});
		const inside = JSON.parse(read(file)) as never[] | {gpu_data: never[]};
		type Value = {value: number};
		const raw: ReadonlyArray<{
			gpu: number;
			usage?: {gfx_activity: Value; umc_activity: Value};
			temperature?: {edge: Value};
			mem_usage: {total_vram: Value; used_vram: Value};
			ecc?: {total_uncorrectable_count: number};
		}> = Array.isArray(inside) ? inside : inside.gpu_data;
		expect(gpus).toHaveLength(raw.length);
		for (const [position, {gpu, usage, temperature, mem_usage: memory, ecc}] of raw.entries()) {
			expect(gpus[position]).toMatchObject({
				index: gpu,
				memoryUsedMiB: memory.used_vram.value,
				memoryTotalMiB: memory.total_vram.value,
				failure: undefined,
			});
			expect(gpus[position]?.utilizationPercent).toBe(usage?.gfx_activity.value);
			expect(gpus[position]?.memoryUtilizationPercent).toBe(usage?.umc_activity.value);
			expect(gpus[position]?.temperatureCelsius).toBe(temperature?.edge.value);
			expect(gpus[position]?.eccUncorrectedErrors).toBe(ecc?.total_uncorrectable_count);
		}
	});

	test('a limit of 0 W is not read as a power limit', () => {
		const fixed = entriesOf('amd-smi/static.strix-halo.rocm6.3.1.json');
		const list = entriesOf('amd-smi/list.strix-halo.rocm6.3.1.json');
		const [gpu] = readGpus({metric: new Map([[0, {usage: {gfx_activity: 3}}]]), fixed, list});
		expect(gpu).toMatchObject({
			uuid: '00ff1586-0000-1000-8000-000000000000',
			pciBusId: '00000000:C4:00.0',
			memoryTotalMiB: 32_768,
			failure: undefined,
		});
		expect(gpu?.name).toMatch(/^Strix Halo/v);
		expect(gpu?.powerLimitWatts).toBeUndefined();
		expect(readDriverVersion(fixed)).toBe('6.17.1-300.fc43.x86_64');
	});

	test('process lists are parsed, even after a warning', () => {
		expect(readProcesses(entriesOf('amd-smi/process.none.json'))).toEqual(
			new Map([
				[0, {rows: [], hidden: undefined}],
				[1, {rows: [], hidden: undefined}],
			]),
		);
		expect(readProcesses(entriesOf('amd-smi/process.two-procs.rocm6.2.json')).get(0)?.rows).toMatchObject([
			{pid: 420_157, program: 'TransferBench'},
			{pid: 420_315, program: 'rvs'},
		]);
		expect(parseToolJson(read('amd-smi/groups-warning-before-json.txt'))).toMatchObject({
			documents: [[{gpu: 0}]],
			remarks: [expect.stringContaining('missing the following required groups')],
		});
	});

	test('the rocm-smi output of a Radeon RX 6700 XT is parsed', () => {
		const {metric, driverVersion} = readCards(parseToolJson(read('rocm-smi/rx6700xt.rocm6.1.2.json'))?.documents[0]);
		expect(driverVersion).toBe('6.3.6');
		expect(readGpus({metric, fixed: metric, list: metric})).toMatchObject([
			{
				index: 0,
				uuid: undefined,
				pciBusId: '00000000:07:00.0',
				name: 'Navi 22 [Radeon RX 6700/6700 XT / 6800M]',
				memoryUsedMiB: 1500,
				memoryTotalMiB: 12_272,
				utilizationPercent: 0,
				memoryUtilizationPercent: 0,
				temperatureCelsius: 45,
				powerWatts: 6,
				powerLimitWatts: 211,
				failure: undefined,
			},
		]);
	});
});

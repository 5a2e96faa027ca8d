/** Output of GPU tools, and simulated GPUs. */
import {entriesByGpu} from '../../../../source/gpu/amd/json.js';
import {parseCsv, readNumber} from '../../../../source/gpu/nvidia/csv.js';
import {modelName} from '../../../../source/format/json/status-json.js';
import {orRefused, refused, type Case, type Group} from './group.js';

const amdCase = (title: string, text: string, theirs: number | typeof refused): Case => [
	title,
	theirs,
	orRefused(() => entriesByGpu([JSON.parse(text)])?.size ?? refused),
];

const cells = (line: string): ReadonlyMap<string, string> | undefined => {
	const [row] = parseCsv(`index, memory.used [MiB], name\n${line}\n`, {required: ['index'], freeText: 'name'}) ?? [];
	return row?.kind === 'row' ? row.cells : undefined;
};

export const toolGroups: readonly Group[] = [
	{
		name: 'answers of amd-smi',
		origin: 'its tests',
		row: 'AMD JSON',
		cases: () => [
			amdCase('ROCm 6, two GPUs', '[{"gpu": 0, "mem_usage": {}}, {"gpu": 1, "mem_usage": {}}]', 2),
			amdCase('ROCm 7, two GPUs', '{"gpu_data": [{"gpu": 0, "mem_usage": {}}, {"gpu": 1, "mem_usage": {}}]}', 2),
			amdCase('ROCm 7, none', '{"gpu_data": []}', 0),
			amdCase('ROCm 6, none', '[]', 0),
			amdCase('ROCm 6, one GPU', '[{"gpu": 0}]', 1),
			amdCase('ROCm 7, one GPU', '{"gpu_data": [{"gpu": 0}]}', 1),
			amdCase('no JSON', 'not json', refused),
			amdCase('another object', '{"other_field": [{"gpu": 0}]}', refused),
		],
	},
	{
		name: 'names and figures of nvidia-smi',
		origin: 'its source',
		cases: () => [
			['the vendor is left out', 'H100 80GB HBM3', modelName('NVIDIA H100 80GB HBM3')],
			['a name without it stays', 'Tesla T4', modelName('Tesla T4')],
			['a name within another stays', 'GeForce NVIDIA RTX', modelName('GeForce NVIDIA RTX')],
			[
				'memory with its unit',
				8452,
				readNumber((cells('0, 8452 MiB, H100')?.get('memory.used') ?? '').replace(' MiB', '')),
			],
			['the index', '0', cells('0, 8452 MiB, H100')?.get('index')],
		],
	},
];

import type {GpuReading} from '../../core/model/types.js';
import {joinDetails, type ProcessRow} from '../tool/process-rows.js';
import type {BareReading} from '../reading.js';
import {cap} from '../tool/text.js';
import type {DescribeProcesses} from '../tool/tool.js';
import {type JsonObject, isObject, readQuantity, readText, valueAt} from './json.js';

/** The processes of one GPU, or the tool's word for not telling all of them. */
type GpuProcesses = {readonly rows: readonly ProcessRow[]; readonly hidden?: string};

export type ProcessesByGpu = ReadonlyMap<number, GpuProcesses>;

const none = /^(?:no (?:running )?process(?:es)?\b|not found$)/iv;

/**
Reads the answer of `amd-smi process`. An idle GPU has a sentence in the place of a process.

ROCm 6.2 and later list them in `process_list`; 5.7 to 6.1 in `values`, or tell one, or that there is none, by `process_info` alone.

@param integrated - GPUs that share the machine's memory: there a process's part of that counts.
@param doubt - Why processes may be hidden from this account, if the tool said so: then a GPU without any is not known to have none.
*/
export const readProcesses = (
	entries: ReadonlyMap<number, JsonObject>,
	integrated: ReadonlySet<number> = new Set(),
	doubt?: string,
): ProcessesByGpu =>
	new Map(
		[...entries].map(([index, entry]) => {
			const list = entry['process_list'] ?? entry['values'] ?? entry['process_info'];
			const {rows, hidden} = readList(Array.isArray(list) ? list : [list], integrated.has(index));
			return [index, {rows, hidden: hidden ?? (rows.length === 0 ? doubt : undefined)}];
		}),
	);

const readList = (list: readonly unknown[], isIntegrated: boolean): GpuProcesses => {
	const rows = new Map<number, ProcessRow>();
	let hidden: string | undefined;
	for (const item of list) {
		const info = isObject(item) && Object.hasOwn(item, 'process_info') ? item['process_info'] : item;
		if (typeof info === 'string' && none.test(info.trim())) {
			continue;
		}

		const row = isObject(info) ? readRow(info, isIntegrated) : undefined;
		if (row === undefined) {
			hidden ??= cap(typeof info === 'string' ? info : 'a process without a pid', 100);
		} else {
			// A process with several contexts may be listed once for each.
			rows.set(row.pid, rows.get(row.pid) ?? row);
		}
	}

	return {rows: rows.values().toArray(), hidden};
};

const readRow = (info: JsonObject, isIntegrated: boolean): ProcessRow | undefined => {
	const {pid} = info;
	const isPid = (typeof pid === 'number' || typeof pid === 'string') && /^[1-9]\d{0,9}$/v.test(String(pid));
	return isPid
		? {pid: Number(pid), memoryUsedMiB: memoryOf(info, isIntegrated), program: readText(info['name'])}
		: undefined;
};

/** Many versions tell 0 in `mem_usage` of a process that holds gigabytes: of a 0 only `vram_mem` is believed. */
const memoryOf = (info: JsonObject, isIntegrated: boolean): number | undefined => {
	const [gtt, vram, ...others] = ['memory_usage.gtt_mem', 'memory_usage.vram_mem', 'mem_usage', 'mem'].map((path) => {
		const quantity = readQuantity(valueAt(info, path), 'memory', 'B');
		return quantity?.kind === 'number' ? quantity.value : undefined;
	});
	if (isIntegrated) {
		return gtt === undefined || vram === undefined ? undefined : gtt + vram;
	}

	return [vram, ...others].find((memory = 0) => memory > 0) ?? vram;
};

/** Below this, in MiB, a GPU holds no more than the driver's own and an empty context. */
const emptyMiB = 1024;

/**
ROCm 7.2 lists each process under every GPU, whichever it uses. Such a process is kept where memory is in use, and everywhere when
that is nowhere.
*/
export const placeProcesses = (gpus: readonly BareReading[], listed: ProcessesByGpu): ProcessesByGpu => {
	const lists = listed.values().toArray();
	if (lists.length < 2) {
		return listed;
	}

	const [first] = lists;
	const everywhere = new Set(
		(first?.rows ?? [])
			.map(({pid}) => pid)
			.filter((pid) => lists.every(({rows}) => rows.some((row) => row.pid === pid))),
	);
	const used = new Set(gpus.filter(({memoryUsedMiB = Infinity}) => memoryUsedMiB >= emptyMiB).map(({index}) => index));
	const isNowhere = listed.keys().every((index) => !used.has(index));
	return isNowhere
		? listed
		: new Map(
				[...listed].map(([index, {rows, hidden}]) => [
					index,
					{hidden, rows: used.has(index) ? rows : rows.filter(({pid}) => !everywhere.has(pid))},
				]),
			);
};

/**
Gives every GPU its processes, with their owners. A list is undefined, not empty, wherever processes may be that were not reported.

Many versions of the tools say that there are none where they only may not read those of others: so that counts only beside a known
amount of memory in use.
*/
export const attachProcesses = async (
	gpus: readonly BareReading[],
	listed: ProcessesByGpu | undefined,
	describe: DescribeProcesses,
): Promise<readonly GpuReading[]> => {
	const pids = Array.from(listed?.values() ?? [], ({rows}) => rows.map(({pid}) => pid)).flat();
	const details = await describe(pids);
	return gpus.map((gpu) => {
		const own = gpu.failure === undefined ? listed?.get(gpu.index) : undefined;
		if (own === undefined) {
			return {...gpu, processes: undefined};
		}

		const {rows, hidden} = own;
		return {
			...gpu,
			processes:
				rows.length === 0 && (hidden !== undefined || gpu.memoryUsedMiB === undefined)
					? undefined
					: rows.map((row) => joinDetails(row, details.get(row.pid))),
			unknown: hidden === undefined ? gpu.unknown : {...gpu.unknown, processes: hidden},
		};
	});
};

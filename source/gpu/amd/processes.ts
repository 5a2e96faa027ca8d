import type {GpuReading} from '../../core/model/types.js';
import {joinDetails, type ProcessRow} from '../tool/process-rows.js';
import type {BareReading} from '../reading.js';
import {cap} from '../tool/text.js';
import type {DescribeProcesses} from '../tool/tool.js';
import {type JsonObject, isObject, readQuantity, readText, valueAt} from './json.js';

/** The processes of one GPU. `hidden` is the tool's message if it hides some of them. */
type GpuProcesses = {readonly rows: readonly ProcessRow[]; readonly hidden?: string};

export type ProcessesByGpu = ReadonlyMap<number, GpuProcesses>;

const none = /^(?:no (?:running )?process(?:es)?\b|not found$)/iv;

/**
Reads the answer of `amd-smi process`, in which an idle GPU has a sentence instead of a process. ROCm 6.2 and later use `process_list`. ROCm 5.7 to
6.1 use `values`, or `process_info` alone for one or no process. On `integrated` GPUs, processes use the machine's memory. `doubt` is set if the
tool said that it may hide processes. The processes of a GPU with an empty list are then unknown.
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
			// Keeps the first entry, because some versions list a process once per context.
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

/** Returns the GPU memory of a process in MiB. Many versions report 0 in `mem_usage` even for gigabytes, so 0 is trusted only in `vram_mem`. */
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

/** A GPU with less than this many MiB in use has only the driver's memory and an empty context. */
const emptyMiB = 1024;

/** Corrects the lists of ROCm 7.2, which lists each process on every GPU: keeps such a process only on GPUs with memory in use, if there are any. */
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
Adds the processes and their owners to each GPU. If processes may be hidden, the list is undefined, not empty. Many versions of the tools report no
processes if they may not read processes of others, so an empty list is trusted only if the memory in use is known.
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

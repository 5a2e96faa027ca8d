import type {GpuProcess, GpuReading} from '../../core/model/types.js';
import {failureOfWords, isLostWord} from '../error-words.js';
import {addProblems, judgeHealth} from '../health.js';
import type {BareReading} from '../reading.js';
import {joinDetails, type ProcessRow} from '../tool/process-rows.js';
import {cap} from '../tool/text.js';
import type {DescribeProcesses, HostDetails} from '../tool/tool.js';
import {isMarker, parseCsv, readNumber} from './csv.js';

export type ProcessTable = {
	/** The processes by the UUID of their GPU. With MIG, this is the UUID of the whole GPU. */
	readonly byGpu: ReadonlyMap<string, readonly ProcessRow[]>;
	/** GPUs whose processes are hidden, with the tool's message. */
	readonly hidden: ReadonlyMap<string, string>;
	readonly remarks: readonly string[];
};

const noGpu = '';

const longestProgram = 4096;

/** Matches a corrupted row, which still proves that the GPU has a process. */
const damagedRow = /^(?<uuid>(?:GPU|MIG)-[^\s,]{0,100})(?:,|$)/v;

/** Parses `--query-compute-apps`. Undefined without a table, because processes are then unknown. A table without rows means no processes. */
export const parseProcessTable = (stdout: string): ProcessTable | undefined => {
	const lines = parseCsv(stdout, {required: ['gpu_uuid', 'pid'], freeText: 'process_name'});
	if (lines === undefined) {
		return undefined;
	}

	const byGpu = new Map<string, ProcessRow[]>();
	const hidden = new Map<string, string>();
	const remarks: string[] = [];
	for (const line of lines) {
		if (line.kind === 'other') {
			const gpu = damagedRow.exec(line.text)?.groups?.['uuid'];
			if (gpu === undefined) {
				remarks.push(line.text);
			} else {
				hidden.set(gpu, 'a row that cannot be parsed');
			}

			continue;
		}

		const uuid = line.cells.get('gpu_uuid') ?? noGpu;
		const gpu = isMarker(uuid) ? noGpu : uuid;
		const row = readRow(line.cells);
		const lost = ['pid', 'used_gpu_memory']
			.map((field) => line.cells.get(field) ?? '')
			.find((cell) => isLostWord(cell));
		if (row === undefined || lost !== undefined) {
			hidden.set(gpu, cap(lost ?? line.cells.get('pid') ?? '', 100));
		} else {
			const rows = byGpu.get(gpu) ?? [];
			byGpu.set(gpu, rows);
			rows.push(row);
		}
	}

	return {byGpu, hidden, remarks};
};

const readRow = (cells: ReadonlyMap<string, string>): ProcessRow | undefined => {
	const pid = cells.get('pid') ?? '';
	if (!/^[1-9]\d{0,9}$/v.test(pid)) {
		return undefined;
	}

	const program = cells.get('process_name') ?? '';
	return {
		pid: Number(pid),
		memoryUsedMiB: readNumber(cells.get('used_gpu_memory') ?? ''),
		program: isMarker(program) ? undefined : cap(program, longestProgram),
	};
};

/** Adds processes and owners to each GPU, or undefined if some may be hidden. `strays` counts GPUs that have processes but are not in `gpus`. */
export const attachProcesses = async (
	gpus: readonly BareReading[],
	table: ProcessTable | undefined,
	describe: DescribeProcesses,
): Promise<{readonly gpus: readonly GpuReading[]; readonly strays: number}> => {
	if (table === undefined) {
		return {gpus: gpus.map((gpu) => ({...gpu, processes: undefined})), strays: 0};
	}

	const listed = new Set(gpus.map(({uuid}) => uuid));
	const strayGpus = [...table.byGpu.keys(), ...table.hidden.keys()].filter((uuid) => !listed.has(uuid));
	const strays = new Set(strayGpus).size;
	const pids = Array.from(table.byGpu.values(), (rows) => rows.map(({pid}) => pid)).flat();
	const details = await describe(pids);

	return {
		strays,
		gpus: gpus.map((gpu) => {
			const uuid = gpu.failure === undefined ? gpu.uuid : undefined;
			if (uuid === undefined) {
				return {...gpu, processes: undefined};
			}

			const hidden = table.hidden.get(uuid);
			const failure = failureOfWords([{reading: 'processes', field: 'processes', word: hidden ?? ''}]);
			if (failure !== undefined) {
				return addProblems({...gpu, processes: undefined, failure}, judgeHealth({failure}));
			}

			const rows = mergeByPid(table.byGpu.get(uuid) ?? []);
			const mayHideSome = hidden !== undefined || strays > 0;
			return {
				...gpu,
				processes:
					mayHideSome && rows.length === 0 ? undefined : rows.map((row) => complete(row, details.get(row.pid))),
				unknown: hidden === undefined ? gpu.unknown : {...gpu.unknown, processes: hidden},
			};
		}),
	};
};

/** Adds the machine's facts to a row. A row without a kind is from the tool's table, which contains only compute processes. */
const complete = (row: ProcessRow, details: HostDetails | undefined): GpuProcess => ({
	...joinDetails(row, details),
	...(row.utilizationPercent !== undefined && {utilizationPercent: row.utilizationPercent}),
	...(row.gpuInstanceId !== undefined && {
		gpuInstanceId: row.gpuInstanceId,
		computeInstanceId: row.computeInstanceId,
	}),
	kind: row.kind ?? 'compute',
});

/** Merges the rows of a process, which has one row per MIG instance. Adds up the memory, which is unknown if the memory of one row is unknown. */
const mergeByPid = (rows: readonly ProcessRow[]): readonly ProcessRow[] => {
	const merged = new Map<number, ProcessRow>();
	for (const row of rows) {
		const earlier = merged.get(row.pid);
		merged.set(row.pid, earlier ? mergeRows(earlier, row) : row);
	}

	return [...merged].map(([, row]) => row);
};

const mergeRows = (one: ProcessRow, other: ProcessRow): ProcessRow => {
	const {gpuInstanceId, computeInstanceId, ...row} = one;
	const isSame = gpuInstanceId === other.gpuInstanceId && computeInstanceId === other.computeInstanceId;
	return {
		...(isSame ? one : row),
		memoryUsedMiB: sum(one.memoryUsedMiB, other.memoryUsedMiB),
	};
};

const sum = (a: number | undefined, b: number | undefined): number | undefined =>
	a === undefined || b === undefined ? undefined : a + b;

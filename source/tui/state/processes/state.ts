import type {ProcessRight} from '../../../core/rules/pool/process-right.js';
import type {StatusRow} from '../../../core/rules/pool/status.js';
import type {GpuProcess} from '../../../core/model/types.js';
import {tagOf} from '../gpus/state.js';
import {initialTableBy} from '../table/state.js';

/** In the order of the columns. */
export const processSortKeys = [
	'gpu',
	'pid',
	'user',
	'right',
	'load',
	'memory',
	'cpu',
	'hostMemory',
	'time',
	'container',
	'command',
] as const;

export type ProcessSortKey = (typeof processSortKeys)[number];

/** A process on one of its GPUs. */
export type ProcessRow = {
	/** Identifies the process on this GPU, and no later process with the same pid. */
	readonly key: string;
	readonly process: GpuProcess;
	readonly row: StatusRow;
	readonly right: ProcessRight;
	/** Number of ancestors above the process. 0 unless shown as a tree. */
	readonly depth: number;
};

export const initialProcesses = initialTableBy<ProcessSortKey>('memory');

type OnGpu = Pick<StatusRow, 'index' | 'reading' | 'processes'>;

/** Returns a key that is constant while the process runs on the GPU. */
const keyOf = (gpu: OnGpu, {pid, startTicks}: GpuProcess): string =>
	`${tagOf(gpu.index, gpu.reading)} ${pid} ${startTicks ?? ''}`;

/** Returns the processes of these GPUs, each with a unique key. A process that is listed twice, such as on two parts of a GPU, has two keys. */
export function keyedProcesses<Gpu extends OnGpu>(
	gpus: readonly Gpu[],
): ReadonlyArray<{readonly key: string; readonly gpu: Gpu; readonly process: GpuProcess}> {
	const used = new Set<string>();
	return gpus.flatMap((gpu) =>
		gpu.processes.map((process) => {
			let key = keyOf(gpu, process);
			while (used.has(key)) {
				key += '+';
			}

			used.add(key);
			return {key, gpu, process};
		}),
	);
}

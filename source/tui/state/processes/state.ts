/** How the table of all processes is shown: order, filter, tags, and which one is selected. */
import type {ProcessRight} from '../../../core/rules/pool/process-right.js';
import type {StatusRow} from '../../../core/rules/pool/status.js';
import type {GpuProcess} from '../../../core/model/types.js';
import type {SortBy} from '../table/order.js';
import {noFilter, tagOf, type Filter, type Prompt} from '../table/state.js';

/** What the table can be sorted by, in the order of its columns. */
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
	/** Of this process on this GPU, and of no later one with the same pid. */
	readonly key: string;
	readonly process: GpuProcess;
	readonly row: StatusRow;
	readonly right: ProcessRight;
	/** How many of its ancestors stand above it: 0 unless shown as a tree. */
	readonly depth: number;
};

export type ProcessesState = {
	readonly sort: SortBy<ProcessSortKey>;
	readonly filter: Filter;
	readonly prompt?: Prompt<string | undefined>;
	readonly tags: ReadonlySet<string>;
	/** The key of the selected row, and where it stood when it was last seen. */
	readonly selectedKey?: string;
	readonly position: number;
	/** First row shown. */
	readonly firstRow: number;
};

export const initialProcesses: ProcessesState = {
	sort: {by: 'memory', isInverted: false},
	filter: noFilter,
	tags: new Set(),
	position: 0,
	firstRow: 0,
};

type OnGpu = Pick<StatusRow, 'index' | 'reading' | 'processes'>;

/** What a process goes by for as long as it runs on that GPU. */
const keyOf = (gpu: OnGpu, {pid, startTicks}: GpuProcess): string =>
	`${tagOf(gpu.index, gpu.reading)} ${pid} ${startTicks ?? ''}`;

/** Every process of these GPUs with a key of its own: one that is listed twice, such as on two parts of a GPU, has two. */
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

import type {ProcessRight} from '../../../core/rules/pool/process-right.js';
import type {StatusRow} from '../../../core/rules/pool/status.js';
import type {GpuProcess} from '../../../core/model/types.js';
import {tagOf} from '../gpus/fold.js';

/** A process on one of the GPUs that it uses. */
export type ProcessRow = {
	/** Identifies the process on this GPU. A later process with the same pid has another key. */
	readonly key: string;
	readonly process: GpuProcess;
	readonly row: StatusRow;
	readonly right: ProcessRight;
	/** The number of ancestors above the process in the tree. 0 if the tree is not shown. */
	readonly depth: number;
};

type OnGpu = Pick<StatusRow, 'index' | 'reading' | 'processes'>;

const keyOf = (gpu: OnGpu, {pid, startTicks}: GpuProcess): string =>
	`${tagOf(gpu.index, gpu.reading)} ${pid} ${startTicks ?? ''}`;

/** Returns the processes of these GPUs with unique keys. A process listed twice, such as on two instances of a GPU, has two different keys. */
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

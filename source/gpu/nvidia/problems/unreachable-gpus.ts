import {healthOf} from '../../health.js';
import type {BareReading} from '../../reading.js';
import {normalizePciBusId} from '../../../core/model/observation.js';
import {cap} from '../../tool/text.js';

/** A GPU that nvidia-smi lists but cannot query. */
export type BrokenGpu = {
	/** Only reported by newer drivers. */
	readonly index?: number;
	readonly pciBusId?: string;
	readonly words: string;
	/** Index of the preceding row in the table, or -1. */
	readonly previousIndex: number;
};

/**
The beginning of nvidia-smi's line about a GPU that cannot be queried, in lower case. The line has several forms:

    Unable to determine the device handle for gpu 0000:01:00.0: Not Found
    Unable to determine the device handle for GPU0000:02:00.0: Unknown Error
    Unable to determine the device handle for GPU3: 0000:04:00.0: Unknown Error
    Unable to determine the device handle for GPU2: Unknown Error
*/
export const opening = 'unable to determine the device handle for gpu';

/** Matches messages that say too little without an explanation. */
const sayingLittle = /^(?:unknown error|not found)$/iv;

/** Parses a line about a GPU that cannot be queried, which follows the row of `previousIndex`. Undefined for any other line. */
export const parseHandleFailure = (line: string, previousIndex: number): BrokenGpu | undefined => {
	if (!line.toLowerCase().startsWith(opening)) {
		return undefined;
	}

	const [first = '', ...others] = line.slice(opening.length).trim().split(': ');
	const isIndex = /^\d{1,3}$/v.test(first);
	const address = isIndex ? others[0] : first;
	const pciBusId = normalizePciBusId(address ?? '');
	const words = [first, ...others].slice((isIndex ? 1 : 0) + (pciBusId === undefined ? 0 : 1)).join(': ');
	return {
		index: isIndex ? Number(first) : undefined,
		pciBusId,
		words: cap(sayingLittle.test(words) ? `Unable to determine the device handle: ${words}` : words, 200),
		previousIndex,
	};
};

/** Maximum number of broken GPUs. Further lines are ignored. */
const mostBroken = 256;

/**
Inserts the broken GPUs among the others, by index. The tool can report a failure in a line about the device handle, in a row of `[Unknown Error]`, or
in both. Lines and rows are in the same order, so the first line belongs to the first row, and so on.
*/
export const placeBroken = (
	good: ReadonlyMap<number, BareReading>,
	handles: readonly BrokenGpu[],
	rows: readonly BrokenGpu[],
): readonly BareReading[] => {
	const gpus = new Map(good);
	const count = Math.min(mostBroken, Math.max(handles.length, rows.length));
	for (let position = 0; position < count; position++) {
		const handle = handles[position];
		const row = rows[position];
		const broken = {...row, ...handle, previousIndex: row?.previousIndex ?? handle?.previousIndex ?? -1};
		const index = broken.index ?? freeIndex(gpus, broken);
		const words = broken.words ?? '';
		gpus.set(index, {
			pciBusId: broken.pciBusId,
			unknown: {},
			...gpus.get(index),
			index,
			...healthOf({failure: words}),
			failure: words === '' ? 'no answer' : words,
		});
	}

	return [...gpus].map(([, gpu]) => gpu).toSorted((a, b) => a.index - b.index);
};

/** Returns the first free index after the preceding GPU, because indices follow the PCI bus, and a broken GPU keeps its index. */
const freeIndex = (
	gpus: ReadonlyMap<number, BareReading>,
	{pciBusId, previousIndex}: Pick<BrokenGpu, 'pciBusId' | 'previousIndex'>,
): number => {
	let index = previousIndex;
	if (pciBusId !== undefined) {
		for (const gpu of gpus.values()) {
			if (gpu.pciBusId !== undefined && gpu.pciBusId < pciBusId) {
				index = Math.max(index, gpu.index);
			}
		}
	}

	do {
		index++;
	} while (gpus.has(index));

	return index;
};

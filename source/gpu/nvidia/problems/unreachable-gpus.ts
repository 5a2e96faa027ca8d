import {healthOf} from '../../health.js';
import type {BareReading} from '../../reading.js';
import {normalizePciBusId} from '../../../core/model/observation.js';
import {cap} from '../../tool/text.js';

/** A GPU that nvidia-smi lists but cannot ask. */
export type BrokenGpu = {
	/** Only newer drivers tell it. */
	readonly index?: number;
	readonly pciBusId?: string;
	/** Why, in the tool's words. */
	readonly words: string;
	/** Index of the row before it in the table, -1 for none. */
	readonly previousIndex: number;
};

/**
The line comes in several forms:

    Unable to determine the device handle for gpu 0000:01:00.0: Not Found
    Unable to determine the device handle for GPU0000:02:00.0: Unknown Error
    Unable to determine the device handle for GPU3: 0000:04:00.0: Unknown Error
    Unable to determine the device handle for GPU2: Unknown Error
*/
export const opening = 'unable to determine the device handle for gpu';

/** Words that alone would leave the reader guessing. */
const sayingLittle = /^(?:unknown error|not found)$/iv;

/** Reads such a line, which stood after the row of `previousIndex`. Undefined for any other line. */
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

/** A flood of such lines is no longer about GPUs. */
const mostBroken = 256;

/**
Puts the broken GPUs among the good ones, by index. A line about a handle and a row of `[Unknown Error]` are two tellings of one
failure, and they come in the same order, on the same stream or on two.
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

/** Indices follow the order of the PCI bus, and a GPU that cannot be asked keeps its index: so it is the first gap after its neighbour. */
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

/**
What somebody asks for, checked against the pool before anything else: a request that can never succeed fails at once.
*/
import {CanhazgpuError} from '../errors.js';

export type Wanted = {
	readonly count: number;
	/** Sorted. Undefined: any will do. */
	readonly ids?: readonly number[];
};

const idRange = (gpuCount: number): string => (gpuCount === 1 ? 'the only id is 0' : `ids are 0 to ${gpuCount - 1}`);

/**
@throws CanhazgpuError `impossible` when an id does not exist in the pool or comes twice.
*/
export function checkIds(ids: readonly number[], gpuCount: number): void {
	const outside = ids.filter((id) => !Number.isSafeInteger(id) || id < 0 || id >= gpuCount);
	if (outside.length > 0) {
		throw new CanhazgpuError('impossible', `No GPU ${outside.join(', ')} in this pool`, {
			hint: `The pool has ${gpuCount} GPU(s): ${idRange(gpuCount)}.`,
		});
	}

	const twice = ids.find((id, position) => ids.indexOf(id) !== position);
	if (twice !== undefined) {
		throw new CanhazgpuError('impossible', `GPU ${twice} is named twice in ${ids.join(',')}`, {
			hint: 'Name each GPU once.',
		});
	}
}

/**
@throws CanhazgpuError `impossible` when the pool could never give this.
@returns The same, its ids sorted.
*/
export function checkWanted({count, ids}: Wanted, gpuCount: number): Wanted {
	if (ids !== undefined) {
		checkIds(ids, gpuCount);
		return {count: ids.length, ids: [...ids].toSorted((a, b) => a - b)};
	}

	if (!Number.isSafeInteger(count) || count < 1) {
		throw new CanhazgpuError('impossible', `Cannot reserve ${count} GPUs`, {hint: `Ask for 1 to ${gpuCount}.`});
	}

	if (count > gpuCount) {
		throw new CanhazgpuError('impossible', `Cannot reserve ${count} GPUs: the pool has ${gpuCount}`, {
			hint: `Ask for ${gpuCount} or fewer.`,
		});
	}

	return {count};
}

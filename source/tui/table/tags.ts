/** What a tag, and a GPU's history, cling to. */
import type {GpuReading} from '../../core/model/types.js';

/** The GPU itself, or its index while it has not told who it is. */
export const tagOf = (index: number, reading: Pick<GpuReading, 'uuid'> | undefined): string =>
	reading?.uuid ?? `#${index}`;

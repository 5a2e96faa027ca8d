import type {GpuReading} from '../../../core/model/types.js';
import {initialTableBy} from '../table/state.js';

export const sortKeys = [
	'gpu',
	'state',
	'owner',
	'held',
	'ends',
	'utilization',
	'memory',
	'temperature',
	'power',
] as const;

export type SortKey = (typeof sortKeys)[number];

export const initialTable = initialTableBy<SortKey>('gpu');

/** Returns the key for a GPU's tag and history: its UUID, or its index while the UUID is unknown. */
export const tagOf = (index: number, reading: Pick<GpuReading, 'uuid'> | undefined): string =>
	reading?.uuid ?? `#${index}`;

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

/** Returns the key under which a GPU is tagged and its history is stored: its UUID. While the UUID is unknown, uses the index. */
export const tagOf = (index: number, reading: Pick<GpuReading, 'uuid'> | undefined): string =>
	reading?.uuid ?? `#${index}`;

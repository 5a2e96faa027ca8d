/** State of the GPU table: order, filter and tags. */
import {changed, type FieldChange, type TextField} from '../text-field.js';
import type {GpuReading} from '../../../core/model/types.js';
import type {SortBy} from './order.js';

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

export type Sort = SortBy<SortKey>;

export type Filter = {
	/** Words that a row must contain, ignoring case. */
	readonly text: string;
	/** Restricts to GPUs that this account holds or uses. */
	readonly user?: string;
	/** Restricts to GPUs that the user holds or uses. */
	readonly isMine: boolean;
};

/** A filter being typed, with the filter and selection before it. */
export type Prompt<Selection> = {
	readonly field: TextField;
	readonly before: {readonly text: string; readonly selection: Selection};
};

export type TableState = {
	/** UUID of the selected GPU, which the selection follows. */
	readonly selectedUuid?: string;
	readonly sort: Sort;
	readonly filter: Filter;
	readonly prompt?: Prompt<{readonly selectedGpu: number | undefined; readonly selectedUuid: string | undefined}>;
	/** See `tagOf` in rows.ts. */
	readonly tags: ReadonlySet<string>;
};

export const noFilter: Filter = {text: '', isMine: false};

export const initialTable: TableState = {
	sort: {by: 'gpu', isInverted: false},
	filter: noFilter,
	tags: new Set(),
};

/** Whether the filter can hide GPUs. */
export const isFiltered = ({text, user, isMine}: Filter): boolean => text.trim() !== '' || user !== undefined || isMine;

/** Applies the filter as it is typed. */
export function withTyped<Table extends {readonly filter: Filter; readonly prompt?: {readonly field: TextField}}>(
	table: Table,
	change: FieldChange,
): Table {
	if (table.prompt === undefined) {
		return table;
	}

	const field = changed(table.prompt.field, change);
	return {...table, filter: {...table.filter, text: field.value}, prompt: {...table.prompt, field}};
}

/** Returns the words of a filter. */
export const wordsOfFilter = ({text}: Pick<Filter, 'text'>): readonly string[] =>
	text.toLowerCase().split(/\s+/v).filter(Boolean);

/** Returns the key for a GPU's tag and history: its UUID, or its index while the UUID is unknown. */
export const tagOf = (index: number, reading: Pick<GpuReading, 'uuid'> | undefined): string =>
	reading?.uuid ?? `#${index}`;

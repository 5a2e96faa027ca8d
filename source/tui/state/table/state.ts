/** How the table of GPUs is shown: order, filter, tags. */
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
	/** Words that a row must all hold, in any case. */
	readonly text: string;
	/** Only what this account holds or uses. */
	readonly user?: string;
	/** Only what the asker holds or uses. */
	readonly isMine: boolean;
};

/** A filter being typed, and what it and the selection were before. */
export type Prompt<Selection> = {
	readonly field: TextField;
	readonly before: {readonly text: string; readonly selection: Selection};
};

export type TableState = {
	/** The selection follows this GPU, whatever its index and wherever its row. */
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

/** True when some GPUs may be left out. */
export const isFiltered = ({text, user, isMine}: Filter): boolean => text.trim() !== '' || user !== undefined || isMine;

/** A table with a filter whose words are being typed: it follows at once. */
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

/** The words of a filter, as they are looked for. */
export const wordsOfFilter = ({text}: Pick<Filter, 'text'>): readonly string[] =>
	text.toLowerCase().split(/\s+/v).filter(Boolean);

/** What a tag, and a GPU's history, cling to: the GPU itself, or its index while its identity is unknown. */
export const tagOf = (index: number, reading: Pick<GpuReading, 'uuid'> | undefined): string =>
	reading?.uuid ?? `#${index}`;

import {changed, type FieldChange, type TextField} from '../text-field.js';
import type {SortBy} from './order.js';

export type Filter = {
	/** The terms that a row must match, in upper or lower case. See terms.ts. */
	readonly text: string;
	/** The account whose rows are shown. Undefined for the rows of all users. */
	readonly user?: string;
	/** Whether only the rows of the monitor's user are shown. */
	readonly isMine: boolean;
};

/** The selected row. If the row is gone or hidden, the row at its place is selected instead. */
export type Selection = {
	/** The keys of the row, strongest first. Empty if no row has been selected yet. */
	readonly keys: readonly string[];
	/** The last known place of the row in the unsorted table. */
	readonly place: number;
};

/** A filter that is being typed, with the filter and the selection that it replaces. */
type Prompt = {
	readonly field: TextField;
	readonly before: {readonly text: string; readonly selected: Selection};
};

export type TableState = {
	readonly sort: SortBy;
	readonly filter: Filter;
	readonly prompt?: Prompt;
	/** The strongest key of each tagged row. */
	readonly tags: ReadonlySet<string>;
	readonly selected: Selection;
	readonly firstRow: number;
};

export const noFilter: Filter = {text: '', isMine: false};

export const initialTableBy = (by: string): TableState => ({
	sort: {by, isInverted: false},
	filter: noFilter,
	tags: new Set(),
	selected: {keys: [], place: 0},
	firstRow: 0,
});

export const initialTables = {
	gpus: initialTableBy('gpu'),
	processes: initialTableBy('memory'),
	queue: initialTableBy('position'),
	hosts: initialTableBy('host'),
	jobs: initialTableBy('state'),
};

export const isFiltered = ({text, user, isMine}: Filter): boolean => text.trim() !== '' || user !== undefined || isMine;

export function withTyped(table: TableState, change: FieldChange): TableState {
	if (table.prompt === undefined) {
		return table;
	}

	const field = changed(table.prompt.field, change);
	return {...table, filter: {...table.filter, text: field.value}, prompt: {...table.prompt, field}};
}

export const termsIn = (text: string): readonly string[] => text.toLowerCase().split(/\s+/v).filter(Boolean);

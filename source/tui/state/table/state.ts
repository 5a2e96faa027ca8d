import {changed, type FieldChange, type TextField} from '../text-field.js';
import type {SortBy} from './order.js';

export type Filter = {
	/** Terms that a row must match, ignoring case. See terms.ts. */
	readonly text: string;
	/** Restricts to rows that this account holds or uses. */
	readonly user?: string;
	/** Restricts to rows that the user holds or uses. */
	readonly isMine: boolean;
};

/** The selected row. Another row takes its place if the row is gone or hidden. */
export type Selection = {
	/** Keys of the row, strongest first. Empty before the first row was selected. */
	readonly keys: readonly string[];
	/** The row's place in the natural order of the table, when it was last seen. */
	readonly place: number;
};

/** A filter being typed, with the filter and selection before it. */
type Prompt = {
	readonly field: TextField;
	readonly before: {readonly text: string; readonly selected: Selection};
};

export type TableState<Key extends string = string> = {
	readonly sort: SortBy<Key>;
	readonly filter: Filter;
	readonly prompt?: Prompt;
	/** Strongest keys of the tagged rows. */
	readonly tags: ReadonlySet<string>;
	readonly selected: Selection;
	/** Index of the first row in view. */
	readonly firstRow: number;
};

export const noFilter: Filter = {text: '', isMine: false};

export const initialTableBy = <Key extends string>(by: Key): TableState<Key> => ({
	sort: {by, isInverted: false},
	filter: noFilter,
	tags: new Set(),
	selected: {keys: [], place: 0},
	firstRow: 0,
});

export const isFiltered = ({text, user, isMine}: Filter): boolean => text.trim() !== '' || user !== undefined || isMine;

/** Applies the filter as it is typed. */
export function withTyped<Key extends string>(table: TableState<Key>, change: FieldChange): TableState<Key> {
	if (table.prompt === undefined) {
		return table;
	}

	const field = changed(table.prompt.field, change);
	return {...table, filter: {...table.filter, text: field.value}, prompt: {...table.prompt, field}};
}

/** Returns the terms of a filter or search, in lower case. */
export const termsIn = (text: string): readonly string[] => text.toLowerCase().split(/\s+/v).filter(Boolean);

/** What the tables and the queue have in common: keys filter them and sort them by two columns, and the selection stays where it was, and in view. */
import {withFlash, type State} from '../state.js';
import {fieldOf} from '../text-field.js';
import {noSecondSort, sortedByNext, withInverted, withNextSecond, withSecondInverted, type SortBy} from './order.js';
import type {Filter, Prompt} from './state.js';

type Change = (state: State) => State;

/** Where the selected row stands now, or the one that took its place. Undefined when there is none. */
export function indexOfSelected<Row>(
	rows: readonly Row[],
	isSelected: (row: Row) => boolean,
	positionBefore: number,
): number | undefined {
	const found = rows.findIndex((row) => isSelected(row));
	return rows.length === 0 ? undefined : found === -1 ? Math.min(positionBefore, rows.length - 1) : found;
}

/** The first row that is shown: as before, unless the selected one would be out of view. */
export const firstInView = (
	before: number,
	selected: number,
	{shown, total}: {readonly shown: number; readonly total: number},
): number => Math.max(0, Math.min(total - shown, Math.max(Math.min(before, selected), selected - shown + 1)));

type Filtered<Selection> = {
	readonly name: 'table' | 'processes' | 'hosts';
	/** What is selected: a filter that is dropped gives it back. */
	readonly selectionOf: (state: State) => Selection;
	readonly select: (state: State, selection: Selection) => State;
	/** Whom the selected row is about. */
	readonly userOf: (state: State) => string | undefined;
	/** What is said where that is unknown. */
	readonly noUser: string;
};

type Shown<Selection> = {readonly filter: Filter; readonly prompt?: Prompt<Selection> | undefined};

/** The filter of a table: its words being typed, one user alone, and what is the asker's own. */
export function filterChanges<Selection>({name, selectionOf, select, userOf, noUser}: Filtered<Selection>) {
	const shownOf = (state: State): Shown<Selection> => state[name] as unknown as Shown<Selection>;
	const withShown = (state: State, more: Partial<Shown<Selection>>): State => ({
		...state,
		[name]: {...state[name], ...more},
	});
	const withFilter = (state: State, more: Partial<Filter>): State =>
		withShown(state, {filter: {...shownOf(state).filter, ...more}});

	return {
		open(state) {
			const {text} = shownOf(state).filter;
			return withShown(state, {prompt: {field: fieldOf(text), before: {text, selection: selectionOf(state)}}});
		},
		keep: (state) => withShown(state, {prompt: undefined}),
		/** As it was before: the filter, and the selection with it. */
		drop(state) {
			const {prompt} = shownOf(state);
			return prompt === undefined
				? state
				: select(
						withShown(withFilter(state, {text: prompt.before.text}), {prompt: undefined}),
						prompt.before.selection,
					);
		},
		/** Only the user of the selected row, or all again. */
		user(state) {
			if (shownOf(state).filter.user !== undefined) {
				return withFilter(state, {user: undefined});
			}

			const user = userOf(state);
			return user === undefined ? withFlash(state, 'warning', noUser) : withFilter(state, {user});
		},
		mine: (state) => withFilter(state, {isMine: !shownOf(state).filter.isMine}),
	} as const satisfies Readonly<Record<string, Change>>;
}

/** The order of a table, by its keys. */
export function sortChanges<Key extends string>(
	keys: readonly Key[],
	sortOf: (state: State) => SortBy<Key>,
	withSort: (state: State, sort: SortBy<Key>) => State,
) {
	const by =
		(change: (sort: SortBy<Key>) => SortBy<Key>): Change =>
		(state) =>
			withSort(state, change(sortOf(state)));
	return {
		'sort-next': by((sort) => sortedByNext(keys, sort, 1)),
		'sort-previous': by((sort) => sortedByNext(keys, sort, -1)),
		'invert-sort': by(withInverted),
		'second-sort-next': by((sort) => withNextSecond(keys, sort, 1)),
		'second-sort-previous': by((sort) => withNextSecond(keys, sort, -1)),
		'invert-second-sort'(state) {
			const sort = withSecondInverted(sortOf(state));
			return sort === undefined ? withFlash(state, 'warning', noSecondSort) : withSort(state, sort);
		},
	} as const satisfies Readonly<Record<string, Change>>;
}

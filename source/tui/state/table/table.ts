/** A table of the monitor: its rows, its selection, and the effects of keys. */
import {isPanelShown, pageRowsOf} from '../../layout.js';
import {remembering} from '../memo.js';
import type {TableName} from '../panels/state.js';
import {withFlash, type State} from '../state.js';
import {
	clearedTable,
	moveSelection,
	noRowText,
	selectRow,
	settledTable,
	sortByTitle,
	tableChanges,
	type TableIntent,
	type TableView,
} from './reduce.js';
import {filteredRows, rowMatcher, selectedIndexIn, sortedRows, tagsOf, type RowRules} from './rows.js';
import {termsIn, type TableState} from './state.js';
import {matcherOf} from './terms.js';

type TableRules<Row> = RowRules<Row, State> &
	Omit<TableView<Row>['rules'], 'sortKeys'> & {
		readonly name: TableName;
		/** The plural of `noun`. By default, `noun` with an `s`. */
		readonly plural?: string;
		/** Returns all rows in the order of the unsorted table. */
		readonly rowsOf: (state: State) => readonly Row[];
		/** Combines the filtered rows before they are sorted, such as the GPUs of a reservation. */
		readonly group?: (rows: readonly Row[], state: State) => readonly Row[];
		/** Rearranges the sorted rows, such as into a tree. */
		readonly nest?: (rows: readonly Row[], state: State) => readonly Row[];
		/** Returns the values of the state, other than the rows, that determine which rows are shown. */
		readonly partsOf?: (state: State) => readonly unknown[];
		/** Whether the rows and the selection are also kept up to date while the panel is hidden. */
		readonly isAlwaysUsed?: boolean;
		/** Whether the view begins with the first row while another panel has the focus. */
		readonly isAtTopUnfocused?: boolean;
	};

/** Changes of a table that are not caused by keys. */
type TableAction =
	| {readonly kind: 'select'; readonly index: number}
	| {readonly kind: 'move'; readonly by: number}
	| {readonly kind: 'sort-by'; readonly title: string};

export type Table<Row = unknown> = {
	readonly name: TableName;
	readonly noun: string;
	readonly plural?: string | undefined;
	readonly isCentered?: boolean;
	/** Returns all rows, including those that the filter hides. */
	readonly all: (state: State) => readonly Row[];
	/** Returns the rows that match the filter, before they are grouped and sorted. */
	readonly filtered: (state: State) => readonly Row[];
	/** Returns the rows that are shown, in order. */
	readonly shown: (state: State) => readonly Row[];
	readonly selectedIndex: (state: State) => number | undefined;
	readonly selected: (state: State) => Row | undefined;
	/** Whether a row, or a row that is folded into it, has one of these tags. */
	isTagged(row: Row, tags: ReadonlySet<string>): boolean;
	/** Returns the tagged rows, including those that the filter hides. */
	readonly tagged: (state: State) => readonly Row[];
	/** Returns, for each shown row, whether it matches all terms of this text. */
	readonly matches: (state: State, text: string) => readonly boolean[];
	/** Returns why a filter or search cannot match anything. Undefined if it can. */
	readonly problemIn: (state: State, text: string) => string | undefined;
	readonly isFollowed: (state: State) => boolean;
	readonly change: (state: State, action: TableIntent | TableAction) => State;
	/** Returns the state without tags. If there are none, returns it without the filter. Undefined if there is neither. */
	readonly cleared: (state: State) => State | undefined;
	readonly settled: (state: State) => State;
};

export function tableOf<Row>(rules: TableRules<Row>): Table<Row> {
	const {name, noun, plural, isCentered, rowsOf, isAlwaysUsed = false, isAtTopUnfocused = false} = rules;
	const sortKeysOf = (state: State): readonly string[] => Object.keys(rules.valuesOf(state, []));
	const withTable = (state: State, table: TableState): State =>
		table === state[name] ? state : {...state, [name]: table};

	const filtered = remembering(
		(state: State) => [rowsOf(state), state[name].filter, state.settings.requester],
		(state) => filteredRows(rowsOf(state), state[name].filter, rules, state),
	);
	const shown = remembering(
		(state: State) => [filtered(state), state[name].sort, ...(rules.partsOf?.(state) ?? [])],
		(state) => {
			const rows = rules.group?.(filtered(state), state) ?? filtered(state);
			const sorted = sortedRows(rows, state[name].sort, rules, state);
			return rules.nest?.(sorted, state) ?? sorted;
		},
	);
	const selectedIndex = remembering(
		(state: State) => [shown(state), state[name].selected],
		(state) => selectedIndexIn(shown(state), state[name].selected, rules),
	);
	const isFollowed = (state: State): boolean => !isAtTopUnfocused || state.panels.focus === name;
	const isTagged = (row: Row, tags: ReadonlySet<string>): boolean => tagsOf(rules, row).some((tag) => tags.has(tag));
	const viewOf = (state: State): TableView<Row> => ({
		rows: shown(state),
		all: rowsOf(state),
		height: Math.max(1, pageRowsOf(state, name)),
		rules: {...rules, sortKeys: sortKeysOf(state)},
		isFollowed: isFollowed(state),
	});

	function changed(state: State, action: TableIntent | TableAction): TableState | string {
		const table = state[name];
		const view = viewOf(state);
		if (typeof action === 'string') {
			return tableChanges[action](table, view);
		}

		switch (action.kind) {
			case 'select': {
				return selectRow(table, view, action.index);
			}

			case 'move': {
				return moveSelection(table, view, action.by);
			}

			case 'sort-by': {
				return view.rules.sortKeys.includes(action.title) ? sortByTitle(table, action.title) : table;
			}
		}
	}

	return {
		name,
		noun,
		plural,
		isCentered,
		all: rowsOf,
		filtered,
		shown,
		selectedIndex,
		selected(state) {
			const index = selectedIndex(state);
			return index === undefined ? undefined : shown(state)[index];
		},
		isTagged,
		tagged(state) {
			const {tags} = state[name];
			return tags.size === 0 ? [] : rowsOf(state).filter((row) => isTagged(row, tags));
		},
		matches(state, text) {
			return shown(state).map(rowMatcher(shown(state), text, rules, state));
		},
		problemIn(state, text) {
			const columns = sortKeysOf(state).map((key) => key.toLowerCase());
			const matcher = matcherOf(termsIn(text), new Set(columns));
			return typeof matcher === 'string' ? matcher : undefined;
		},
		isFollowed,
		change(state, action) {
			const table = changed(state, action);
			return typeof table === 'string' ? withFlash(state, 'warning', table) : withTable(state, table);
		},
		cleared(state) {
			const table = clearedTable(state[name]);
			return table === undefined ? undefined : withTable(state, table);
		},
		settled: (state) =>
			isAlwaysUsed || state.panels.focus === name || isPanelShown(state, name)
				? withTable(state, settledTable(state[name], viewOf(state)))
				: state,
	};
}

export const noRowIn = ({name, noun}: Pick<Table, 'name' | 'noun'>, state: State): string =>
	noRowText(noun, state[name].filter);

/** A table of the monitor: its rows, its selection, and the effects of keys. */
import {isPanelShown, pageRowsOf} from '../../layout.js';
import {keepingElements, remembering} from '../memo.js';
import type {TableName} from '../panels/state.js';
import {withFlash, type State} from '../state.js';
import {
	clearedTable,
	firstRowIn,
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
		/** Combines filtered rows into one row before sorting, such as the GPUs of a reservation. */
		readonly group?: (rows: readonly Row[], state: State) => readonly Row[];
		/** Rearranges the sorted rows, such as into a tree. */
		readonly nest?: (rows: readonly Row[], state: State) => readonly Row[];
		/** Whether two rows look the same on the screen. By default, only a row and itself do. */
		readonly looksSame?: (a: Row, b: Row) => boolean;
		/** Returns the parts of the state, other than the rows, that determine which rows are shown. */
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

/** Returns a table: the functions that read its rows from the state, and those that change it. */
export function tableOf<Row>(rules: TableRules<Row>) {
	const {name, noun, plural, rowsOf, isAlwaysUsed = false, isAtTopUnfocused = false} = rules;
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
	const selected = (state: State): Row | undefined => shown(state)[selectedIndex(state) ?? -1];
	const isTagged = (row: Row, tags: ReadonlySet<string>): boolean => tagsOf(rules, row).some((tag) => tags.has(tag));
	const tagged = (state: State): readonly Row[] => {
		const {tags} = state[name];
		return tags.size === 0 ? [] : rowsOf(state).filter((row) => isTagged(row, tags));
	};

	const viewOf = (state: State, height: number): TableView<Row> => ({
		rows: shown(state),
		all: rowsOf(state),
		height: Math.max(1, height),
		rules: {...rules, sortKeys: sortKeysOf(state)},
		isFollowed: !isAtTopUnfocused || state.panels.focus === name,
	});

	function changed(state: State, action: TableIntent | TableAction): TableState | string {
		const table = state[name];
		const view = viewOf(state, pageRowsOf(state, name));
		if (typeof action === 'string') {
			return tableChanges[action](table, view);
		}

		if (action.kind === 'sort-by') {
			return view.rules.sortKeys.includes(action.title) ? sortByTitle(table, action.title) : table;
		}

		return action.kind === 'select' ? selectRow(table, view, action.index) : moveSelection(table, view, action.by);
	}

	return {
		name,
		noun,
		plural,
		/** Returns all rows, including those that the filter hides. */
		all: rowsOf,
		/** Returns the rows that match the filter, before they are grouped and sorted. */
		filtered,
		/** Returns the rows that are shown, in order. */
		shown,
		/** Returns the shown rows to draw. A row that looks as before is the same object as before, but its times can be older. */
		drawn: rules.looksSame === undefined ? shown : keepingElements(shown, rules.looksSame),
		selectedIndex,
		selected,
		/** Whether a row, or a row that is folded into it, has one of these tags. */
		isTagged,
		/** Returns the tagged rows, including those that the filter hides. */
		tagged,
		/** Returns the rows that a key acts on: the tagged rows, or else the selected row. */
		chosen(state: State): readonly Row[] {
			const rows = tagged(state);
			const row = selected(state);
			return rows.length > 0 || row === undefined ? rows : [row];
		},
		/** Returns, for each shown row, whether it matches all terms of this text. */
		matches: (state: State, text: string): readonly boolean[] =>
			shown(state).map(rowMatcher(shown(state), text, rules, state)),
		/** Returns why a filter or search cannot match anything. Undefined if it can. */
		problemIn(state: State, text: string): string | undefined {
			const columns = sortKeysOf(state).map((key) => key.toLowerCase());
			const matcher = matcherOf(termsIn(text), new Set(columns));
			return typeof matcher === 'string' ? matcher : undefined;
		},
		/** Returns the first row in view. `height` is the number of rows that are in view at once. */
		firstRow: (state: State, height: number): number =>
			firstRowIn(state[name].firstRow, selectedIndex(state), viewOf(state, height)),
		change(state: State, action: TableIntent | TableAction): State {
			const table = changed(state, action);
			return typeof table === 'string' ? withFlash(state, 'warning', table) : withTable(state, table);
		},
		/** Clears the tags. If there are no tags, clears the filter. Returns undefined if there is nothing to clear. */
		cleared(state: State): State | undefined {
			const table = clearedTable(state[name]);
			return table === undefined ? undefined : withTable(state, table);
		},
		settled: (state: State): State =>
			isAlwaysUsed || state.panels.focus === name || isPanelShown(state, name)
				? withTable(state, settledTable(state[name], viewOf(state, pageRowsOf(state, name))))
				: state,
	};
}

export type Table<Row> = ReturnType<typeof tableOf<Row>>;

export const noRowIn = ({name, noun}: Pick<Table<never>, 'name' | 'noun'>, state: State): string =>
	noRowText(noun, state[name].filter);

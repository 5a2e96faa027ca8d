/** What the keys do to the table. */
import {withFlash, type State} from '../state.js';
import {changed, fieldOf, type FieldChange} from '../text-field.js';
import {layoutOf, tableRowsOf} from '../../layout.js';
import {userOfRow} from './filter.js';
import {membersOf} from './fold.js';
import {rowWith, selectedRow, visibleRows} from './rows.js';
import {tagOf, noFilter, sortKeys, type Filter, type Sort, type TableState} from './state.js';
import {noSecondSort, sortedByNext, withInverted, withNextSecond, withSecondInverted} from './order.js';

const withTable = (state: State, more: Partial<TableState>): State => ({...state, table: {...state.table, ...more}});

const withFilter = (state: State, more: Partial<Filter>): State =>
	withTable(state, {filter: {...state.table.filter, ...more}});

/** Selects the row with this index in the table, or the last there is. */
export function focusRow(state: State, index: number): State {
	const rows = visibleRows(state);
	const row = rows[Math.max(0, Math.min(index, rows.length - 1))];
	return row === undefined ? state : {...withTable(state, {selectedUuid: row.reading?.uuid}), selectedGpu: row.index};
}

/** The neighbour in the same line, where two GPUs stand side by side. */
function focusColumn(state: State, by: 1 | -1): State {
	const {tableRows, tableColumns} = layoutOf(state);
	const target = selectedRowNumber(state) + by * tableRows;
	return tableColumns === 1 || target < 0 || target >= visibleRows(state).length ? state : focusRow(state, target);
}

/** Where the selected GPU stands in the table; -1 where it is hidden. */
export const selectedRowNumber = (state: State): number =>
	visibleRows(state).findIndex(({index}) => index === state.selectedGpu);

const focusBy = (state: State, by: number): State => focusRow(state, selectedRowNumber(state) + by);

const sortBy = (state: State, change: (sort: Sort) => Sort): State =>
	withTable(state, {sort: change(state.table.sort)});

/** Tags the GPUs of the selected row, or takes their tags away where all have one, and goes on to the next. */
function toggleTag(state: State): State {
	const row = selectedRow(state);
	if (row === undefined) {
		return state;
	}

	const meant = new Set(membersOf(rowWith(state, row.index) ?? row).map(({index, reading}) => tagOf(index, reading)));
	const {tags} = state.table;
	return focusBy(withTable(state, {tags: meant.isSubsetOf(tags) ? tags.difference(meant) : tags.union(meant)}), 1);
}

function openFilter(state: State): State {
	const {filter, selectedUuid} = state.table;
	return withTable(state, {
		prompt: {field: fieldOf(filter.text), before: {text: filter.text, selectedGpu: state.selectedGpu, selectedUuid}},
	});
}

/** As it was before: the filter, and the selection with it. */
function dropFilter(state: State): State {
	const {prompt} = state.table;
	if (prompt === undefined) {
		return state;
	}

	const {text, selectedGpu, selectedUuid} = prompt.before;
	return {...withTable(withFilter(state, {text}), {prompt: undefined, selectedUuid}), selectedGpu};
}

/** Only the user of the selected row, or everybody again. */
function filterUser(state: State): State {
	if (state.table.filter.user !== undefined) {
		return withFilter(state, {user: undefined});
	}

	const row = selectedRow(state);
	const user = row && userOfRow(row);
	return user === undefined
		? withFlash(state, 'warning', 'This GPU has no user: select a row of the user to filter by')
		: withFilter(state, {user});
}

const clearMarks = (state: State): State =>
	state.table.tags.size > 0 ? withTable(state, {tags: new Set()}) : withTable(state, {filter: noFilter});

export const tableIntents = {
	'focus-next-row': (state) => focusBy(state, 1),
	'focus-previous-row': (state) => focusBy(state, -1),
	'focus-next-page': (state) => focusBy(state, tableRowsOf(state)),
	'focus-previous-page': (state) => focusBy(state, -tableRowsOf(state)),
	'focus-first-row': (state) => focusRow(state, 0),
	'focus-last-row': (state) => focusRow(state, Infinity),
	'focus-left-column': (state) => focusColumn(state, -1),
	'focus-right-column': (state) => focusColumn(state, 1),
	'toggle-tag': toggleTag,
	'sort-next': (state) => sortBy(state, (sort) => sortedByNext(sortKeys, sort, 1)),
	'sort-previous': (state) => sortBy(state, (sort) => sortedByNext(sortKeys, sort, -1)),
	'invert-sort': (state) => sortBy(state, withInverted),
	'second-sort-next': (state) => sortBy(state, (sort) => withNextSecond(sortKeys, sort, 1)),
	'second-sort-previous': (state) => sortBy(state, (sort) => withNextSecond(sortKeys, sort, -1)),
	'invert-second-sort'(state) {
		const sort = withSecondInverted(state.table.sort);
		return sort === undefined ? withFlash(state, 'warning', noSecondSort) : withTable(state, {sort});
	},
	'open-filter': openFilter,
	'keep-filter': (state) => withTable(state, {prompt: undefined}),
	'drop-filter': dropFilter,
	'filter-user': filterUser,
	'filter-mine': (state) => withFilter(state, {isMine: !state.table.filter.isMine}),
	'clear-marks': clearMarks,
} as const satisfies Readonly<Record<string, (state: State) => State>>;

/** What a user may want of a table: of that of the GPUs, or of that of the processes where this has the focus. */
export type TableIntent = keyof typeof tableIntents;

/** Typing into the filter: the table follows at once. */
export function changeFilter(state: State, change: FieldChange): State {
	const {prompt} = state.table;
	if (prompt === undefined) {
		return state;
	}

	const field = changed(prompt.field, change);
	return withTable(withFilter(state, {text: field.value}), {prompt: {...prompt, field}});
}

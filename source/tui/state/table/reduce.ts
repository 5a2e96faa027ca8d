/** Applies keys to the GPU table. */
import {withFlash, type State, rowsOf} from '../state.js';
import {layoutOf, tableRowsOf} from '../../layout.js';
import type {StatusRow} from '../../../core/rules/pool/status.js';
import {userOfRow, rowWith, selectedRow, visibleRows} from './rows.js';
import {membersOf, type TableRow} from './fold.js';
import {isFiltered, tagOf, noFilter, sortKeys, type TableState} from './state.js';
import {filterChanges, firstInView, sortChanges} from './alike.js';

const withTable = (state: State, more: Partial<TableState>): State => ({...state, table: {...state.table, ...more}});

/** Selects the row with this index, or the last row. */
export function focusRow(state: State, index: number): State {
	const rows = visibleRows(state);
	const row = rows[Math.max(0, Math.min(index, rows.length - 1))];
	return row === undefined ? state : {...withTable(state, {selectedUuid: row.reading?.uuid}), selectedGpu: row.index};
}

/** Selects the neighbor in the same line, if two GPUs are side by side. */
function focusColumn(state: State, by: 1 | -1): State {
	const {tableColumns} = layoutOf(state);
	const target = selectedRowNumber(state) + by * (tableRowsOf(state) / tableColumns);
	return tableColumns === 1 || target < 0 || target >= visibleRows(state).length ? state : focusRow(state, target);
}

/** Returns the row index of the selected GPU, or -1 if the GPU is hidden. */
export const selectedRowNumber = (state: State): number =>
	visibleRows(state).findIndex(({index}) => index === state.selectedGpu);

const focusBy = (state: State, by: number): State => focusRow(state, selectedRowNumber(state) + by);

/** Toggles the tags of the selected row's GPUs, and moves to the next row. */
function toggleTag(state: State): State {
	const row = selectedRow(state);
	if (row === undefined) {
		return withFlash(state, 'warning', 'No GPU is shown: Esc clears the filter');
	}

	const chosen = new Set(membersOf(rowWith(state, row.index) ?? row).map(({index, reading}) => tagOf(index, reading)));
	const {tags} = state.table;
	return focusBy(withTable(state, {tags: chosen.isSubsetOf(tags) ? tags.difference(chosen) : tags.union(chosen)}), 1);
}

const filter = filterChanges({
	name: 'table',
	selectionOf: ({selectedGpu, table: {selectedUuid}}) => ({selectedGpu, selectedUuid}),
	select: (state, {selectedGpu, selectedUuid}) => ({...withTable(state, {selectedUuid}), selectedGpu}),
	userOf(state) {
		const row = selectedRow(state);
		return row && userOfRow(row);
	},
	noUser: 'This GPU has no user: select a row of the user to filter by',
});

/** Clears the tags first, then the filter, then the zoom. */
function clearMarks(state: State): State {
	const {tags, filter: shown} = state.table;
	if (tags.size > 0) {
		return withTable(state, {tags: new Set()});
	}

	return isFiltered(shown)
		? withTable(state, {filter: noFilter})
		: {...state, panels: {...state.panels, isZoomed: false}};
}

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
	...sortChanges(
		sortKeys,
		({table}) => table.sort,
		(state, sort) => withTable(state, {sort}),
	),
	'open-filter': filter.open,
	'keep-filter': filter.keep,
	'drop-filter': filter.drop,
	'filter-user': filter.user,
	'filter-mine': filter.mine,
	'clear-marks': clearMarks,
} as const satisfies Readonly<Record<string, (state: State) => State>>;

export type TableIntent = keyof typeof tableIntents;

/** Finds the selected GPU in the new rows. The index distinguishes two GPUs with the same UUID. */
function followedGpu({selectedGpu, table: {selectedUuid}}: State, rows: readonly StatusRow[]): number | undefined {
	return selectedUuid === undefined || rows.find(({index}) => index === selectedGpu)?.reading?.uuid === selectedUuid
		? selectedGpu
		: (rows.find(({reading}) => reading?.uuid === selectedUuid)?.index ?? selectedGpu);
}

/** Returns the row of a GPU, or the nearest row by index. */
function nearest(rows: readonly TableRow[], gpu: number): TableRow | undefined {
	const distance = (row: TableRow): number => Math.min(...membersOf(row).map(({index}) => Math.abs(index - gpu)));
	return rows.toSorted((a, b) => distance(a) - distance(b))[0];
}

/** Replaces tags by index with tags by UUID once a GPU was scanned. */
function settledTags(tags: ReadonlySet<string>, rows: readonly StatusRow[]): ReadonlySet<string> {
	const late = new Map(
		rows.filter(({index}) => tags.has(`#${index}`)).map(({index, reading}) => [`#${index}`, tagOf(index, reading)]),
	);
	return late.entries().every(([tag, known]) => tag === known)
		? tags
		: new Set([...tags].map((tag) => late.get(tag) ?? tag));
}

/** Keeps the selected GPU selected and in view after any change of the rows. */
export function settled(state: State): State {
	const rows = visibleRows(state);
	const selected = nearest(rows, followedGpu(state, rowsOf(state)) ?? 0);
	const selectedGpu = selected?.index;
	// A GPU without a reading keeps its UUID, as it may come back at another index.
	const isSameGpu = selectedGpu === state.selectedGpu;
	const selectedUuid =
		selected === undefined
			? state.table.selectedUuid
			: (selected.reading?.uuid ?? (isSameGpu ? state.table.selectedUuid : undefined));
	const tags = settledTags(state.table.tags, rowsOf(state));
	const position = Math.max(
		0,
		rows.findIndex(({index}) => index === selectedGpu),
	);
	const firstRow = firstInView(state.firstRow, position, {shown: tableRowsOf(state), total: rows.length});
	const table =
		selectedUuid === state.table.selectedUuid && tags === state.table.tags
			? state.table
			: {...state.table, selectedUuid, tags};
	return isSameGpu && firstRow === state.firstRow && table === state.table
		? state
		: {...state, selectedGpu, firstRow, table};
}

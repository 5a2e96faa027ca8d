/** Keeps the selection on the GPU that was meant, and in view, whatever happened to the rows. */
import type {StatusRow} from '../../../core/rules/pool/status.js';
import {rowsOf, type State} from '../state.js';
import {tableRowsOf} from '../../layout.js';
import {membersOf, type TableRow} from './fold.js';
import {visibleRows} from './rows.js';
import {tagOf} from './state.js';

/** Where the GPU is now that was selected. Two that claim one uuid are told apart by their index. */
function meantGpu({selectedGpu, table: {selectedUuid}}: State, rows: readonly StatusRow[]): number | undefined {
	return selectedUuid === undefined || rows.find(({index}) => index === selectedGpu)?.reading?.uuid === selectedUuid
		? selectedGpu
		: (rows.find(({reading}) => reading?.uuid === selectedUuid)?.index ?? selectedGpu);
}

/** The one that the meant GPU stands in, or the nearest to it by index. */
function nearest(rows: readonly TableRow[], meant: number): TableRow | undefined {
	const distance = (row: TableRow): number => Math.min(...membersOf(row).map(({index}) => Math.abs(index - meant)));
	return rows.toSorted((a, b) => distance(a) - distance(b))[0];
}

/** A GPU that was tagged by its index before it was scanned is tagged by its uuid from then on. */
function settledTags(tags: ReadonlySet<string>, rows: readonly StatusRow[]): ReadonlySet<string> {
	const isLate = (row: StatusRow): boolean => row.reading?.uuid !== undefined && tags.has(`#${row.index}`);
	if (tags.size === 0 || rows.every((row) => !isLate(row))) {
		return tags;
	}

	const late = new Set(rows.filter((row) => isLate(row)));
	return new Set([
		...[...tags].filter((tag) => [...late].every(({index}) => tag !== `#${index}`)),
		...[...late].map((row) => tagOf(row.index, row.reading)),
	]);
}

export function settled(state: State): State {
	const rows = visibleRows(state);
	const selected = nearest(rows, meantGpu(state, rowsOf(state)) ?? 0);
	const selectedGpu = selected?.index;
	// Whose reading is missing keeps its name: it may come back elsewhere.
	const isSameGpu = selectedGpu === state.selectedGpu;
	const selectedUuid =
		selected === undefined
			? state.table.selectedUuid
			: (selected.reading?.uuid ?? (isSameGpu ? state.table.selectedUuid : undefined));
	const tags = settledTags(state.table.tags, rowsOf(state));
	const shown = tableRowsOf(state);
	const position = Math.max(
		0,
		rows.findIndex(({index}) => index === selectedGpu),
	);
	const lastFirst = Math.max(0, rows.length - shown);
	const firstRow = Math.min(lastFirst, Math.max(0, Math.min(state.firstRow, position), position - shown + 1));
	const table =
		selectedUuid === state.table.selectedUuid && tags === state.table.tags
			? state.table
			: {...state.table, selectedUuid, tags};
	return isSameGpu && firstRow === state.firstRow && table === state.table
		? state
		: {...state, selectedGpu, firstRow, table};
}

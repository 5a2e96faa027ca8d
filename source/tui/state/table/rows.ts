/** The rows of the table as they are shown now, and which of them are meant. */
import type {StatusRow} from '../../../core/rules/pool/status.js';
import {remembering} from '../memo.js';
import {rowsOf, type State} from '../state.js';
import {isFolded} from '../../layout.js';
import {isShown} from './filter.js';
import {folded, membersOf, type TableRow} from './fold.js';
import {sorted} from './sort.js';
import {tagOf} from './state.js';

/** The GPUs that the filter leaves, by their index. */
export const filteredRows = remembering(
	(state: State) => [rowsOf(state), state.table.filter, state.settings.requester],
	(state: State): readonly StatusRow[] => {
		const {table, settings, observation} = state;
		const isScanned = observation !== undefined;
		return rowsOf(state).filter((row) => isShown(row, table.filter, settings.requester, isScanned));
	},
);

/** What is read aloud says each GPU by itself. */
const hasFolds = (state: State): boolean => !state.settings.isLinear && isFolded(state);

/** Filtered and in order, those of one reservation as one row where they are folded. */
export const visibleRows = remembering(
	(state: State) => [filteredRows(state), state.table.sort, hasFolds(state)],
	(state: State): readonly TableRow[] => {
		const rows = filteredRows(state);
		return sorted(hasFolds(state) ? folded(rows) : rows, state.table.sort);
	},
);

/** The row in which a GPU stands. */
export const rowWith = (state: State, gpu: number | undefined): TableRow | undefined =>
	visibleRows(state).find((row) => membersOf(row).some(({index}) => index === gpu));

/** The row of the selected GPU. Undefined when the filter leaves none. */
export const selectedRow = (state: State): StatusRow | undefined =>
	state.selectedGpu === undefined ? undefined : rowsOf(state)[state.selectedGpu];

/** The indices of the tagged GPUs as they are now, in order; whatever the filter hides. */
export const taggedGpus = (state: State): readonly number[] =>
	rowsOf(state)
		.filter((row) => state.table.tags.has(tagOf(row.index, row.reading)))
		.map(({index}) => index);

/** The GPUs of the selected row: one, or those of a reservation that is folded. */
export const selectedGpus = (state: State): readonly number[] => {
	const {selectedGpu} = state;
	const row = rowWith(state, selectedGpu);
	return row === undefined ? (selectedGpu === undefined ? [] : [selectedGpu]) : membersOf(row).map(({index}) => index);
};

/** What an action is about: the tagged GPUs, or else those of the selected row. */
export function chosenGpus(state: State): readonly number[] {
	const tagged = taggedGpus(state);
	return tagged.length > 0 || state.selectedGpu === undefined ? tagged : selectedGpus(state);
}

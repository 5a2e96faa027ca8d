/** The rows of the table as they are shown now, and which of them are meant. */
import type {StatusRow} from '../../../core/rules/pool/status.js';
import {remembering} from '../memo.js';
import {rowsOf, type State} from '../state.js';
import {isShown} from './filter.js';
import {sorted} from './sort.js';
import {tagOf} from './state.js';

/** Filtered and in order. */
export const visibleRows = remembering(
	(state: State) => [rowsOf(state), state.table.filter, state.table.sort, state.settings.requester],
	(state: State): readonly StatusRow[] => {
		const {table, settings, observation} = state;
		const isScanned = observation !== undefined;
		const shown = rowsOf(state).filter((row) => isShown(row, table.filter, settings.requester, isScanned));
		return sorted(shown, table.sort);
	},
);

/** The row of the selected GPU. Undefined when the filter leaves none. */
export const selectedRow = (state: State): StatusRow | undefined =>
	state.selectedGpu === undefined ? undefined : rowsOf(state)[state.selectedGpu];

/** The indices of the tagged GPUs as they are now, in order; whatever the filter hides. */
export const taggedGpus = (state: State): readonly number[] =>
	rowsOf(state)
		.filter((row) => state.table.tags.has(tagOf(row.index, row.reading)))
		.map(({index}) => index);

/** What an action is about: the tagged GPUs, or else the selected one. */
export function chosenGpus(state: State): readonly number[] {
	const tagged = taggedGpus(state);
	return tagged.length > 0 || state.selectedGpu === undefined ? tagged : [state.selectedGpu];
}

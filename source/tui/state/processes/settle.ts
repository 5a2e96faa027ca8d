/** Keeps the selection on the process that was meant, and in view, whatever happened to the rows. */
import {layoutOf, pageRowsOf} from '../../layout.js';
import type {State} from '../state.js';
import {selectedProcessIndex, visibleProcesses} from './rows.js';

const isInView = (state: State): boolean => {
	const {alone, processRows} = layoutOf(state);
	return alone === 'processes' || (alone === undefined && processRows > 0);
};

/** Hundreds of processes are put in order only where they are seen. */
export function settledProcesses(state: State): State {
	if (!isInView(state)) {
		return state;
	}

	const rows = visibleProcesses(state);
	const index = selectedProcessIndex(state);
	const {processes} = state;
	if (index === undefined) {
		return processes.firstRow === 0 ? state : {...state, processes: {...processes, firstRow: 0}};
	}

	const shown = Math.max(1, pageRowsOf(state, 'processes'));
	const lastFirst = Math.max(0, rows.length - shown);
	// Without the focus nothing is selected: the table begins with its first rows.
	const meant = state.panels.focus === 'processes' ? Math.min(processes.firstRow, index) : 0;
	const firstRow = Math.min(lastFirst, Math.max(meant, state.panels.focus === 'processes' ? index - shown + 1 : 0));
	const {key} = rows[index]!;
	return firstRow === processes.firstRow && index === processes.position && key === processes.selectedKey
		? state
		: {...state, processes: {...processes, firstRow, position: index, selectedKey: key}};
}

/** What the keys of tables do to the table of processes. */
import {withFlash, type State} from '../state.js';
import {isPanelShown, pageRowsOf} from '../../layout.js';
import {leavePanel} from '../panels/reduce.js';
import {filterChanges, firstInView, sortChanges} from '../table/alike.js';
import type {TableIntent} from '../table/reduce.js';
import {isFiltered, noFilter} from '../table/state.js';
import {selectedProcess, selectedProcessIndex, visibleProcesses} from './rows.js';
import {processSortKeys, type ProcessesState} from './state.js';

const withProcesses = (state: State, more: Partial<ProcessesState>): State => ({
	...state,
	processes: {...state.processes, ...more},
});

/** Selects the row with this index in the table, or the last there is. */
export function focusProcess(state: State, index: number): State {
	const rows = visibleProcesses(state);
	const position = Math.max(0, Math.min(index, rows.length - 1));
	return withProcesses(state, {position, selectedKey: rows[position]?.key});
}

const focusBy = (state: State, by: number): State => focusProcess(state, (selectedProcessIndex(state) ?? 0) + by);

const pageOf = (state: State): number => Math.max(1, pageRowsOf(state, 'processes'));

/** Says why a key about a process does nothing. */
const withoutProcess = (state: State): State =>
	withFlash(
		state,
		'warning',
		isFiltered(state.processes.filter) ? 'No process is shown: Esc clears the filter' : 'No process is shown',
	);

/** Tags the selected process, or takes its tag away, and goes on to the next. */
function toggleTag(state: State): State {
	const selected = selectedProcess(state);
	if (selected === undefined) {
		return withoutProcess(state);
	}

	const tags = new Set(state.processes.tags);
	if (!tags.delete(selected.key)) {
		tags.add(selected.key);
	}

	return focusBy(withProcesses(state, {tags}), 1);
}

const filter = filterChanges({
	name: 'processes',
	selectionOf: ({processes}) => processes.selectedKey,
	select: (state, selectedKey) => withProcesses(state, {selectedKey}),
	userOf: (state) => selectedProcess(state)?.process.user,
	noUser: 'The user of this process is unknown: select another to filter by',
});

/** The tags first, then the filter; with neither, back to the GPUs. */
function clearMarks(state: State): State {
	const {tags, filter: shown} = state.processes;
	if (tags.size > 0) {
		return withProcesses(state, {tags: new Set()});
	}

	return isFiltered(shown) ? withProcesses(state, {filter: noFilter}) : leavePanel(state);
}

/** The same intents as those of the table of GPUs: the keys of all tables are the same. */
export const processIntents: Readonly<Record<TableIntent, (state: State) => State>> = {
	'focus-next-row': (state) => focusBy(state, 1),
	'focus-previous-row': (state) => focusBy(state, -1),
	'focus-next-page': (state) => focusBy(state, pageOf(state)),
	'focus-previous-page': (state) => focusBy(state, -pageOf(state)),
	'focus-first-row': (state) => focusProcess(state, 0),
	'focus-last-row': (state) => focusProcess(state, Infinity),
	// A process has a line of its own.
	'focus-left-column': (state) => state,
	'focus-right-column': (state) => state,
	'toggle-tag': toggleTag,
	...sortChanges(
		processSortKeys,
		({processes}) => processes.sort,
		(state, sort) => withProcesses(state, {sort}),
	),
	'open-filter': filter.open,
	'keep-filter': filter.keep,
	'drop-filter': filter.drop,
	'filter-user': filter.user,
	'filter-mine': filter.mine,
	'clear-marks': clearMarks,
};

/** Opens the selected process: what is known of it, with graphs. */
export function openProcess(state: State): State {
	const selected = selectedProcess(state);
	return selected === undefined ? withoutProcess(state) : {...state, dialog: {kind: 'process', shown: selected}};
}

/** Goes on to another process while one is open. */
export const stepProcess = (state: State, by: 1 | -1): State => openProcess(focusBy(state, by));

const isInView = (state: State): boolean => isPanelShown(state, 'processes');

/**
Keeps the selection on the process that was selected, and in view, whatever happened to the rows. Hundreds of processes are put in order only where
they are seen.
*/
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
	// Without the focus nothing is selected: the table begins with its first rows.
	const firstRow =
		state.panels.focus === 'processes' ? firstInView(processes.firstRow, index, {shown, total: rows.length}) : 0;
	const {key} = rows[index]!;
	return firstRow === processes.firstRow && index === processes.position && key === processes.selectedKey
		? state
		: {...state, processes: {...processes, firstRow, position: index, selectedKey: key}};
}

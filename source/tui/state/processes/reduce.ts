/** What the keys of tables do to the table of processes. */
import {withFlash, type State} from '../state.js';
import {fieldOf} from '../text-field.js';
import {pageRowsOf, layoutOf} from '../../layout.js';
import {noSecondSort, sortedByNext, withInverted, withNextSecond, withSecondInverted} from '../table/order.js';
import type {TableIntent} from '../table/reduce.js';
import {isFiltered, noFilter, type Filter} from '../table/state.js';
import {selectedProcess, selectedProcessIndex, visibleProcesses} from './rows.js';
import {processSortKeys, type ProcessesState, type ProcessSort} from './state.js';

const withProcesses = (state: State, more: Partial<ProcessesState>): State => ({
	...state,
	processes: {...state.processes, ...more},
});

const withFilter = (state: State, more: Partial<Filter>): State =>
	withProcesses(state, {filter: {...state.processes.filter, ...more}});

/** Selects the row with this index in the table, or the last there is. */
export function focusProcess(state: State, index: number): State {
	const rows = visibleProcesses(state);
	const position = Math.max(0, Math.min(index, rows.length - 1));
	return withProcesses(state, {position, selectedKey: rows[position]?.key});
}

const focusBy = (state: State, by: number): State => focusProcess(state, (selectedProcessIndex(state) ?? 0) + by);

const pageOf = (state: State): number => Math.max(1, pageRowsOf(state, 'processes'));

const sortBy = (state: State, change: (sort: ProcessSort) => ProcessSort): State =>
	withProcesses(state, {sort: change(state.processes.sort)});

/** Tags the selected process, or takes its tag away, and goes on to the next. */
function toggleTag(state: State): State {
	const selected = selectedProcess(state);
	if (selected === undefined) {
		return state;
	}

	const tags = new Set(state.processes.tags);
	if (!tags.delete(selected.key)) {
		tags.add(selected.key);
	}

	return focusBy(withProcesses(state, {tags}), 1);
}

function openFilter(state: State): State {
	const {filter, selectedKey} = state.processes;
	return withProcesses(state, {prompt: {field: fieldOf(filter.text), before: {text: filter.text, selectedKey}}});
}

/** As it was before: the filter, and the selection with it. */
function dropFilter(state: State): State {
	const {prompt} = state.processes;
	return prompt === undefined
		? state
		: withProcesses(withFilter(state, {text: prompt.before.text}), {
				prompt: undefined,
				selectedKey: prompt.before.selectedKey,
			});
}

/** Shows only the processes of the selected one's user, or those of everybody again. */
function filterUser(state: State): State {
	if (state.processes.filter.user !== undefined) {
		return withFilter(state, {user: undefined});
	}

	const user = selectedProcess(state)?.process.user;
	return user === undefined
		? withFlash(state, 'warning', 'The user of this process is unknown: select another to filter by')
		: withFilter(state, {user});
}

/** The tags first, then the filter; with neither, back to the GPUs. */
function clearMarks(state: State): State {
	const {tags, filter} = state.processes;
	if (tags.size > 0) {
		return withProcesses(state, {tags: new Set()});
	}

	return isFiltered(filter)
		? withProcesses(state, {filter: noFilter})
		: {...state, panels: {...state.panels, focus: 'table', isZoomed: false}};
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
	'sort-next': (state) => sortBy(state, (sort) => sortedByNext(processSortKeys, sort, 1)),
	'sort-previous': (state) => sortBy(state, (sort) => sortedByNext(processSortKeys, sort, -1)),
	'invert-sort': (state) => sortBy(state, withInverted),
	'second-sort-next': (state) => sortBy(state, (sort) => withNextSecond(processSortKeys, sort, 1)),
	'second-sort-previous': (state) => sortBy(state, (sort) => withNextSecond(processSortKeys, sort, -1)),
	'invert-second-sort'(state) {
		const sort = withSecondInverted(state.processes.sort);
		return sort === undefined ? withFlash(state, 'warning', noSecondSort) : withProcesses(state, {sort});
	},
	'open-filter': openFilter,
	'keep-filter': (state) => withProcesses(state, {prompt: undefined}),
	'drop-filter': dropFilter,
	'filter-user': filterUser,
	'filter-mine': (state) => withFilter(state, {isMine: !state.processes.filter.isMine}),
	'clear-marks': clearMarks,
};

/** Opens the selected process: what is known of it, with graphs. */
export function openProcess(state: State): State {
	const selected = selectedProcess(state);
	return selected === undefined ? state : {...state, dialog: {kind: 'process', shown: selected}};
}

/** Goes on to another process while one is open. */
export const stepProcess = (state: State, by: 1 | -1): State => openProcess(focusBy(state, by));

const isInView = (state: State): boolean => {
	const {alone, processRows} = layoutOf(state);
	return alone === 'processes' || (alone === undefined && processRows > 0);
};

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
	const lastFirst = Math.max(0, rows.length - shown);
	// Without the focus nothing is selected: the table begins with its first rows.
	const before = state.panels.focus === 'processes' ? Math.min(processes.firstRow, index) : 0;
	const firstRow = Math.min(lastFirst, Math.max(before, state.panels.focus === 'processes' ? index - shown + 1 : 0));
	const {key} = rows[index]!;
	return firstRow === processes.firstRow && index === processes.position && key === processes.selectedKey
		? state
		: {...state, processes: {...processes, firstRow, position: index, selectedKey: key}};
}

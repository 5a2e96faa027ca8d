/** What the mouse does to the state: a click selects, sorts or goes somewhere, and the wheel moves by lines. */
import {focusRow, selectedRowNumber} from './table/reduce.js';
import {focusProcess} from './processes/reduce.js';
import {selectedProcessIndex} from './processes/rows.js';
import {sortKeys, type SortKey} from './table/state.js';
import type {ProcessSortKey} from './processes/state.js';
import {selectedLineIndex} from './hosts/lines.js';
import {selectHostLine} from './hosts/reduce.js';
import {selectedPosition, selectPosition} from './panels/queue.js';
import {focusPanel, scrollTo} from './panels/reduce.js';
import type {PanelName} from './panels/state.js';
import {sortedBy, withInverted, type SortBy} from './table/order.js';
import {type State, withFlash} from './state.js';

/** Something of a panel. */
export type Pointed =
	/** Which of all rows, from 0. */
	| {readonly on: 'row'; readonly panel: RowPanel; readonly index: number}
	| {readonly on: 'heading'; readonly panel: 'table'; readonly key: SortKey}
	| {readonly on: 'heading'; readonly panel: 'processes'; readonly key: ProcessSortKey}
	| {readonly on: 'panel'; readonly panel: PanelName};

/** Panels of which a row is selected. */
type RowPanel = 'table' | 'processes' | 'queue' | 'hosts';

export type PointerAction =
	| {readonly kind: 'pointed'; readonly at: Pointed}
	/** The wheel, over a panel; below zero it goes up. */
	| {readonly kind: 'wheeled'; readonly panel: PanelName; readonly lines: number}
	/** A field of the form that is open. */
	| {readonly kind: 'field-pointed'; readonly field: number};

/** A second click turns the order round. */
const clicked = <Key extends string>(sort: SortBy<Key>, key: Key): SortBy<Key> =>
	sort.by === key ? withInverted(sort) : sortedBy(sort, key);

const rowSelections: Readonly<Record<RowPanel, (state: State, index: number) => State>> = {
	table: focusRow,
	processes: focusProcess,
	queue: selectPosition,
	hosts: selectHostLine,
};

const selectedIndices: Readonly<Record<RowPanel, (state: State) => number | undefined>> = {
	table: selectedRowNumber,
	processes: selectedProcessIndex,
	queue: selectedPosition,
	hosts: selectedLineIndex,
};

const isRowPanel = (panel: PanelName): panel is RowPanel => Object.hasOwn(rowSelections, panel);

function point(state: State, at: Pointed): State {
	const focused = focusPanel(state, at.panel);
	switch (at.on) {
		case 'row': {
			return rowSelections[at.panel](focused, at.index);
		}

		case 'heading': {
			return at.panel === 'table'
				? {...focused, table: {...state.table, sort: clicked(state.table.sort, at.key)}}
				: {...focused, processes: {...state.processes, sort: clicked(state.processes.sort, at.key)}};
		}

		case 'panel': {
			return focused;
		}
	}
}

/** Where rows are selected, the selection moves, as it does by keys; the processes show theirs only while they have the focus. */
function wheel(state: State, panel: PanelName, lines: number): State {
	if (!isRowPanel(panel)) {
		return scrollTo(state, panel, state.panels.scroll[panel] + lines);
	}

	const from = panel === 'processes' ? focusPanel(state, panel) : state;
	return rowSelections[panel](from, Math.max(0, (selectedIndices[panel](from) ?? 0) + lines));
}

export function afterPointer(state: State, action: PointerAction): State {
	switch (action.kind) {
		case 'pointed': {
			return point(state, action.at);
		}

		case 'wheeled': {
			return wheel(state, action.panel, action.lines);
		}

		case 'field-pointed': {
			const {dialog} = state;
			return dialog?.kind === 'form' && !dialog.isBusy && dialog.fields[action.field] !== undefined
				? {...state, dialog: {...dialog, focused: action.field}}
				: state;
		}
	}
}

export const isPointerAction = (action: {readonly kind: string}): action is PointerAction =>
	['pointed', 'wheeled', 'field-pointed'].includes(action.kind);

/** Whether a click on the heading of this column sorts by it. */
export const isSortKey = (name: string): name is SortKey => (sortKeys as readonly string[]).includes(name);

/** Listens to the mouse, or leaves it to the terminal. */
export function toggleMouse(state: State): State {
	const {hasMouse, isInGnuScreen} = state.settings;
	if (hasMouse !== true) {
		return withFlash(state, 'warning', 'This terminal is not known to have a mouse');
	}

	const isMouseOn = state.isMouseOn !== true;
	const text = isMouseOn
		? isInGnuScreen === true
			? 'The mouse clicks and scrolls here; meanwhile screen holds Escape back until the next key'
			: 'The mouse clicks and scrolls here; with Shift it selects text'
		: 'The mouse is left to the terminal; M takes it back';
	return withFlash({...state, isMouseOn}, 'ok', text);
}

/** Changes of the state by the mouse. A click selects, sorts or focuses, and the wheel moves by several lines. */
import {focusPanel, moveIn} from './panels/reduce.js';
import type {PanelName, TableName} from './panels/state.js';
import {type Handlers, type State, withFlash} from './state.js';
import {tables} from './table/tables.js';
import {offeredOptions} from './view/options.js';

/** The target of a click. */
type Pointed =
	/** A row. `index` counts all rows of the table, not only those in view. */
	| {readonly on: 'row'; readonly panel: TableName; readonly index: number}
	| {readonly on: 'heading'; readonly panel: TableName; readonly key: string}
	| {readonly on: 'panel'; readonly panel: PanelName};

export type PointerAction =
	| {readonly kind: 'pointed'; readonly at: Pointed}
	/** The wheel was turned over a panel. `lines` is negative if the wheel was turned up. */
	| {readonly kind: 'wheeled'; readonly panel: PanelName; readonly lines: number}
	/** A field of the open form, or a row of the options dialog, was clicked. */
	| {readonly kind: 'field-pointed'; readonly field: number};

export const pointerHandlers: Handlers<PointerAction> = {
	pointed(state, {at}) {
		const focused = focusPanel(state, at.panel);
		return at.on === 'panel'
			? focused
			: tables[at.panel].change(
					focused,
					at.on === 'row' ? {kind: 'select', index: at.index} : {kind: 'sort-by', title: at.key},
				);
	},
	/** Moves the selection as keys do. Focuses the process table, because this table shows its selection only while focused. */
	wheeled: (state, {panel, lines}) => moveIn(panel === 'processes' ? focusPanel(state, panel) : state, panel, lines),
	'field-pointed'(state, {field}) {
		const {dialog} = state;
		if (dialog?.kind === 'options') {
			return {...state, dialog: {...dialog, selected: offeredOptions(state)[field] ?? dialog.selected}};
		}

		return dialog?.kind === 'form' && !dialog.isBusy && dialog.fields[field] !== undefined
			? {...state, dialog: {...dialog, focused: field}}
			: state;
	},
};

/** Turns the mouse on or off. While the mouse is off, the terminal can select text. */
export function toggleMouse(state: State): State {
	const {hasMouse, isInGnuScreen} = state.settings;
	if (hasMouse !== true) {
		return withFlash(state, 'warning', 'This terminal is not known to have a mouse');
	}

	const isMouseOn = state.isMouseOn !== true;
	const text = isMouseOn
		? isInGnuScreen === true
			? 'The mouse clicks and scrolls here, but GNU screen delays Escape until the next key'
			: 'The mouse clicks and scrolls here; with Shift it selects text'
		: 'The mouse is left to the terminal; M takes it back';
	return withFlash({...state, isMouseOn}, 'ok', text);
}

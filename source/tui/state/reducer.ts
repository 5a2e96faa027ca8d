import {commandLineIntents, withText} from './command-line/reduce.js';
import type {DialogIntent, Action} from './actions.js';
import {panelIntents} from './panels/reduce.js';
import {openProcess, processTable} from './processes/rows.js';
import {searchIntents} from './search.js';
import {optionIntents} from './view/options.js';
import {viewIntents} from './view/reduce.js';
import {changeFilter, settledTables, tableIntents} from './table/tables.js';
import {answerHandlers} from './answers.js';
import {behindPause, togglePause} from './pause.js';
import {pointerHandlers, toggleMouse} from './mouse.js';
import {changed, type FieldChange} from './text-field.js';
import {storeNow, type Handlers, type State} from './state.js';
import {updateHandlers} from './live-updates.js';
import {changeForm, fieldChangeOf, isFormAction, type FormAction} from './form.js';

const dialogIntents: Readonly<Record<DialogIntent | 'key-pressed', (state: State) => State>> = {
	'key-pressed': (state) => (state.flash?.untilMs === undefined ? {...state, flash: undefined} : state),
	'open-help': (state) => ({...state, dialog: {kind: 'help'}, panels: {...state.panels, helpPage: 0}}),
	'close-dialog': (state) => ({...state, dialog: state.dialog?.kind === 'output' ? state.dialog.from : undefined}),
	'toggle-pause': togglePause,
	'toggle-mouse': toggleMouse,
	'open-process': openProcess,
	'next-process': (state) => openProcess(processTable.change(state, {kind: 'move', by: 1})),
	'previous-process': (state) => openProcess(processTable.change(state, {kind: 'move', by: -1})),
	...commandLineIntents,
};

const handlers: Handlers<Exclude<Action, FormAction>> = {
	...dialogIntents,
	...tableIntents,
	...panelIntents,
	...viewIntents,
	...optionIntents,
	...searchIntents,
	...answerHandlers,
	...pointerHandlers,
	...updateHandlers,
};

/** Applies typed text to the search. If no search is being typed, applies it to the filter of the focused table. */
function changePrompt(state: State, change: FieldChange): State {
	const {search} = state;
	return search.prompt === undefined
		? changeFilter(state, change)
		: {...state, search: {...search, prompt: changed(search.prompt, change)}};
}

function afterTyping(state: State, action: FormAction): State {
	const {dialog} = state;
	const change = fieldChangeOf(action);
	if (dialog?.kind === 'form' && !dialog.isBusy) {
		return {...state, dialog: changeForm(dialog, action)};
	}

	if (dialog?.kind === 'command' && !dialog.isBusy && change !== undefined) {
		return {...state, dialog: withText(dialog, changed(dialog.field, change))};
	}

	return dialog === undefined && change !== undefined ? changePrompt(state, change) : state;
}

function next(state: State, action: Action): State {
	if (isFormAction(action)) {
		return afterTyping(state, action);
	}

	const handle = handlers[action.kind] as (state: State, action: Action) => State;
	if (!Object.hasOwn(updateHandlers, action.kind)) {
		return handle(state, action);
	}

	// Ignores answers of other hosts during a pause, because the next answer after the pause contains everything.
	return action.kind === 'hosts-arrived' && state.pause !== undefined
		? state
		: behindPause(state, (live) => handle(live, action));
}

const mostErrors = 50;

/** Stores a new message, so that `v` can show the message after it has disappeared. Errors are also added to the events. */
function withKeptMessage(before: State, after: State): State {
	const {flash, events} = after;
	if (flash === undefined || flash === before.flash) {
		return after;
	}

	const errors = [...events.errors, {time: storeNow(after) ?? 0, text: flash.text}].slice(-mostErrors);
	return {...after, lastFlash: flash, events: flash.level === 'error' ? {...events, errors} : events};
}

export const reduce = (state: State, action: Action): State =>
	settledTables(withKeptMessage(state, next(state, action)));

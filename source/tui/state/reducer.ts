/** The reducer of the monitor's state, which is a pure function. */
import {commandLineIntents, withText} from './command-line/reduce.js';
import type {DialogIntent, Action} from './actions.js';
import {panelIntents} from './panels/reduce.js';
import {openProcess, processTable} from './processes/rows.js';
import {searchIntents} from './search.js';
import {optionIntents} from './view/options.js';
import {viewIntents} from './view/reduce.js';
import {changeFilter, settledTables, tableIntents} from './table/tables.js';
import {afterAnswer, isAnswer} from './answers.js';
import {behindPause, togglePause} from './pause.js';
import {toggleMouse, afterPointer, isPointerAction} from './mouse.js';
import {changed, edit, insert, isEdit, type FieldChange} from './text-field.js';
import {storeNow, type State} from './state.js';
import {afterLiveUpdate} from './live-updates.js';
import {changeForm, isFormAction, type FormAction} from './form.js';
import {isAsking, type AskingDialog} from './dialogs.js';

const dialogIntents: Readonly<Record<DialogIntent | 'key-pressed', (state: State) => State>> = {
	'key-pressed': (state) => (state.flash?.level === 'error' ? {...state, flash: undefined} : state),
	'open-help': (state) => ({...state, dialog: {kind: 'help'}, panels: {...state.panels, helpPage: 0}}),
	'close-dialog': (state) => ({...state, dialog: state.dialog?.kind === 'output' ? state.dialog.from : undefined}),
	'toggle-pause': togglePause,
	'toggle-mouse': toggleMouse,
	'open-process': openProcess,
	'next-process': (state) => openProcess(processTable.change(state, {kind: 'move', by: 1})),
	'previous-process': (state) => openProcess(processTable.change(state, {kind: 'move', by: -1})),
	...commandLineIntents,
};

const intents = {
	...dialogIntents,
	...tableIntents,
	...panelIntents,
	...viewIntents,
	...optionIntents,
	...searchIntents,
};

const isIntent = (action: Action): action is {readonly kind: keyof typeof intents} =>
	Object.hasOwn(intents, action.kind);

/** Applies typed text to the open dialog. */
function changeText(dialog: AskingDialog, action: FormAction): AskingDialog {
	if (dialog.kind === 'form') {
		return changeForm(dialog, action);
	}

	if (dialog.kind !== 'command' || !(action.kind === 'typed' || isEdit(action.kind))) {
		return dialog;
	}

	const {field} = dialog;
	return withText(dialog, action.kind === 'typed' ? insert(field, action.text) : edit(field, action.kind));
}

/** Applies typed text to the search. If no search is being typed, applies it to the filter of the focused table. */
function changePrompt(state: State, change: FieldChange): State {
	const {search} = state;
	return search.prompt === undefined
		? changeFilter(state, change)
		: {...state, search: {...search, prompt: changed(search.prompt, change)}};
}

function next(state: State, action: Exclude<Action, {kind: keyof typeof intents}>): State {
	if (isFormAction(action)) {
		const {dialog} = state;
		if (dialog === undefined) {
			return action.kind === 'typed'
				? changePrompt(state, action)
				: isEdit(action.kind)
					? changePrompt(state, action.kind)
					: state;
		}

		return isAsking(dialog) && !dialog.isBusy ? {...state, dialog: changeText(dialog, action)} : state;
	}

	// During a pause, answers of other hosts are ignored. The next answer after the pause contains everything.
	if (action.kind === 'hosts-arrived' && state.pause !== undefined) {
		return state;
	}

	if (isPointerAction(action)) {
		return afterPointer(state, action);
	}

	return isAnswer(action) ? afterAnswer(state, action) : behindPause(state, (live) => afterLiveUpdate(live, action));
}

const mostErrors = 50;

/** Keeps a new message, so that the user can still read it when it has disappeared. Errors are also added to the events. */
function withKeptMessage(before: State, after: State): State {
	const {flash, events} = after;
	if (flash === undefined || flash === before.flash) {
		return after;
	}

	const errors = [...events.errors, {time: storeNow(after) ?? 0, text: flash.text}].slice(-mostErrors);
	return {...after, lastFlash: flash, events: flash.level === 'error' ? {...events, errors} : events};
}

export function reduce(state: State, action: Action): State {
	const after = isIntent(action) ? intents[action.kind](state) : next(state, action);
	return settledTables(withKeptMessage(state, after));
}

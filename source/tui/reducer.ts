/** The next state, purely. */
import type {Action, Answer, News} from './actions.js';
import {extendForm, reserveForm, targetOf, type Confirmation, type Dialog, type Target} from './dialogs.js';
import {changeForm, isFormAction} from './form.js';
import type {DialogIntent} from './keys.js';
import {afterNews} from './news.js';
import {withOwnError} from './own-errors.js';
import {settledQueue} from './panels/queue-selection.js';
import {panelIntents} from './panels/reduce.js';
import {reasonAgainst, selectedLease, type Verb} from './permissions.js';
import {flashMs, gpuCountOf, type Flash, type State} from './state.js';
import {changeFilter, tableIntents} from './table/reduce.js';
import {settled} from './table/settle.js';
import {isEdit} from './text-field.js';

/** Opens it, or says why not. */
function open(state: State, verb: Verb, dialog: () => Dialog): State {
	const reason = reasonAgainst(state, verb);
	return reason === undefined
		? {...state, dialog: dialog(), flash: undefined}
		: {...state, flash: {level: 'warning', text: reason, untilMs: state.nowMs + flashMs}};
}

/** The lease on the selected GPU, which {@link reasonAgainst} has made sure of. */
const target = (state: State): Target => targetOf(state.selectedGpu!, selectedLease(state)!);

const releaseQuestion = (state: State): Confirmation => ({
	kind: 'confirmation',
	verb: 'release',
	target: target(state),
	isBusy: false,
});

const dialogIntents: Readonly<Record<DialogIntent | 'key-pressed', (state: State) => State>> = {
	'key-pressed': (state) => (state.flash?.level === 'error' ? {...state, flash: undefined} : state),
	'open-help': (state) => ({...state, dialog: {kind: 'help'}}),
	'open-reserve': (state) => open(state, 'reserve', () => reserveForm(gpuCountOf(state))),
	'open-reserve-these': (state) =>
		open(state, 'reserve-these', () => reserveForm(gpuCountOf(state), [state.selectedGpu!])),
	'open-extend': (state) => open(state, 'extend', () => extendForm(target(state))),
	'open-release': (state) => open(state, 'release', () => releaseQuestion(state)),
	'close-dialog': (state) => ({...state, dialog: undefined}),
};

const intents = {...dialogIntents, ...tableIntents, ...panelIntents};

/** A success goes by itself; an error stays until a key is pressed. */
const withTime = (flash: Flash, nowMs: number): Flash =>
	flash.level === 'error' ? flash : {...flash, untilMs: nowMs + flashMs};

function afterAnswer(state: State, answer: Answer): State {
	const {dialog, nowMs} = state;
	if (answer.kind === 'submitted') {
		return dialog === undefined || dialog.kind === 'help' ? state : {...state, dialog: {...dialog, isBusy: true}};
	}

	const isOpen = dialog === answer.dialog;
	const withoutDialog = {...state, dialog: isOpen ? undefined : dialog};
	if (answer.kind === 'done') {
		return {...withoutDialog, flash: withTime(answer.flash, nowMs)};
	}

	const {complaint} = answer;
	const words = [complaint.message, complaint.hint ?? ''].filter((part) => part !== '');
	// A dialog to fill in stays open, so that what was typed can be mended.
	return isOpen && dialog.kind === 'form'
		? {...state, dialog: {...dialog, isBusy: false, complaint}}
		: {...withoutDialog, flash: {level: 'error', text: words.join('. ')}};
}

const isIntent = (action: Action): action is {readonly kind: keyof typeof intents} =>
	Object.hasOwn(intents, action.kind);

const isAnswer = (action: News | Answer): action is Answer => ['submitted', 'refused', 'done'].includes(action.kind);

function next(state: State, action: Exclude<Action, {kind: keyof typeof intents}>): State {
	if (isFormAction(action)) {
		const {dialog} = state;
		if (dialog === undefined) {
			return action.kind === 'typed'
				? changeFilter(state, action)
				: isEdit(action.kind)
					? changeFilter(state, action.kind)
					: state;
		}

		return dialog.kind === 'form' && !dialog.isBusy ? {...state, dialog: changeForm(dialog, action)} : state;
	}

	return isAnswer(action) ? afterAnswer(state, action) : afterNews(state, action);
}

export function reduce(state: State, action: Action): State {
	const after = isIntent(action) ? intents[action.kind](state) : next(state, action);
	return settledQueue(settled(withOwnError(state, after)));
}

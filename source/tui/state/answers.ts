/** Applies the answers to requests to the state. */
import {undoMs, type Released} from '../../core/operations/undo.js';
import type {Completion, LiveOutput, LiveOutputPage, OptionValues} from '../ports.js';
import {completed, outputRowsOf} from './command-line/reduce.js';
import {outputOf, withPage} from './command-line/state.js';
import {isAsking, isQuitQuestion, type AskingDialog, type Dialog} from './dialogs.js';
import {flashMs, type Handlers, type State} from './state.js';
import {withOptions} from './view/options.js';
import type {OptionName} from './view/state.js';
import {complaintText, type Complaint, type Flash, type WaitingUpdate} from './messages.js';

/** The answer to a request. It contains the dialog of the request, so that a late answer cannot change another dialog. */
export type Answer =
	| WaitingUpdate
	| {readonly kind: 'opened'; readonly dialog: Dialog}
	| {readonly kind: 'submitted'}
	/** A key has changed an open dialog. */
	| {readonly kind: 'changed'; readonly dialog: AskingDialog; readonly next: AskingDialog}
	| {readonly kind: 'refused'; readonly complaint: Complaint; readonly dialog: Dialog | undefined}
	| {readonly kind: 'done'; readonly flash: Flash; readonly dialog?: Dialog; readonly undo?: readonly Released[]}
	/** The request now waits in the queue, or there was nothing to do. In both cases, the dialog is closed. */
	| {readonly kind: 'put-away'; readonly dialog: Dialog}
	| {
			readonly kind: 'printed';
			readonly title: string;
			readonly lines: readonly string[];
			readonly undo?: readonly Released[];
			readonly dialog: Dialog;
	  }
	| {readonly kind: 'page-came'; readonly liveOutput: LiveOutput; readonly page: LiveOutputPage}
	| {readonly kind: 'completed'; readonly completion: Completion; readonly dialog: Dialog}
	| {readonly kind: 'options-applied'; readonly values: OptionValues; readonly chosen: ReadonlySet<OptionName>}
	| {readonly kind: 'undo-began'}
	| {readonly kind: 'undo-failed'; readonly released: readonly Released[]};

/** Shows a message. A success disappears by itself after some time. An error stays until a key is pressed. */
const withFlash = (state: State, flash: Flash): State => ({
	...state,
	flash: flash.level === 'error' ? flash : {...flash, untilMs: state.nowMs + flashMs},
});

function afterRefusal(state: State, {complaint, dialog: asker}: Extract<Answer, {kind: 'refused'}>): State {
	const {dialog} = state;
	const isOpen = asker !== undefined && dialog === asker;
	// The form stays open, so that the user can fix the error. If waiting is possible, focuses the first field, where `w` is a key.
	if (isOpen && dialog.kind === 'form') {
		const focused = complaint.canWait === true ? 0 : dialog.focused;
		return {...state, dialog: {...dialog, isBusy: false, complaint, focused}};
	}

	const flash: Flash = {level: 'error', text: complaintText(complaint)};
	// The line below the prompt is often too short for the error, so `v` shows it in full.
	return isOpen && dialog.kind === 'command'
		? {...state, dialog: {...dialog, isBusy: false, complaint, candidates: []}, lastFlash: flash}
		: withFlash({...state, dialog: isOpen ? undefined : dialog}, flash);
}

/** Shows several lines of output in a dialog, and a single line as a message. If another dialog was opened meanwhile, shows only the first line. */
function afterPrinting(state: State, {title, lines, dialog: asker}: Extract<Answer, {kind: 'printed'}>): State {
	const words = lines.map((line) => line.trim()).filter((line) => line !== '');
	const isOpen = state.dialog === asker;
	return words.length > 1 && isOpen
		? {...state, dialog: outputOf(title, lines)}
		: withFlash({...state, dialog: isOpen ? undefined : state.dialog}, {level: 'ok', text: words[0] ?? 'done'});
}

/** Stores a release that can be undone. If nothing was released, an earlier release can still be undone. */
const withUndo = (state: State, released: readonly Released[] = []): State =>
	released.length === 0 ? state : {...state, undo: {released, untilMs: state.nowMs + undoMs}};

function afterWaitingUpdate(state: State, update: WaitingUpdate): State {
	const others = state.waits.filter(({id}) => id !== update.id);
	if (update.kind === 'wait-ended') {
		// There is nothing left to ask once no request waits.
		const isAnswered = others.length === 0 && isQuitQuestion(state.dialog);
		return withFlash({...state, waits: others, dialog: isAnswered ? undefined : state.dialog}, update.flash);
	}

	return {...state, waits: [...others, {id: update.id, words: update.words}].toSorted((a, b) => a.id - b.id)};
}

export const answerHandlers: Handlers<Answer> = {
	opened: (state, {dialog}) => ({...state, dialog, flash: undefined}),
	submitted: (state) => (isAsking(state.dialog) ? {...state, dialog: {...state.dialog, isBusy: true}} : state),
	changed: (state, {dialog, next}) => (state.dialog === dialog ? {...state, dialog: next} : state),
	refused: afterRefusal,
	done(state, {dialog, flash, undo}) {
		const isOpen = dialog !== undefined && state.dialog === dialog;
		return withFlash(withUndo({...state, dialog: isOpen ? undefined : state.dialog}, undo), flash);
	},
	'put-away': (state, {dialog}) => (state.dialog === dialog ? {...state, dialog: undefined} : state),
	printed: (state, answer) => afterPrinting(withUndo(state, answer.undo), answer),
	// Updates of an output that is no longer shown are ignored.
	'page-came': (state, {liveOutput, page}) =>
		state.dialog?.kind === 'output' && state.dialog.liveOutput === liveOutput
			? {...state, dialog: withPage(state.dialog, page, outputRowsOf(state))}
			: state,
	completed: (state, {completion, dialog}) =>
		state.dialog?.kind === 'command' && state.dialog === dialog
			? {...state, dialog: completed(state.dialog, completion)}
			: state,
	'options-applied': (state, {values, chosen}) => withOptions(state, values, chosen),
	'undo-began': (state) => ({...state, undo: undefined}),
	// The release can be undone again, unless there was a later release.
	'undo-failed': (state, {released}) => (state.undo === undefined ? withUndo(state, released) : state),
	'wait-went-on': afterWaitingUpdate,
	'wait-ended': afterWaitingUpdate,
};

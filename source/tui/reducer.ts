/** The next state, purely. Actions are named as intents. */
import type {Observation, Snapshot} from '../core/types.js';
import {sanitize} from '../format/text.js';
import {changeForm} from './form.js';
import {extendForm, reserveForm, targetOf, type Complaint, type Dialog} from './dialogs.js';
import type {Intent} from './keys.js';
import {reasonAgainst, selectedLease, type Verb} from './permissions.js';
import {gpuCountOf, type Flash, type Size, type State} from './state.js';
import {tableRowsOf} from './view/layout.js';

/** How long a success, or a reason why not, is shown. */
export const flashMs = 4000;

export type Action =
	/** Intents that lead beyond the state (`quit`, `submit`, ...) change nothing here. */
	| {readonly kind: Intent}
	| {readonly kind: 'ticked'; readonly nowMs: number}
	| {readonly kind: 'resized'; readonly size: Size}
	| {readonly kind: 'snapshot-arrived'; readonly snapshot: Snapshot; readonly nowMs: number}
	| {readonly kind: 'store-lost'; readonly reason: string; readonly nowMs: number}
	| {readonly kind: 'scan-arrived'; readonly observation: Observation; readonly nowMs: number}
	| {readonly kind: 'key-pressed'}
	| {readonly kind: 'typed'; readonly text: string}
	| {readonly kind: 'submitted'}
	/** `dialog` is the one that asked: an answer that comes late does not touch another. */
	| {readonly kind: 'refused'; readonly complaint: Complaint; readonly dialog: Dialog}
	| {readonly kind: 'done'; readonly flash: Flash; readonly dialog: Dialog};

/** Keeps the selection on a GPU that exists, and in view. */
function inView(state: State): State {
	const count = gpuCountOf(state);
	const shown = tableRowsOf(state);
	const selectedGpu = Math.max(0, Math.min(state.selectedGpu, count - 1));
	const lastFirst = Math.max(0, count - shown);
	const firstRow = Math.min(lastFirst, Math.max(Math.min(state.firstRow, selectedGpu), selectedGpu - shown + 1));
	return selectedGpu === state.selectedGpu && firstRow === state.firstRow
		? state
		: {...state, selectedGpu, firstRow: Math.max(0, firstRow)};
}

const focus = (state: State, selectedGpu: number): State => ({...state, selectedGpu});

/** Opens it, or says why not. */
function open(state: State, verb: Verb, dialog: () => Dialog): State {
	const reason = reasonAgainst(state, verb);
	return reason === undefined
		? {...state, dialog: dialog(), flash: undefined}
		: {...state, flash: {level: 'warning', text: reason, untilMs: state.nowMs + flashMs}};
}

function arrived(state: State, snapshot: Snapshot, nowMs: number): State {
	const wasLost = state.connection.kind === 'lost' && state.snapshot !== undefined;
	return {
		...state,
		nowMs,
		snapshot,
		snapshotAtMs: nowMs,
		connection: {kind: 'live'},
		flash: wasLost
			? {level: 'ok', text: 'The store is back: everything was read again', untilMs: nowMs + flashMs}
			: state.flash,
	};
}

function scanned(state: State, observation: Observation, nowMs: number): State {
	const {failure} = observation;
	return failure === undefined
		? {...state, nowMs, observation, scanFailure: undefined}
		: {
				...state,
				nowMs,
				scanFailure: {
					message: sanitize(failure.message),
					hint: failure.hint,
					sinceMs: state.scanFailure?.sinceMs ?? nowMs,
				},
			};
}

/** A success goes by itself; an error stays until a key is pressed. */
const withTime = (flash: Flash, nowMs: number): Flash =>
	flash.level === 'error' ? flash : {...flash, untilMs: nowMs + flashMs};

function next(state: State, action: Action): State {
	const {dialog, nowMs} = state;
	switch (action.kind) {
		case 'ticked': {
			const isOver = state.flash?.untilMs !== undefined && state.flash.untilMs <= action.nowMs;
			return {...state, nowMs: action.nowMs, flash: isOver ? undefined : state.flash};
		}

		case 'resized': {
			return {...state, size: action.size};
		}

		case 'snapshot-arrived': {
			return arrived(state, action.snapshot, action.nowMs);
		}

		case 'store-lost': {
			const sinceMs = state.connection.kind === 'lost' ? state.connection.sinceMs : action.nowMs;
			return {
				...state,
				nowMs: action.nowMs,
				connection: {kind: 'lost', reason: sanitize(action.reason), sinceMs},
			};
		}

		case 'scan-arrived': {
			return scanned(state, action.observation, action.nowMs);
		}

		case 'key-pressed': {
			return state.flash?.level === 'error' ? {...state, flash: undefined} : state;
		}

		case 'focus-next-gpu': {
			return focus(state, state.selectedGpu + 1);
		}

		case 'focus-previous-gpu': {
			return focus(state, state.selectedGpu - 1);
		}

		case 'focus-next-page': {
			return focus(state, state.selectedGpu + tableRowsOf(state));
		}

		case 'focus-previous-page': {
			return focus(state, state.selectedGpu - tableRowsOf(state));
		}

		case 'focus-first-gpu': {
			return focus(state, 0);
		}

		case 'focus-last-gpu': {
			return focus(state, gpuCountOf(state) - 1);
		}

		case 'open-help': {
			return {...state, dialog: {kind: 'help'}};
		}

		case 'open-reserve': {
			return open(state, 'reserve', () => reserveForm(gpuCountOf(state)));
		}

		case 'open-reserve-these': {
			return open(state, 'reserve-these', () => reserveForm(gpuCountOf(state), [state.selectedGpu]));
		}

		case 'open-extend': {
			return open(state, 'extend', () => extendForm(targetOf(state.selectedGpu, selectedLease(state)!)));
		}

		case 'open-release': {
			return open(state, 'release', () => ({
				kind: 'confirmation',
				verb: 'release',
				target: targetOf(state.selectedGpu, selectedLease(state)!),
				isBusy: false,
			}));
		}

		case 'close-dialog': {
			return {...state, dialog: undefined};
		}

		case 'submitted': {
			return dialog === undefined || dialog.kind === 'help' ? state : {...state, dialog: {...dialog, isBusy: true}};
		}

		case 'refused': {
			const {complaint} = action;
			return dialog === action.dialog && dialog.kind === 'form'
				? {...state, dialog: {...dialog, isBusy: false, complaint}}
				: {
						...state,
						dialog: dialog === action.dialog ? undefined : dialog,
						flash: {level: 'error', text: [complaint.message, complaint.hint].filter(Boolean).join('. ')},
					};
		}

		case 'done': {
			return {
				...state,
				dialog: dialog === action.dialog ? undefined : dialog,
				flash: withTime(action.flash, nowMs),
			};
		}

		default: {
			return dialog?.kind === 'form' && !dialog.isBusy ? {...state, dialog: changeForm(dialog, action)} : state;
		}
	}
}

export const reduce = (state: State, action: Action): State => inView(next(state, action));

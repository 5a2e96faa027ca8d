/** Opens what asks for a verb, or says why it cannot be done. */
import {holdingsOf} from '../../core/rules/queue/queue-grant.js';
import {
	ask,
	extendForm,
	reserveForm,
	signals,
	type Dialog,
	type Form,
	type NamedGpu,
	type SignalChoice,
} from '../state/dialogs.js';
import {selectedEntry} from '../panels/queue-selection.js';
import {flashMs, gpuCountOf, rowsOf, type State} from '../state/state.js';
import {chosenGpus, taggedGpus} from '../table/rows.js';
import {togglePause} from '../state/pause.js';
import {reasonAgainst, type Verb} from './permissions.js';
import {targetsOf} from './targets.js';
import type {VerbIntent} from './intents.js';

/** A word of warning about something that was not even tried. */
export const warned = (state: State, text: string): State => ({
	...state,
	flash: {level: 'warning', text, untilMs: state.nowMs + flashMs},
});

/** Opens it, or says why not. */
function open(state: State, verb: Verb, dialog: () => Dialog): State {
	const reason = reasonAgainst(state, verb);
	return reason === undefined ? {...state, dialog: dialog(), flash: undefined} : warned(state, reason);
}

const named = (state: State, gpus: readonly number[]): readonly NamedGpu[] =>
	gpus.map((index) => ({index, uuid: rowsOf(state)[index]?.reading?.uuid}));

const reserveThese = (state: State, gpus: readonly number[], isPatient: boolean): Form =>
	reserveForm({gpuCount: gpuCountOf(state), gpus: named(state, gpus), isPatient});

/** Any GPUs, or the tagged ones. */
function waitForm(state: State): Form {
	const tagged = taggedGpus(state);
	return tagged.length > 0
		? reserveThese(state, tagged, true)
		: reserveForm({gpuCount: gpuCountOf(state), isPatient: true});
}

function leaveQuestion(state: State): Dialog {
	const record = selectedEntry(state);
	if (record?.kind !== 'entry') {
		throw new TypeError('No place in the line is selected');
	}

	const held = holdingsOf(state.snapshot!, record.id).map(({index}) => index);
	return ask({verb: 'leave', entry: record.entry, held});
}

const around = (place: number, by: number, count: number): number => (place + by + count) % count;

const onChoice =
	(change: (choice: SignalChoice) => SignalChoice) =>
	(state: State): State =>
		state.dialog?.kind === 'signal' && !state.dialog.isBusy ? {...state, dialog: change(state.dialog)} : state;

const chooseProcess = (by: 1 | -1) =>
	onChoice((choice) => ({...choice, chosen: around(choice.chosen, by, choice.processes.length)}));

const chooseSignal = (by: 1 | -1) =>
	onChoice((choice) => ({
		...choice,
		signal: signals[around(signals.indexOf(choice.signal), by, signals.length)]!,
	}));

export const verbIntents: Readonly<Record<VerbIntent, (state: State) => State>> = {
	'open-reserve': (state) => open(state, 'reserve', () => reserveForm({gpuCount: gpuCountOf(state), isPatient: false})),
	'open-reserve-these': (state) => open(state, 'reserve-these', () => reserveThese(state, chosenGpus(state), false)),
	'open-wait': (state) => open(state, 'wait', () => waitForm(state)),
	'open-release': (state) => open(state, 'release', () => ask({verb: 'release', ...targetsOf(state, 'release')})),
	'open-extend': (state) => open(state, 'extend', () => extendForm(targetsOf(state, 'extend'))),
	'open-leave': (state) => open(state, 'leave', () => leaveQuestion(state)),
	'toggle-pause': togglePause,
	'choose-next-process': chooseProcess(1),
	'choose-previous-process': chooseProcess(-1),
	'choose-next-signal': chooseSignal(1),
	'choose-previous-signal': chooseSignal(-1),
};

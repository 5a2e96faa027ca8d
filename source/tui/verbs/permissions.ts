/** Whether an action can be offered now, or why not. The core decides again when it is done. */
import {mayChange, ownerOf} from '../../core/rules/leases/ownership.js';
import type {GpuProcess} from '../../core/model/types.js';
import {sanitize} from '../../format/text/text.js';
import {selectedEntry} from '../panels/queue-selection.js';
import type {State} from '../state/state.js';
import {chosenGpus, selectedRow, taggedGpus} from '../table/rows.js';
import {byMemory} from '../view/readings.js';
import type {Intent} from '../keys/binding.js';
import {reasonAgainstChange, reasonAgainstDoing, reasonAgainstGpus} from './reasons.js';
import {leaseOn, reasonAgainstLeases} from './targets.js';
import type {Verb as VerbRecord} from './verb.js';

export type Verb = 'reserve' | 'wait' | 'reserve-these' | 'release' | 'extend' | 'leave' | 'signal';

const verbs: Readonly<Partial<Record<Intent, Verb>>> = {
	'open-reserve': 'reserve',
	'open-wait': 'wait',
	'open-reserve-these': 'reserve-these',
	'open-release': 'release',
	'open-extend': 'extend',
	'open-leave': 'leave',
	'open-signal': 'signal',
};

/** The asker's own processes on the selected GPU, the largest first. */
export function ownProcesses(state: State): readonly GpuProcess[] {
	const {account} = state.settings.requester;
	return byMemory(selectedRow(state)?.processes ?? []).filter(({user}) => user === account);
}

/** What `R` adopts: the asker's largest process on the selected GPU, when nobody holds it and no other GPU is meant. */
export const adoptable = (state: State): GpuProcess | undefined =>
	taggedGpus(state).length === 0 && selectedRow(state)?.state === 'unreserved'
		? ownProcesses(state).find(({startTicks}) => startTicks !== undefined)
		: undefined;

function reasonAgainstLeaving(state: State): string | undefined {
	const record = selectedEntry(state);
	if (record === undefined) {
		return 'Nobody waits: there is no place to give up';
	}

	if (record.kind !== 'entry') {
		return 'This place in the line cannot be read: canhazgpu queue tells why';
	}

	return mayChange(state.settings.requester, record.entry)
		? undefined
		: `That place is ${sanitize(ownerOf(record.entry))}'s: only who waits can give it up`;
}

function reasonAgainstThese(state: State): string | undefined {
	const taken = chosenGpus(state).find((gpu) => leaseOn(state, gpu) !== undefined);
	return taken === undefined
		? undefined
		: `GPU ${taken} is reserved already, by ${sanitize(ownerOf(leaseOn(state, taken)!))}`;
}

function reasonAgainstSignal(state: State): string | undefined {
	const gpu = `GPU ${state.selectedGpu}`;
	if (ownProcesses(state).length > 0) {
		return undefined;
	}

	const users = [...new Set((selectedRow(state)?.processes ?? []).map(({user}) => user ?? 'somebody unknown'))];
	return users.length === 0
		? `No process is seen on ${gpu}`
		: `No process of yours is on ${gpu}, only of ${sanitize(users.join(', '))}`;
}

type Reason = (state: State) => string | undefined;

/** What stands against each verb, in the order in which it is told. */
const reasons: Readonly<Record<Verb, readonly Reason[]>> = {
	reserve: [reasonAgainstChange],
	wait: [reasonAgainstChange],
	'reserve-these': [reasonAgainstChange, reasonAgainstGpus, reasonAgainstThese],
	release: [
		reasonAgainstDoing,
		reasonAgainstChange,
		reasonAgainstGpus,
		(state) => reasonAgainstLeases(state, 'release'),
	],
	extend: [reasonAgainstChange, reasonAgainstGpus, (state) => reasonAgainstLeases(state, 'extend')],
	leave: [reasonAgainstChange, reasonAgainstLeaving],
	// The pool has no say in it.
	signal: [reasonAgainstDoing, reasonAgainstGpus, reasonAgainstSignal],
};

/** Why it cannot be done now, for the user; undefined when it can. */
export function reasonAgainst(state: State, verb: Verb): string | undefined {
	for (const reasonOf of reasons[verb]) {
		const reason = reasonOf(state);
		if (reason !== undefined) {
			return reason;
		}
	}

	return undefined;
}

/** Whether the footer offers what this key does. */
export const isOffered = (state: State, intent: Intent | VerbRecord): boolean => {
	if (typeof intent !== 'string') {
		return intent.reasonAgainst(state) === undefined;
	}

	const verb = verbs[intent];
	return verb === undefined || reasonAgainst(state, verb) === undefined;
};

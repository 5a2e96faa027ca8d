/** `w`: reserves any GPUs, or the tagged ones, as soon as they are free. */
import {taggedGpus} from '../state/table/rows.js';
import {reasonAgainstChange} from './shared/reasons.js';
import {reserveForm, type ReserveForm} from './shared/reservation.js';
import {defineVerb} from './verb.js';

/** Its dialog is the one of `reserve`, which performs it. */
export const wait = defineVerb<ReserveForm>({
	name: 'wait',
	keys: {modes: ['table', 'queue'], keys: ['w'], help: ['Queue and processes', 'wait for GPUs'], footer: ['w', 'Wait']},
	reasonAgainst: reasonAgainstChange,
	open(state) {
		const tagged = taggedGpus(state);
		return reserveForm(state, true, tagged.length > 0 ? tagged : undefined);
	},
});

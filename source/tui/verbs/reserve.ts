/** `r`: reserves GPUs now, or waits for them in the queue if the user wants to. */
import {reasonAgainstChange} from './shared/reasons.js';
import {reservationDialog, reserveForm, type ReserveForm} from './shared/reservation.js';
import {defineVerb} from './verb.js';

export const reserve = defineVerb<ReserveForm>({
	...reservationDialog,
	name: 'reserve',
	keys: {
		modes: ['table', 'queue'],
		keys: ['r'],
		help: ['Reserve', 'reserve GPUs for a time'],
		footer: ['r', 'Reserve'],
	},
	reasonAgainst: reasonAgainstChange,
	open: (state) => reserveForm(state, false),
});

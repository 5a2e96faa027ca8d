/** `r`: reserves GPUs for a time, now; or in the queue, where they are not free and the user wants to wait. */
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

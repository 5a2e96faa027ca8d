/** `r`: reserves GPUs now, or waits for them in the queue if the user wants to. */
import {reasonAgainstChange} from './shared/reasons.js';
import {reservationDialog} from './shared/reservation.js';
import {reserveForm, type ReserveForm} from './shared/reserve-form.js';
import {defineCommand} from './command.js';

export const reserve = defineCommand<ReserveForm>({
	...reservationDialog,
	name: 'reserve',
	keys: {
		modes: ['gpus', 'queue'],
		keys: ['r'],
		help: ['Reserve', 'reserve GPUs for a time'],
		footer: ['r', 'Reserve'],
	},
	reasonAgainst: reasonAgainstChange,
	open: (state) => reserveForm(state, false),
});

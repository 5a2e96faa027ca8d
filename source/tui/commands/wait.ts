/** `w`: waits in the queue for any GPUs, or for the tagged GPUs, and reserves them when they are free. */
import {taggedGpus} from '../state/gpus/rows.js';
import {firstReason, reasonAgainstChange} from './shared/reasons.js';
import {reasonAgainstNaming} from './shared/reservation.js';
import {reserveForm, type ReserveForm} from './shared/reserve-form.js';
import {defineCommand} from './command.js';

/** Opens the dialog of `reserve`. That command then performs the request. */
export const wait = defineCommand<ReserveForm>({
	name: 'wait',
	keys: {modes: ['gpus', 'queue'], keys: ['w'], help: ['Queue and processes', 'wait for GPUs'], footer: ['w', 'Wait']},
	reasonAgainst: firstReason(reasonAgainstChange, (state) =>
		taggedGpus(state).length > 0 ? reasonAgainstNaming(state) : undefined,
	),
	open(state) {
		const tagged = taggedGpus(state);
		return reserveForm(state, true, tagged.length > 0 ? tagged : undefined);
	},
});

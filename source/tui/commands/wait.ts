/** `w`: reserves any GPUs, or the tagged GPUs, when they become free. */
import {taggedGpus} from '../state/gpus/rows.js';
import {firstReason, reasonAgainstChange} from './shared/reasons.js';
import {reasonAgainstNaming} from './shared/reservation.js';
import {reserveForm, type ReserveForm} from './shared/reserve-form.js';
import {defineCommand} from './command.js';

/** Uses the dialog of `reserve`, which performs it. */
export const wait = defineCommand<ReserveForm>({
	name: 'wait',
	keys: {modes: ['table', 'queue'], keys: ['w'], help: ['Queue and processes', 'wait for GPUs'], footer: ['w', 'Wait']},
	reasonAgainst: firstReason(reasonAgainstChange, (state) =>
		taggedGpus(state).length > 0 ? reasonAgainstNaming(state) : undefined,
	),
	open(state) {
		const tagged = taggedGpus(state);
		return reserveForm(state, true, tagged.length > 0 ? tagged : undefined);
	},
});

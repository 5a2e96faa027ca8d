/** `y`: copies the line that makes GPUs a shell's own into the user's clipboard. */
import {owns} from '../../../core/rules/leases/ownership.js';
import type {State} from '../../state/state.js';
import {toClipboard} from '../shared/clipboard.js';
import {firstReason, reasonAgainstGpus} from '../shared/reasons.js';
import {leaseOn, reservationGpus} from '../shared/targets.js';
import {defineVerb} from '../verb.js';

function reasonAgainstCopied(state: State): string | undefined {
	const other = reservationGpus(state).find((gpu) => {
		const lease = leaseOn(state, gpu);
		return lease === undefined || !owns(state.settings.requester, lease);
	});
	return other === undefined ? undefined : `GPU ${other} is not yours: nothing to copy`;
}

export const copy = defineVerb({
	name: 'copy',
	keys: {modes: ['table', 'detail'], keys: ['y'], help: ['Reserve', 'copy its export line']},
	reasonAgainst: firstReason(reasonAgainstGpus, reasonAgainstCopied),
	begin(context) {
		const {getState, dispatch} = context.store;
		const line = `export CUDA_VISIBLE_DEVICES=${reservationGpus(getState()).join(',')}`;
		toClipboard(context, line);
		dispatch({kind: 'done', flash: {level: 'ok', text: 'Copied (if your terminal allows OSC 52)', next: line}});
	},
});

/** `y`: copies the line that makes GPUs a shell's own into the user's clipboard. */
import {owns} from '../../core/rules/leases/ownership.js';
import type {State} from '../state/state.js';
import {chosenGpus, taggedGpus} from '../table/rows.js';
import {toClipboard} from './shared/clipboard.js';
import {firstReason, reasonAgainstGpus} from './shared/reasons.js';
import {leaseOn} from './shared/targets.js';
import {defineVerb} from './verb.js';

/** The tagged GPUs, or all of the reservation that the selected one belongs to. */
function copiedGpus(state: State): readonly number[] {
	const tagged = taggedGpus(state);
	const lease = leaseOn(state, state.selectedGpu);
	return tagged.length > 0 || lease?.leaseId === undefined
		? chosenGpus(state)
		: state
				.snapshot!.gpus.filter(({index}) => leaseOn(state, index)?.leaseId === lease.leaseId)
				.map(({index}) => index);
}

function reasonAgainstCopied(state: State): string | undefined {
	const other = copiedGpus(state).find((gpu) => {
		const lease = leaseOn(state, gpu);
		return lease === undefined || !owns(state.settings.requester, lease);
	});
	return other === undefined ? undefined : `GPU ${other} is not yours: reserve it before its line is copied`;
}

export const copy = defineVerb({
	name: 'copy',
	keys: {modes: ['table', 'detail'], keys: ['y'], help: 'copy the export line'},
	reasonAgainst: firstReason(reasonAgainstGpus, reasonAgainstCopied),
	begin(context) {
		const {getState, dispatch} = context.store;
		const line = `export CUDA_VISIBLE_DEVICES=${copiedGpus(getState()).join(',')}`;
		toClipboard(context, line);
		dispatch({kind: 'done', flash: {level: 'ok', text: 'copied, where this terminal allows it', next: line}});
	},
});

/** `y`: copies the line that makes GPUs a shell's own into the user's clipboard. */
import {Buffer} from 'node:buffer';
import {owns} from '../../core/rules/leases/ownership.js';
import type {State} from '../state/state.js';
import {chosenGpus, taggedGpus} from '../table/rows.js';
import {firstReason, reasonAgainstGpus} from './reasons.js';
import {leaseOn} from './targets.js';
import {defineVerb} from './verb.js';

/**
What a terminal takes for "put this into the clipboard" (OSC 52). It goes through ssh; many terminals know it, and none tells whether it
does. Tmux takes it for itself, or, where it is allowed to, hands on what is wrapped for it: so it gets both.
*/
function clipboardSequence(text: string, isInTmux: boolean): string {
	const sequence = `\u{1B}]52;c;${Buffer.from(text).toString('base64')}\u{7}`;
	return isInTmux ? `${sequence}\u{1B}Ptmux;${sequence.replaceAll('\u{1B}', '\u{1B}\u{1B}')}\u{1B}\\` : sequence;
}

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
	begin({store: {getState, dispatch}, ports, tellTerminal}) {
		const line = `export CUDA_VISIBLE_DEVICES=${copiedGpus(getState()).join(',')}`;
		tellTerminal(clipboardSequence(line, ports.isInTmux ?? false));
		dispatch({kind: 'done', flash: {level: 'ok', text: 'copied, where this terminal allows it', next: line}});
	},
});

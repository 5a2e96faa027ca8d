import {isTooSmall} from '../layout.js';
import type {State} from '../state/state.js';
import type {Mode} from './binding.js';

/** Which keys count now. */
export function modeOf(state: State): Mode {
	const {dialog, table, processes, panels, hosts} = state;
	if (isTooSmall(state)) {
		return 'small';
	}

	if (dialog === undefined) {
		if (state.search.prompt !== undefined) {
			return 'search';
		}

		const prompt = table.prompt ?? processes.prompt;
		return hosts.prompt === undefined ? (prompt === undefined ? panels.focus : 'filter') : 'hosts-filter';
	}

	if (dialog.kind === 'output' && dialog.chosen !== undefined) {
		return 'list';
	}

	const canWait =
		dialog.kind === 'form' && dialog.complaint?.canWait === true && dialog.fields[dialog.focused]?.kind !== 'text';
	return canWait ? 'refusal' : dialog.kind;
}

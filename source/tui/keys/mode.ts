import type {State} from '../state/state.js';
import type {Mode} from './binding.js';

/** Which keys count now. */
export function modeOf({dialog, table, panels}: State): Mode {
	if (dialog === undefined) {
		return table.prompt === undefined ? panels.focus : 'filter';
	}

	if (dialog.kind === 'output' && dialog.chosen !== undefined) {
		return 'list';
	}

	const canWait =
		dialog.kind === 'form' && dialog.complaint?.canWait === true && dialog.fields[dialog.focused]?.kind !== 'text';
	return canWait ? 'refusal' : dialog.kind;
}

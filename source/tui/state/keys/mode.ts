/** Which keys count: a key may do one thing in a panel and another in a dialog. */
import {isTooSmall} from '../../layout.js';
import type {State} from '../state.js';

/** Which keys count: those of the panel that has the focus, of a filter being typed, or of what stands over them. */
export type Mode =
	| 'table'
	| 'detail'
	| 'queue'
	| 'report'
	| 'events'
	| 'processes'
	| 'hosts'
	| 'filter'
	/** Words to search for are being typed. */
	| 'search'
	/** The same, of all hosts. */
	| 'hosts-filter'
	| 'form'
	/** A form whose request was refused because others have the GPUs. */
	| 'refusal'
	| 'confirmation'
	| 'choice'
	| 'command'
	| 'output'
	/** An output with lines to open. */
	| 'list'
	| 'help'
	/** One process, with its graphs. */
	| 'process'
	/** The columns of the table. */
	| 'columns'
	/** The screen is too small to show what a key would do. */
	| 'small';

/** Any panel has the focus. */
export const panelModes = [
	'table',
	'detail',
	'queue',
	'report',
	'events',
	'processes',
	'hosts',
] as const satisfies readonly Mode[];

/** Tables whose rows the keys select, sort, filter and tag. */
export const tableModes = ['table', 'processes'] as const satisfies readonly Mode[];

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

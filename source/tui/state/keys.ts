/** Which keys count: a key may do one thing in a panel and another in a dialog. */
import {isTooSmall} from '../layout.js';
import {panelNames, type PanelName} from './panels/state.js';
import type {State} from './state.js';

/** Which keys count: those of the panel that has the focus, of text being typed, or of what stands over them. */
export const modes = [
	...panelNames,
	'filter',
	/** Words to search for are being typed. */
	'search',
	/** The same as `filter`, of all hosts. */
	'hosts-filter',
	'form',
	/** A form whose request was refused because others have the GPUs. */
	'refusal',
	'confirmation',
	'choice',
	'command',
	'output',
	/** An output with lines to open. */
	'list',
	'help',
	/** One process, with its graphs. */
	'process',
	/** The columns of the table. */
	'columns',
	/** The screen is too small to show what a key would do. */
	'small',
] as const;

export type Mode = (typeof modes)[number];

/** Narrows to the modes in which a panel has the focus. */
export const isPanelMode = (mode: Mode): mode is PanelName => (panelNames as readonly Mode[]).includes(mode);

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

/** What the keys are for, in the order of the help. */
export const helpGroups = ['Reserve', 'GPUs and processes', 'Queue and processes', 'Panels', 'Monitor'] as const;

export type HelpGroup = (typeof helpGroups)[number];

/** Where keys count, and how the help and the footer name them. */
export type KeyHint = {
	readonly modes: readonly Mode[];
	/** Names as {@link keyNames} gives them. */
	readonly keys: readonly string[];
	/** For the help: its group, and what it does; bindings of the same words share a line. Without any it is not listed there. */
	readonly help?: readonly [group: HelpGroup, words: string];
	/** For the footer: how the key is written, one word, and how soon it is left out where there is no room: never, unless given. */
	readonly footer?: readonly [key: string, word: string, soon?: number];
};

/** Modes of the keyboard. A key can have different effects in a panel and in a dialog. */
import {isTooSmall} from '../layout.js';
import {panelNames, type PanelName} from './panels/state.js';
import type {State} from './state.js';
import {promptOf} from './table/tables.js';

/** The focused panel, the text field or the dialog that handles keys. */
export const modes = [
	...panelNames,
	'filter',
	'search',
	'form',
	/** A form whose request was refused because the GPUs are taken. */
	'refusal',
	'confirmation',
	'choice',
	'command',
	'output',
	/** The output of a `:` command whose lines can be opened, such as the list of hosts. */
	'list',
	'help',
	'process',
	'columns',
	'options',
	/** The screen is too small to show the effect of a key. */
	'small',
] as const;

export type Mode = (typeof modes)[number];

export const isPanelMode = (mode: Mode): mode is PanelName => (panelNames as readonly Mode[]).includes(mode);

/** Tables whose rows can be selected, sorted, filtered and tagged. */
export const tableModes = ['table', 'processes'] as const satisfies readonly Mode[];

export function modeOf(state: State): Mode {
	const {dialog} = state;
	if (isTooSmall(state)) {
		return 'small';
	}

	if (dialog === undefined) {
		return state.search.prompt === undefined
			? promptOf(state) === undefined
				? state.panels.focus
				: 'filter'
			: 'search';
	}

	if (dialog.kind === 'output' && dialog.chosen !== undefined) {
		return 'list';
	}

	const canWait =
		dialog.kind === 'form' && dialog.complaint?.canWait === true && dialog.fields[dialog.focused]?.kind !== 'text';
	return canWait ? 'refusal' : dialog.kind;
}

/** Groups of the help, in order. */
export const helpGroups = ['Reserve', 'GPUs and processes', 'Queue and processes', 'Panels', 'Monitor'] as const;

export type HelpGroup = (typeof helpGroups)[number];

/** The modes in which a key works, and its names in the help and the footer. */
export type KeyHint = {
	readonly modes: readonly Mode[];
	/** Names as {@link keyNames} gives them. */
	readonly keys: readonly string[];
	/** For the help: the group, and the effect of the key. Bindings with the same effect share a line. Bindings without `help` are not listed. */
	readonly help?: readonly [group: HelpGroup, words: string];
	/** For the footer: the key, one word, and a rank, which defaults to 0. Hints with larger ranks are left out first. */
	readonly footer?: readonly [key: string, word: string, soon?: number];
};

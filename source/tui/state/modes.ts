/** Modes of the keyboard: in each mode, the same key can have another effect. Also the hints that the help and the footer show about a key. */
import {isTooSmall} from '../layout.js';
import {panelNames, type PanelName} from './panels/state.js';
import {isQuitQuestion} from './dialogs.js';
import type {State} from './state.js';
import {promptOf} from './table/tables.js';

export const modes = [
	...panelNames,
	'filter',
	'search',
	'form',
	/** A form whose request was refused because other people have the GPUs. */
	'refusal',
	'confirmation',
	'choice',
	'command',
	'output',
	/** The output of a `:` command with lines that can be chosen and opened, such as the list of hosts. */
	'list',
	'help',
	'process',
	'columns',
	'options',
	/** The screen is so small that the effect of most keys could not be seen. */
	'small',
] as const;

export type Mode = (typeof modes)[number];

export const isPanelMode = (mode: Mode): mode is PanelName => (panelNames as readonly Mode[]).includes(mode);

/** Tables whose rows can be selected, sorted, filtered and tagged. */
export const tableModes = ['gpus', 'processes', 'jobs'] as const satisfies readonly Mode[];

export function modeOf(state: State): Mode {
	const {dialog} = state;
	if (isTooSmall(state)) {
		return isQuitQuestion(dialog) ? 'confirmation' : 'small';
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

export const helpGroups = ['Reserve', 'GPUs and processes', 'Queue and processes', 'Panels', 'Monitor'] as const;

export type HelpGroup = (typeof helpGroups)[number];

/** The modes in which a key has an effect, and what the help and the footer show about the key. */
export type KeyHint = {
	readonly modes: readonly Mode[];
	/** The names of the keys, as {@link keyNames} returns them. */
	readonly keys: readonly string[];
	/** The group in the help, and the effect of the key. Keys with the same effect share a line. Keys without `help` are not listed. */
	readonly help?: readonly [group: HelpGroup, words: string];
	/** The key, one word, and a rank for the footer. The rank defaults to 0. If there is not enough room, the largest ranks are left out first. */
	readonly footer?: readonly [key: string, word: string, soon?: number];
};

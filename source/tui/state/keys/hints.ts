/** How the help and the footer name a key, and where it counts. */
import type {Mode} from './mode.js';

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

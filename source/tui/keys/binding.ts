/** What a key does, as a record. */

import type {CommandLineIntent} from '../command-line/reduce.js';
import type {HostsIntent} from '../state/hosts/reduce.js';
import type {PanelIntent} from '../state/panels/reduce.js';
import type {SearchIntent} from '../state/search/reduce.js';
import type {ViewIntent} from '../state/view/reduce.js';
import type {Edit} from '../state/text-field.js';
import type {TableIntent} from '../state/table/reduce.js';

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

/** Opens and closes what stands over the panels. */
export type DialogIntent =
	| 'open-help'
	| 'close-dialog'
	| 'toggle-pause'
	| 'toggle-mouse'
	| 'open-process'
	| 'next-process'
	| 'previous-process'
	| CommandLineIntent;

/** Changes what is being filled in. */
export type FormIntent = Edit | 'focus-next-field' | 'focus-previous-field' | 'increase' | 'decrease';

/** What the user wants of the monitor's own state; the reducer knows it by the same name. */
export type StateIntent =
	DialogIntent | TableIntent | PanelIntent | HostsIntent | ViewIntent | SearchIntent | FormIntent;

/** What reaches out of the state: the controller sees to it. */
type OutwardIntent =
	| 'quit-now'
	| 'suspend'
	| 'refresh'
	| 'submit'
	/** The same, waiting in the queue when there are not enough. */
	| 'submit-patiently'
	/** What the chosen line of an output leads to. */
	| 'open-line'
	| 'complete';

/** What the user wants. */
export type Intent = StateIntent | OutwardIntent;

/** Every key of the monitor. The help and the footer are built from this table, so they cannot say anything else. */
import type {Key} from 'ink';
import type {Edit} from './text-field.js';

/** Moves about the table, and opens and closes what stands over it. */
export type TableIntent =
	| 'open-help'
	| 'close-dialog'
	| 'focus-next-gpu'
	| 'focus-previous-gpu'
	| 'focus-next-page'
	| 'focus-previous-page'
	| 'focus-first-gpu'
	| 'focus-last-gpu'
	| 'open-reserve'
	| 'open-reserve-these'
	| 'open-release'
	| 'open-extend';

/** Changes what is being filled in. */
export type FormIntent = Edit | 'focus-next-field' | 'focus-previous-field' | 'increase' | 'decrease';

/** What the user wants of the monitor's own state; the reducer knows it by the same name. */
export type StateIntent = TableIntent | FormIntent;

/** What the user wants. */
export type Intent = StateIntent | 'quit' | 'suspend' | 'refresh' | 'submit';

/** Which keys count: those of the table, of a dialog to fill in, of a question, of the help. */
export type Mode = 'table' | 'form' | 'confirmation' | 'help';

export type Binding = {
	readonly modes: readonly Mode[];
	/** Names as {@link keyNames} gives them. */
	readonly keys: readonly string[];
	readonly intent: Intent;
	/** For the help, where bindings of the same words share a line. Without any it is not listed there. */
	readonly help?: string;
	/** For the footer: how the key is written, and one word. */
	readonly footer?: readonly [key: string, word: string];
};

export const bindings: readonly Binding[] = [
	{
		modes: ['table'],
		keys: ['r'],
		intent: 'open-reserve',
		help: 'reserve GPUs for a time',
		footer: ['r', 'Reserve'],
	},
	{
		modes: ['table'],
		keys: ['R'],
		intent: 'open-reserve-these',
		help: 'reserve the selected GPU',
		footer: ['R', 'This one'],
	},
	{
		modes: ['table'],
		keys: ['x', 'ctrl-d'],
		intent: 'open-release',
		help: 'release the selected GPU',
		footer: ['x', 'Release'],
	},
	{
		modes: ['table'],
		keys: ['e'],
		intent: 'open-extend',
		help: 'extend its reservation',
		footer: ['e', 'Extend'],
	},
	{modes: ['table'], keys: ['up', 'k'], intent: 'focus-previous-gpu', help: 'one GPU up, one down'},
	{modes: ['table'], keys: ['down', 'j'], intent: 'focus-next-gpu', help: 'one GPU up, one down'},
	{modes: ['table'], keys: ['pageup'], intent: 'focus-previous-page', help: 'a page up, a page down'},
	{modes: ['table'], keys: ['pagedown'], intent: 'focus-next-page', help: 'a page up, a page down'},
	{modes: ['table'], keys: ['home'], intent: 'focus-first-gpu', help: 'the first GPU, the last'},
	{modes: ['table'], keys: ['end'], intent: 'focus-last-gpu', help: 'the first GPU, the last'},
	{modes: ['table'], keys: ['ctrl-r'], intent: 'refresh', help: 'read and scan again now'},
	{modes: ['table'], keys: ['ctrl-z'], intent: 'suspend', help: 'to the shell; fg comes back'},
	{modes: ['table'], keys: ['?', 'h'], intent: 'open-help', help: 'this help', footer: ['?', 'Help']},
	{modes: ['table'], keys: ['q'], intent: 'quit', help: 'quit', footer: ['q', 'Quit']},
	{modes: ['table', 'form', 'confirmation', 'help'], keys: ['ctrl-c'], intent: 'quit'},

	{modes: ['form'], keys: ['enter'], intent: 'submit', footer: ['Enter', 'Do it']},
	{modes: ['form'], keys: ['tab'], intent: 'focus-next-field', footer: ['Tab', 'Next field']},
	{modes: ['form'], keys: ['shift-tab'], intent: 'focus-previous-field'},
	{modes: ['form'], keys: ['up'], intent: 'increase'},
	{modes: ['form'], keys: ['down'], intent: 'decrease'},
	{modes: ['form'], keys: ['backspace'], intent: 'delete-before'},
	{modes: ['form'], keys: ['delete'], intent: 'delete-after'},
	{modes: ['form'], keys: ['ctrl-u'], intent: 'clear-field'},
	{modes: ['form'], keys: ['left'], intent: 'caret-left'},
	{modes: ['form'], keys: ['right'], intent: 'caret-right'},
	{modes: ['form'], keys: ['home', 'ctrl-a'], intent: 'caret-start'},
	{modes: ['form'], keys: ['end', 'ctrl-e'], intent: 'caret-end'},
	{modes: ['form'], keys: ['escape'], intent: 'close-dialog', footer: ['Esc', 'Cancel']},

	{modes: ['confirmation'], keys: ['y'], intent: 'submit', footer: ['y', 'Yes']},
	{modes: ['confirmation'], keys: ['n', 'N', 'escape'], intent: 'close-dialog', footer: ['any other key', 'No']},

	{modes: ['help'], keys: ['escape', 'enter', '?', 'h', 'q'], intent: 'close-dialog', footer: ['Esc', 'Close']},
];

export const intentOf = (mode: Mode, key: string): Intent | undefined =>
	bindings.find((binding) => binding.modes.includes(mode) && binding.keys.includes(key))?.intent;

const named = [
	['upArrow', 'up'],
	['downArrow', 'down'],
	['leftArrow', 'left'],
	['rightArrow', 'right'],
	['pageUp', 'pageup'],
	['pageDown', 'pagedown'],
	['home', 'home'],
	['end', 'end'],
	['return', 'enter'],
	['escape', 'escape'],
	['backspace', 'backspace'],
	['delete', 'delete'],
] as const satisfies ReadonlyArray<readonly [keyof Key, string]>;

/** Enter and Tab inside a burst of typing arrive as themselves. */
const typed: Readonly<Record<string, string>> = {'\r': 'enter', '\n': 'enter', '\t': 'tab'};

/**
The names of the keys behind one event of Ink. Fast typing over a slow line arrives as one event of several characters.
*/
export function keyNames(input: string, key: Key): readonly string[] {
	if (key.eventType === 'release') {
		return [];
	}

	if (key.tab) {
		return [key.shift ? 'shift-tab' : 'tab'];
	}

	const found = named.find(([flag]) => key[flag]);
	if (found !== undefined) {
		return [found[1]];
	}

	if (key.ctrl) {
		return [`ctrl-${input}`];
	}

	return key.meta ? [] : [...input].map((character) => typed[character] ?? character);
}

/** True for a key that stands for the character it writes. */
export const isCharacter = (key: string): boolean => [...key].length === 1 && !/[\p{Control}\p{Surrogate}]/v.test(key);

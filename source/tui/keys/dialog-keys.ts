/** Keys of dialogs and text fields. Keys that a command adds to its dialog are defined with that command. */
import type {Intent} from '../state/actions.js';
import type {KeyHint, Mode} from '../state/modes.js';

type IntentKey = KeyHint & {readonly intent: Intent};

const forms: readonly Mode[] = ['form', 'refusal'];

const outputs: readonly Mode[] = ['output', 'list'];

/** Modes in which characters are typed as text. */
export const texts: readonly Mode[] = [...forms, 'filter', 'search', 'command'];

export const formKeys: readonly IntentKey[] = [
	{modes: ['refusal'], keys: ['w'], intent: 'submit-patiently', footer: ['w', 'Wait']},
	{modes: ['form'], keys: ['enter'], intent: 'submit', footer: ['Enter', 'OK']},
	{modes: ['refusal'], keys: ['enter'], intent: 'submit', footer: ['Enter', 'Again']},
	{modes: forms, keys: ['tab'], intent: 'focus-next-field', footer: ['Tab', 'Next field']},
	{modes: forms, keys: ['shift-tab'], intent: 'focus-previous-field'},
	{modes: forms, keys: ['up'], intent: 'increase'},
	{modes: forms, keys: ['down'], intent: 'decrease'},
	{modes: texts, keys: ['backspace'], intent: 'delete-before'},
	{modes: texts, keys: ['delete'], intent: 'delete-after'},
	{modes: texts, keys: ['ctrl-u'], intent: 'clear-field'},
	{modes: texts, keys: ['left'], intent: 'caret-left'},
	{modes: texts, keys: ['right'], intent: 'caret-right'},
	{modes: texts, keys: ['home', 'ctrl-a'], intent: 'caret-start'},
	{modes: texts, keys: ['end', 'ctrl-e'], intent: 'caret-end'},
	{modes: forms, keys: ['escape'], intent: 'close-dialog', footer: ['Esc', 'Cancel']},
];

/** Keys of the `:` line and of dialogs, except the keys that edit and submit a form. */
export const otherDialogKeys: readonly IntentKey[] = [
	{
		modes: [...forms, 'confirmation', 'choice'],
		keys: ['ctrl-y'],
		intent: 'copy-shell-command',
		footer: ['Ctrl-Y', 'Copy command', 3],
	},
	{modes: ['command'], keys: ['enter'], intent: 'submit', footer: ['Enter', 'Run']},
	{modes: ['command'], keys: ['tab'], intent: 'complete', footer: ['Tab', 'Complete']},
	{modes: ['command'], keys: ['up'], intent: 'history-before', footer: ['Up', 'History']},
	{modes: ['command'], keys: ['down'], intent: 'history-after'},
	{modes: ['command'], keys: ['escape'], intent: 'close-dialog', footer: ['Esc', 'Cancel']},

	{modes: ['list'], keys: ['enter'], intent: 'open-line', footer: ['Enter', 'Open']},
	{modes: outputs, keys: ['escape', 'q'], intent: 'close-dialog', footer: ['Esc', 'Close']},
	{modes: ['output'], keys: ['enter'], intent: 'close-dialog'},
	{modes: ['output'], keys: ['up', 'k'], intent: 'output-up', footer: ['arrows', 'Scroll']},
	{modes: ['list'], keys: ['up', 'k'], intent: 'output-up', footer: ['Up Down', 'Choose']},
	{modes: outputs, keys: ['down', 'j'], intent: 'output-down'},
	{modes: outputs, keys: ['pageup'], intent: 'output-page-up'},
	{modes: outputs, keys: ['pagedown', ' '], intent: 'output-page-down'},
	{modes: outputs, keys: ['home'], intent: 'output-first'},
	{modes: outputs, keys: ['end'], intent: 'output-last'},
	{modes: outputs, keys: ['left'], intent: 'output-left'},
	{modes: outputs, keys: ['right'], intent: 'output-right'},

	{modes: ['help'], keys: [' ', 'pagedown', 'down', 'j', 'right'], intent: 'help-next', footer: ['Space', 'Next page']},
	{modes: ['help'], keys: ['pageup', 'up', 'k', 'left'], intent: 'help-previous'},
	{modes: ['help'], keys: ['escape', 'enter', '?', 'h', 'q'], intent: 'close-dialog', footer: ['Esc', 'Close']},

	{modes: ['process'], keys: ['up', 'k'], intent: 'previous-process', footer: ['Up Down', 'Other process']},
	{modes: ['process'], keys: ['down', 'j'], intent: 'next-process'},
	{modes: ['process'], keys: ['escape', 'enter', 'q'], intent: 'close-dialog', footer: ['Esc', 'Close']},

	{modes: ['columns'], keys: [' ', 'enter'], intent: 'toggle-column', footer: ['Space', 'Show or hide']},
	{modes: ['columns'], keys: ['left', '<'], intent: 'move-column-left', footer: ['Left Right', 'Move']},
	{modes: ['columns'], keys: ['right', '>'], intent: 'move-column-right'},
	{modes: ['columns'], keys: ['up', 'k'], intent: 'previous-column', footer: ['Up Down', 'Choose', 2]},
	{modes: ['columns'], keys: ['down', 'j'], intent: 'next-column'},
	{modes: ['columns'], keys: ['u'], intent: 'usual-columns', footer: ['u', 'Usual']},
	{modes: ['columns'], keys: ['escape', 'C', 'q'], intent: 'close-dialog', footer: ['Esc', 'Close']},

	{modes: ['options'], keys: ['up', 'k'], intent: 'previous-option', footer: ['Up Down', 'Choose', 2]},
	{modes: ['options'], keys: ['down', 'j'], intent: 'next-option'},
	{modes: ['options'], keys: ['left', '<'], intent: 'previous-choice', footer: ['Left Right', 'Change', 1]},
	{modes: ['options'], keys: ['right', '>', ' '], intent: 'next-choice'},
	{modes: ['options'], keys: ['escape', 'q'], intent: 'close-dialog', footer: ['Esc', 'Cancel']},
];

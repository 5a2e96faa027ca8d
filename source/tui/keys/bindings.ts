/**
Every key: those that move and show are written here, those of verbs in their own files in `verbs/`. The help and the footer are built from this
table, so they cannot say anything else.
*/
import {verbs} from '../verbs/index.js';
import type {Verb} from '../verbs/verb.js';
import {panelModes, type Intent, type KeyHint, type Mode} from './binding.js';

type DialogChange = NonNullable<Verb['dialogKeys']>[number]['change'];

/** What a key leads to: an intent of which the reducer or the controller knows the name, a verb, or a change of a verb's own dialog. */
export type Intended = Intent | Verb | DialogChange;

type Binding = KeyHint & {readonly intent: Intended};

const keysOf = (some: readonly Verb[]): readonly Binding[] => some.map((verb) => ({...verb.keys, intent: verb}));

/** The keys that verbs add to their own dialogs. */
const choiceKeys: readonly Binding[] = Object.values(verbs)
	.flat()
	.flatMap(({dialogKeys = []}: Verb) =>
		dialogKeys.map(({keys, footer, change}) => ({modes: ['choice'], keys, footer, intent: change})),
	);

/** Panels whose lines the keys move over. */
const lineModes = ['detail', 'queue', 'report', 'events', 'processes'] as const satisfies readonly Mode[];

const panelBindings: readonly Binding[] = [
	...keysOf(verbs.pool),
	{
		modes: ['table'],
		keys: [' '],
		intent: 'toggle-tag',
		help: ['GPUs', 'tag, to act on several'],
		footer: ['Space', 'Tag', 4],
	},
	{modes: ['table'], keys: ['up', 'k'], intent: 'focus-previous-gpu', help: ['GPUs', 'one line up, one down']},
	{modes: ['table'], keys: ['down', 'j'], intent: 'focus-next-gpu', help: ['GPUs', 'one line up, one down']},
	{modes: ['table'], keys: ['pageup'], intent: 'focus-previous-page', help: ['GPUs', 'page up, page down']},
	{modes: ['table'], keys: ['pagedown'], intent: 'focus-next-page', help: ['GPUs', 'page up, page down']},
	{modes: ['table'], keys: ['home'], intent: 'focus-first-gpu', help: ['GPUs', 'first, last']},
	{modes: ['table'], keys: ['end'], intent: 'focus-last-gpu', help: ['GPUs', 'first, last']},
	{modes: lineModes, keys: ['up', 'k'], intent: 'line-up'},
	{modes: lineModes, keys: ['down', 'j'], intent: 'line-down'},
	{modes: lineModes, keys: ['pageup'], intent: 'page-up'},
	{modes: lineModes, keys: ['pagedown', ' '], intent: 'page-down'},
	{modes: lineModes, keys: ['home'], intent: 'first-line'},
	{modes: lineModes, keys: ['end'], intent: 'last-line'},
	{
		modes: ['table'],
		keys: ['enter'],
		intent: 'focus-detail',
		help: ['GPUs', 'its detail'],
		footer: ['Enter', 'Detail', 1],
	},
	...keysOf(verbs.processes),
	{
		modes: ['table', 'detail'],
		keys: ['t'],
		intent: 'toggle-tree',
		help: ['Queue and processes', 'as a tree, or by memory'],
	},
	{modes: ['table'], keys: ['/'], intent: 'open-filter', help: ['GPUs', 'filter by words'], footer: ['/', 'Filter', 2]},
	...keysOf(verbs.aside),
	{modes: panelModes, keys: ['Z'], intent: 'toggle-pause', help: ['Monitor', 'pause what is shown']},
	{modes: ['table'], keys: ['u'], intent: 'filter-user', help: ['GPUs', 'only this user, mine']},
	{modes: ['table'], keys: ['m'], intent: 'filter-mine', help: ['GPUs', 'only this user, mine']},
	{modes: ['table'], keys: ['<'], intent: 'sort-previous', help: ['GPUs', 'sort by, invert']},
	{modes: ['table'], keys: ['>'], intent: 'sort-next', help: ['GPUs', 'sort by, invert']},
	{modes: ['table'], keys: ['I'], intent: 'invert-sort', help: ['GPUs', 'sort by, invert']},
	{modes: ['table'], keys: ['escape'], intent: 'clear-marks', help: ['GPUs', 'clear tags and filter']},
	{
		modes: ['report'],
		keys: ['<'],
		intent: 'report-previous',
		footer: ['< >', 'Group by'],
		help: ['Panels', 'regroup the report'],
	},
	{modes: ['report'], keys: ['>'], intent: 'report-next', help: ['Panels', 'regroup the report']},
	{modes: panelModes, keys: ['1'], intent: 'focus-table', help: ['Panels', 'go to that panel']},
	{modes: panelModes, keys: ['2'], intent: 'focus-detail', help: ['Panels', 'go to that panel']},
	{modes: panelModes, keys: ['3'], intent: 'focus-queue', help: ['Panels', 'go to that panel']},
	{modes: panelModes, keys: ['4'], intent: 'focus-report', help: ['Panels', 'go to that panel']},
	{modes: panelModes, keys: ['5'], intent: 'focus-events', help: ['Panels', 'go to that panel']},
	{modes: panelModes, keys: ['6'], intent: 'focus-processes', help: ['Panels', 'go to that panel']},
	{modes: panelModes, keys: ['tab'], intent: 'focus-next-panel', help: ['Panels', 'go to the next panel']},
	{modes: panelModes, keys: ['shift-tab'], intent: 'focus-previous-panel'},
	{modes: panelModes, keys: ['+', '='], intent: 'zoom', help: ['Panels', 'this panel alone']},
	{modes: panelModes, keys: ['_', '-'], intent: 'unzoom', help: ['Panels', 'this panel alone']},
	{
		modes: lineModes,
		keys: ['escape'],
		intent: 'leave-panel',
		help: ['Panels', 'back to the GPUs'],
		footer: ['Esc', 'Back'],
	},
	{modes: panelModes, keys: ['ctrl-r'], intent: 'refresh', help: ['Monitor', 'read and scan again']},
	{modes: panelModes, keys: ['ctrl-z'], intent: 'suspend', help: ['Monitor', 'to the shell, until fg']},
	{modes: panelModes, keys: ['?', 'h'], intent: 'open-help', help: ['Monitor', 'this help'], footer: ['?', 'Help']},
	...keysOf(verbs.end),

	{modes: ['filter'], keys: ['enter'], intent: 'keep-filter', footer: ['Enter', 'Apply']},
	{modes: ['filter'], keys: ['escape'], intent: 'drop-filter', footer: ['Esc', 'Cancel']},
	{modes: ['filter'], keys: ['up'], intent: 'focus-previous-gpu'},
	{modes: ['filter'], keys: ['down'], intent: 'focus-next-gpu'},
];

const everywhere: readonly Mode[] = [
	...panelModes,
	'filter',
	'form',
	'refusal',
	'confirmation',
	'choice',
	'command',
	'output',
	'list',
	'help',
	'small',
];

const forms: readonly Mode[] = ['form', 'refusal'];

const outputs: readonly Mode[] = ['output', 'list'];

/** Where text is typed. */
const texts: readonly Mode[] = [...forms, 'filter', 'command'];

/** The keys of what stands over the panels, and of text being typed. */
const dialogBindings: readonly Binding[] = [
	{modes: everywhere, keys: ['ctrl-c'], intent: 'quit-now'},

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

	{modes: ['confirmation'], keys: ['y'], intent: 'submit', footer: ['y', 'Yes']},
	{modes: ['confirmation'], keys: ['n', 'N', 'escape'], intent: 'close-dialog', footer: ['any other key', 'No']},

	{modes: ['choice'], keys: ['y'], intent: 'submit', footer: ['y', 'Send it']},
	...choiceKeys,
	{modes: ['choice'], keys: ['n', 'N', 'escape'], intent: 'close-dialog', footer: ['any other key', 'No']},

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

	{modes: ['small'], keys: ['q'], intent: 'quit-now', footer: ['q', 'Quit']},
];

export const bindings: readonly Binding[] = [...panelBindings, ...dialogBindings];

export const intentOf = (mode: Mode, key: string): Intended | undefined =>
	bindings.find((binding) => binding.modes.includes(mode) && binding.keys.includes(key))?.intent;

/**
Every key: those that move and show are written here, those of verbs in their own files in `verbs/`. The help and the footer are built from this
table, so they cannot say anything else.
*/
import {verbs} from '../verbs/index.js';
import type {Verb} from '../verbs/verb.js';
import {panelModes, tableModes, type Mode, type KeyHint} from '../state/keys.js';
import type {Intent} from '../state/actions.js';
import {hostBindings, hostFilterBindings} from './host-bindings.js';

type DialogChange = NonNullable<Verb['dialogKeys']>[number]['change'];

/** What a key leads to: an intent of which the reducer or the controller knows the name, a verb, or a change of a verb's own dialog. */
export type Intended = Intent | Verb | DialogChange;

/** Where which keys do what. */
export type Binding = KeyHint & {readonly intent: Intended};

const keysOf = (some: readonly Verb[]): readonly Binding[] => some.map((verb) => ({...verb.keys, intent: verb}));

/** The keys that verbs add to their own dialogs. */
const choiceKeys: readonly Binding[] = Object.values(verbs)
	.flat()
	.flatMap(({dialogKeys = []}: Verb) =>
		dialogKeys.map(({keys, footer, change}) => ({modes: ['choice'], keys, footer, intent: change})),
	);

/** Panels whose lines the keys move over. */
const lineModes = ['detail', 'queue', 'report', 'events'] as const satisfies readonly Mode[];

/** What has rows to search in. */
const searchModes = [...tableModes, 'queue'] as const satisfies readonly Mode[];

/** The keys of the panels. */
export const panelBindings: readonly Binding[] = [
	...keysOf(verbs.pool),
	{
		modes: tableModes,
		keys: [' '],
		intent: 'toggle-tag',
		help: ['GPUs and processes', 'tag, to act on several'],
		footer: ['Space', 'Tag', 4],
	},
	{
		modes: tableModes,
		keys: ['up', 'k'],
		intent: 'focus-previous-row',
		help: ['GPUs and processes', 'one line up, one down'],
	},
	{
		modes: tableModes,
		keys: ['down', 'j'],
		intent: 'focus-next-row',
		help: ['GPUs and processes', 'one line up, one down'],
	},
	{
		modes: tableModes,
		keys: ['pageup'],
		intent: 'focus-previous-page',
		help: ['GPUs and processes', 'page up, page down'],
	},
	{
		modes: tableModes,
		keys: ['pagedown'],
		intent: 'focus-next-page',
		help: ['GPUs and processes', 'page up, page down'],
	},
	{modes: tableModes, keys: ['home'], intent: 'focus-first-row', help: ['GPUs and processes', 'first, last']},
	{modes: tableModes, keys: ['end'], intent: 'focus-last-row', help: ['GPUs and processes', 'first, last']},
	{modes: ['table'], keys: ['left'], intent: 'focus-left-column'},
	{modes: ['table'], keys: ['right'], intent: 'focus-right-column'},
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
		help: ['Panels', 'the detail of the GPU'],
		footer: ['Enter', 'Detail', 1],
	},
	{
		modes: ['processes'],
		keys: ['enter'],
		intent: 'open-process',
		help: ['Queue and processes', 'details and graphs'],
		footer: ['Enter', 'Graphs', 1],
	},
	...keysOf(verbs.processes),
	{
		modes: ['processes'],
		keys: ['t'],
		intent: 'toggle-tree',
		footer: ['t', 'Tree', 5],
	},
	{
		modes: ['table', 'detail'],
		keys: ['t'],
		intent: 'toggle-tree',
		help: ['Queue and processes', 'as a tree, or as a list'],
	},
	{
		modes: tableModes,
		keys: ['/'],
		intent: 'open-filter',
		help: ['GPUs and processes', 'show: words, user, mine'],
		footer: ['/', 'Filter', 2],
	},
	{
		modes: ['table', 'detail'],
		keys: ['['],
		intent: 'look-back',
		help: ['GPUs and processes', 'graphs look back'],
		footer: ['[ ]', 'Past', 9],
	},
	{
		modes: ['table', 'detail'],
		keys: [']'],
		intent: 'look-forward',
		help: ['GPUs and processes', 'graphs look back'],
	},
	{modes: searchModes, keys: ['f'], intent: 'open-search', help: ['GPUs and processes', 'search, next, before']},
	{modes: searchModes, keys: ['n'], intent: 'search-next', help: ['GPUs and processes', 'search, next, before']},
	{modes: searchModes, keys: ['N'], intent: 'search-previous', help: ['GPUs and processes', 'search, next, before']},
	...keysOf(verbs.hosts),
	...hostBindings,
	...keysOf(verbs.aside),
	{modes: panelModes, keys: ['M'], intent: 'toggle-mouse', help: ['Monitor', 'mouse on, off']},
	{modes: panelModes, keys: ['Z'], intent: 'toggle-pause', help: ['Monitor', 'pause what is shown']},
	{modes: tableModes, keys: ['u'], intent: 'filter-user', help: ['GPUs and processes', 'show: words, user, mine']},
	{modes: tableModes, keys: ['m'], intent: 'filter-mine', help: ['GPUs and processes', 'show: words, user, mine']},
	{modes: tableModes, keys: ['<'], intent: 'sort-previous', help: ['GPUs and processes', 'sort, then by; invert']},
	{modes: tableModes, keys: ['>'], intent: 'sort-next', help: ['GPUs and processes', 'sort, then by; invert']},
	{modes: tableModes, keys: ['I'], intent: 'invert-sort', help: ['GPUs and processes', 'sort, then by; invert']},
	{
		modes: tableModes,
		keys: [','],
		intent: 'second-sort-previous',
		help: ['GPUs and processes', 'sort, then by; invert'],
	},
	{
		modes: tableModes,
		keys: ['.'],
		intent: 'second-sort-next',
		help: ['GPUs and processes', 'sort, then by; invert'],
	},
	{
		modes: tableModes,
		keys: ['i'],
		intent: 'invert-second-sort',
		help: ['GPUs and processes', 'sort, then by; invert'],
	},
	{modes: ['table'], keys: ['escape'], intent: 'clear-marks', help: ['GPUs and processes', 'clear tags and filter']},
	{modes: ['processes'], keys: ['escape'], intent: 'clear-marks', footer: ['Esc', 'Back']},
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
	{modes: panelModes, keys: ['7', 'H'], intent: 'focus-hosts', help: ['Panels', 'the GPUs of all hosts']},
	{modes: ['table', 'detail'], keys: ['g'], intent: 'toggle-fold', help: ['Panels', 'reservations as one row']},
	{modes: panelModes, keys: ['P'], intent: 'next-preset', help: ['Panels', 'preset, columns, keep']},
	{modes: panelModes, keys: ['C'], intent: 'open-columns', help: ['Panels', 'preset, columns, keep']},
	...keysOf(verbs.view),
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

	{modes: ['search'], keys: ['enter'], intent: 'keep-search', footer: ['Enter', 'Search']},
	{modes: ['search'], keys: ['escape'], intent: 'drop-search', footer: ['Esc', 'Cancel']},
	{modes: ['filter'], keys: ['enter'], intent: 'keep-filter', footer: ['Enter', 'Apply']},
	{modes: ['filter'], keys: ['escape'], intent: 'drop-filter', footer: ['Esc', 'Cancel']},
	{modes: ['filter'], keys: ['up'], intent: 'focus-previous-row'},
	{modes: ['filter'], keys: ['down'], intent: 'focus-next-row'},
	...hostFilterBindings,
];

const everywhere: readonly Mode[] = [
	...panelModes,
	'filter',
	'search',
	'hosts-filter',
	'form',
	'refusal',
	'confirmation',
	'choice',
	'command',
	'output',
	'list',
	'help',
	'process',
	'columns',
	'small',
];

const forms: readonly Mode[] = ['form', 'refusal'];

const outputs: readonly Mode[] = ['output', 'list'];

/** Where text is typed. */
const texts: readonly Mode[] = [...forms, 'filter', 'search', 'hosts-filter', 'command'];

/** The keys of what stands over the panels, and of text being typed. */
export const dialogBindings: readonly Binding[] = [
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

	{modes: ['small'], keys: ['q'], intent: 'quit-now', footer: ['q', 'Quit']},
];

/** All of them, as they are without a choice. */
export const bindings: readonly Binding[] = [...panelBindings, ...dialogBindings];

export const intentOf = (mode: Mode, key: string, among: readonly Binding[] = bindings): Intended | undefined =>
	among.find((binding) => binding.modes.includes(mode) && binding.keys.includes(key))?.intent;

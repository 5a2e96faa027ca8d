/** The table of all keys, from which the help and the footer are built. The keys of commands are defined in `commands/`. */
import {commands} from '../commands/index.js';
import type {MonitorCommand} from '../commands/command.js';
import {modes, tableModes, type Mode, type KeyHint} from '../state/modes.js';
import {panelNames} from '../state/panels/state.js';
import type {Intent} from '../state/actions.js';
import {formKeys, otherDialogKeys} from './dialog-keys.js';

type DialogChange = NonNullable<MonitorCommand['dialogKeys']>[number]['change'];

/** The effect of a key: an intent (the name of a change of the state), a command, or a change of a command's dialog. */
export type Intended = Intent | MonitorCommand | DialogChange;

export type Binding = KeyHint & {
	readonly intent: Intended;
	/** Name of the key's action in the config. Defaults to the name of the intent. */
	readonly name?: string;
};

const keysOf = (some: readonly MonitorCommand[]): readonly Binding[] =>
	some.map((command) => ({...command.keys, intent: command}));

const choiceKeys: readonly Binding[] = Object.values(commands)
	.flat()
	.flatMap(({dialogKeys = []}: MonitorCommand) =>
		dialogKeys.map(({keys, footer, change}) => ({modes: ['choice'], keys, footer, intent: change})),
	);

/** The modes in which the arrow keys move by lines. */
const lineModes = ['detail', 'queue', 'report', 'events'] as const satisfies readonly Mode[];

const searchModes = [...tableModes, 'queue'] as const satisfies readonly Mode[];

/** Help texts, each of which several keys share. */
const help = {
	rows: ['GPUs and processes', 'previous or next row'],
	pages: ['GPUs and processes', 'page up, page down'],
	ends: ['GPUs and processes', 'first, last'],
	filters: ['GPUs and processes', 'filter text/user/mine'],
	sorting: ['GPUs and processes', 'sort, 2nd, reverse'],
	past: ['GPUs and processes', 'graphs: back, forward'],
	search: ['GPUs and processes', 'search, next, previous'],
	view: ['Panels', 'preset, columns, save'],
	panels: ['Panels', 'go to that panel'],
	zoom: ['Panels', 'zoom this panel'],
	report: ['Panels', 'regroup the report'],
	days: ['Panels', 'change report days'],
	options: ['Monitor', 'options, themes'],
} as const satisfies Readonly<Record<string, KeyHint['help']>>;

export const panelBindings: readonly Binding[] = [
	...keysOf(commands.pool),
	{
		modes: tableModes,
		keys: [' '],
		intent: 'toggle-tag',
		help: ['GPUs and processes', 'tag for bulk actions'],
		footer: ['Space', 'Tag', 4],
	},
	{modes: tableModes, keys: ['up', 'k'], intent: 'line-up', name: 'focus-previous-row', help: help.rows},
	{modes: tableModes, keys: ['down', 'j'], intent: 'line-down', name: 'focus-next-row', help: help.rows},
	{modes: tableModes, keys: ['pageup'], intent: 'page-up', name: 'focus-previous-page', help: help.pages},
	{modes: tableModes, keys: ['pagedown'], intent: 'page-down', name: 'focus-next-page', help: help.pages},
	{modes: tableModes, keys: ['home'], intent: 'first-line', name: 'focus-first-row', help: help.ends},
	{modes: tableModes, keys: ['end'], intent: 'last-line', name: 'focus-last-row', help: help.ends},
	{modes: ['gpus'], keys: ['left'], intent: 'focus-left-column'},
	{modes: ['gpus'], keys: ['right'], intent: 'focus-right-column'},
	{modes: lineModes, keys: ['up', 'k'], intent: 'line-up'},
	{modes: lineModes, keys: ['down', 'j'], intent: 'line-down'},
	{modes: lineModes, keys: ['pageup'], intent: 'page-up'},
	{modes: lineModes, keys: ['pagedown', ' '], intent: 'page-down'},
	{modes: lineModes, keys: ['home'], intent: 'first-line'},
	{modes: lineModes, keys: ['end'], intent: 'last-line'},
	{
		modes: ['gpus'],
		keys: ['enter'],
		intent: 'focus-detail',
		help: ['Panels', 'show GPU details'],
		footer: ['Enter', 'Detail', 1],
	},
	{
		modes: ['processes'],
		keys: ['enter'],
		intent: 'open-process',
		help: ['Queue and processes', 'details and graphs'],
		footer: ['Enter', 'Graphs', 1],
	},
	...keysOf(commands.processes),
	{modes: ['processes'], keys: ['t'], intent: 'toggle-tree', footer: ['t', 'Tree', 5]},
	{
		modes: ['gpus', 'detail'],
		keys: ['t'],
		intent: 'toggle-tree',
		help: ['Queue and processes', 'show as tree or list'],
	},
	{modes: tableModes, keys: ['/'], intent: 'open-filter', help: help.filters, footer: ['/', 'Filter', 2]},
	{modes: ['gpus', 'detail'], keys: ['['], intent: 'look-back', help: help.past, footer: ['[ ]', 'Past', 9]},
	{modes: ['gpus', 'detail'], keys: [']'], intent: 'look-forward', help: help.past},
	{modes: searchModes, keys: ['f'], intent: 'open-search', help: help.search},
	{modes: searchModes, keys: ['n'], intent: 'search-next', help: help.search},
	{modes: searchModes, keys: ['N'], intent: 'search-previous', help: help.search},
	...keysOf(commands.hosts),
	// The keys are the same as in the GPU table, but the config names them separately.
	{modes: ['hosts'], keys: ['up', 'k'], intent: 'line-up', name: 'previous-host-line'},
	{modes: ['hosts'], keys: ['down', 'j'], intent: 'line-down', name: 'next-host-line'},
	{modes: ['hosts'], keys: ['pageup'], intent: 'page-up', name: 'previous-host-page'},
	{modes: ['hosts'], keys: ['pagedown', ' '], intent: 'page-down', name: 'next-host-page'},
	{modes: ['hosts'], keys: ['home'], intent: 'first-line', name: 'first-host-line'},
	{modes: ['hosts'], keys: ['end'], intent: 'last-line', name: 'last-host-line'},
	{modes: ['hosts'], keys: ['/'], intent: 'open-filter', name: 'filter-hosts', footer: ['/', 'Filter', 2]},
	{modes: ['hosts'], keys: ['u'], intent: 'filter-user', name: 'filter-hosts-user'},
	{modes: ['hosts'], keys: ['m'], intent: 'filter-mine', name: 'filter-hosts-mine', footer: ['m', 'Mine', 3]},
	{modes: ['hosts'], keys: ['<'], intent: 'sort-previous', name: 'sort-hosts-previous', footer: ['< >', 'Sort', 4]},
	{modes: ['hosts'], keys: ['>'], intent: 'sort-next', name: 'sort-hosts-next'},
	{modes: ['hosts'], keys: ['I'], intent: 'invert-sort', name: 'invert-hosts'},
	{modes: ['hosts'], keys: ['escape'], intent: 'clear-marks', name: 'clear-hosts-filter', footer: ['Esc', 'Back', 1]},
	...keysOf(commands.aside),
	...keysOf(commands.jobs),
	{modes: panelNames, keys: ['O'], intent: 'open-options', help: help.options},
	{modes: panelNames, keys: ['T'], intent: 'open-themes', help: help.options},
	{modes: panelNames, keys: ['M'], intent: 'toggle-mouse', help: ['Monitor', 'mouse on or off']},
	{modes: panelNames, keys: ['Z'], intent: 'toggle-pause', help: ['Monitor', 'pause the screen']},
	{modes: tableModes, keys: ['u'], intent: 'filter-user', help: help.filters},
	{modes: tableModes, keys: ['m'], intent: 'filter-mine', help: help.filters},
	{modes: tableModes, keys: ['<'], intent: 'sort-previous', help: help.sorting},
	{modes: tableModes, keys: ['>'], intent: 'sort-next', help: help.sorting},
	{modes: tableModes, keys: ['I'], intent: 'invert-sort', help: help.sorting},
	{
		modes: ['gpus', 'processes', 'hosts'],
		keys: ['s'],
		intent: 'sort-memory',
		help: ['GPUs and processes', 'sort by memory'],
	},
	{modes: tableModes, keys: [','], intent: 'second-sort-previous', help: help.sorting},
	{modes: tableModes, keys: ['.'], intent: 'second-sort-next', help: help.sorting},
	{modes: tableModes, keys: ['i'], intent: 'invert-second-sort', help: help.sorting},
	{modes: ['gpus'], keys: ['escape'], intent: 'clear-marks', help: ['GPUs and processes', 'clear tags and filter']},
	{modes: ['processes', 'jobs'], keys: ['escape'], intent: 'clear-marks', footer: ['Esc', 'Back']},
	{modes: ['report'], keys: ['<'], intent: 'report-previous', footer: ['< >', 'Group by'], help: help.report},
	{modes: ['report'], keys: ['>'], intent: 'report-next', help: help.report},
	{modes: ['report'], keys: ['['], intent: 'report-longer', footer: ['[ ]', 'Days'], help: help.days},
	{modes: ['report'], keys: [']'], intent: 'report-shorter', help: help.days},
	{modes: panelNames, keys: ['1'], intent: 'focus-gpus', name: 'focus-table', help: help.panels},
	{modes: panelNames, keys: ['2'], intent: 'focus-detail', help: help.panels},
	{modes: panelNames, keys: ['3'], intent: 'focus-queue', help: help.panels},
	{modes: panelNames, keys: ['4'], intent: 'focus-report', help: help.panels},
	{modes: panelNames, keys: ['5'], intent: 'focus-events', help: help.panels},
	{modes: panelNames, keys: ['6'], intent: 'focus-processes', help: help.panels},
	{modes: panelNames, keys: ['7', 'H'], intent: 'focus-hosts', help: ['Panels', 'GPUs of all hosts']},
	{modes: panelNames, keys: ['8', 'J'], intent: 'focus-jobs', help: ['Panels', 'detached jobs']},
	{modes: ['gpus', 'detail'], keys: ['g'], intent: 'toggle-fold', help: ['Panels', 'one row a reservation']},
	{modes: panelNames, keys: ['P'], intent: 'next-preset', help: help.view},
	{modes: panelNames, keys: ['C'], intent: 'open-columns', help: help.view},
	...keysOf(commands.view),
	{modes: panelNames, keys: ['tab'], intent: 'focus-next-panel', help: ['Panels', 'go to the next panel']},
	{modes: panelNames, keys: ['shift-tab'], intent: 'focus-previous-panel'},
	{modes: panelNames, keys: ['+', '='], intent: 'zoom', help: help.zoom},
	{modes: panelNames, keys: ['_', '-'], intent: 'unzoom', help: help.zoom},
	{
		modes: lineModes,
		keys: ['escape'],
		intent: 'leave-panel',
		help: ['Panels', 'back to the GPUs'],
		footer: ['Esc', 'Back'],
	},
	{modes: panelNames, keys: ['ctrl-r'], intent: 'refresh', help: ['Monitor', 'refresh and redraw']},
	{modes: panelNames, keys: ['ctrl-z'], intent: 'suspend', help: ['Monitor', 'suspend (fg resumes)']},
	{modes: panelNames, keys: ['?', 'h'], intent: 'open-help', help: ['Monitor', 'this help'], footer: ['?', 'Help']},
	...keysOf(commands.end),

	{modes: ['search'], keys: ['enter'], intent: 'keep-search', footer: ['Enter', 'Search']},
	{modes: ['search'], keys: ['escape'], intent: 'drop-search', footer: ['Esc', 'Cancel']},
	{modes: ['filter'], keys: ['enter'], intent: 'keep-filter', footer: ['Enter', 'Apply']},
	{modes: ['filter'], keys: ['escape'], intent: 'drop-filter', footer: ['Esc', 'Cancel']},
	{modes: ['filter'], keys: ['up'], intent: 'line-up'},
	{modes: ['filter'], keys: ['down'], intent: 'line-down'},
];

export const dialogBindings: readonly Binding[] = [
	{modes, keys: ['ctrl-c'], intent: 'quit-now'},
	...formKeys,

	{modes: ['confirmation'], keys: ['y'], intent: 'submit', footer: ['y', 'Yes']},
	{modes: ['confirmation'], keys: ['n', 'N', 'escape'], intent: 'close-dialog', footer: ['any other key', 'No']},

	{modes: ['choice'], keys: ['y'], intent: 'submit', footer: ['y', 'Send it']},
	...choiceKeys,
	{modes: ['choice'], keys: ['n', 'N', 'escape'], intent: 'close-dialog', footer: ['any other key', 'No']},

	...keysOf(commands.options),
	...otherDialogKeys,
];

export const bindings: readonly Binding[] = [...panelBindings, ...dialogBindings];

export const intentOf = (mode: Mode, key: string, among: readonly Binding[] = bindings): Intended | undefined =>
	among.find((binding) => binding.modes.includes(mode) && binding.keys.includes(key))?.intent;

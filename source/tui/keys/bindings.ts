/** Every key of the monitor. The help and the footer are built from this table, so they cannot say anything else. */
import {verbs} from '../verbs/index.js';
import type {Verb} from '../verbs/verb.js';
import {dialogBindings} from './dialog-keys.js';
import {panelModes, type Intent, type KeyHint, type Mode} from './binding.js';

/** What a key leads to: a verb, or an intent of which the reducer or the controller knows the name. */
type BoundKey = KeyHint & {readonly intent: Intent | Verb};

const keysOf = (some: readonly Verb[]): readonly BoundKey[] => some.map((verb) => ({...verb.keys, intent: verb}));

/** Panels whose lines the keys move over. */
const lineModes = ['detail', 'queue', 'report', 'events'] as const satisfies readonly Mode[];

const panelBindings: readonly BoundKey[] = [
	...keysOf(verbs.pool),
	{
		modes: ['table', 'queue'],
		keys: ['r'],
		intent: 'open-reserve',
		help: 'reserve GPUs for a time',
		footer: ['r', 'Reserve'],
	},
	{
		modes: ['table'],
		keys: ['R'],
		intent: 'open-reserve-these',
		help: 'these GPUs, or adopt',
		footer: ['R', 'These', 3],
	},
	{
		modes: ['table'],
		keys: ['x', 'ctrl-d'],
		intent: 'open-release',
		help: 'release GPUs',
		footer: ['x', 'Release'],
	},
	{
		modes: ['table'],
		keys: ['e'],
		intent: 'open-extend',
		help: 'extend reservations',
		footer: ['e', 'Extend'],
	},
	{
		modes: ['queue'],
		keys: ['x', 'ctrl-d'],
		intent: 'open-leave',
		help: 'leave the queue',
		footer: ['x', 'Leave'],
	},
	{
		modes: ['table', 'queue'],
		keys: ['w'],
		intent: 'open-wait',
		help: 'wait for GPUs in line',
		footer: ['w', 'Wait'],
	},
	{modes: ['table'], keys: [' '], intent: 'toggle-tag', help: 'tag a GPU', footer: ['Space', 'Tag', 4]},
	{modes: ['table'], keys: ['up', 'k'], intent: 'focus-previous-gpu', help: 'one line up, one down'},
	{modes: ['table'], keys: ['down', 'j'], intent: 'focus-next-gpu', help: 'one line up, one down'},
	{modes: ['table'], keys: ['pageup'], intent: 'focus-previous-page', help: 'page up, page down'},
	{modes: ['table'], keys: ['pagedown'], intent: 'focus-next-page', help: 'page up, page down'},
	{modes: ['table'], keys: ['home'], intent: 'focus-first-gpu', help: 'first line, last line'},
	{modes: ['table'], keys: ['end'], intent: 'focus-last-gpu', help: 'first line, last line'},
	{modes: lineModes, keys: ['up', 'k'], intent: 'line-up'},
	{modes: lineModes, keys: ['down', 'j'], intent: 'line-down'},
	{modes: lineModes, keys: ['pageup'], intent: 'page-up'},
	{modes: lineModes, keys: ['pagedown', ' '], intent: 'page-down'},
	{modes: lineModes, keys: ['home'], intent: 'first-line'},
	{modes: lineModes, keys: ['end'], intent: 'last-line'},
	{modes: ['table'], keys: ['enter'], intent: 'focus-detail', help: 'its processes', footer: ['Enter', 'Detail', 1]},
	{
		modes: ['table', 'detail'],
		keys: ['K'],
		intent: 'open-signal',
		help: 'signal your process',
		footer: ['K', 'Kill', 5],
	},
	{modes: ['table', 'detail'], keys: ['t'], intent: 'toggle-tree', help: 'processes as a tree'},
	{modes: ['table'], keys: ['/'], intent: 'open-filter', help: 'filter by words', footer: ['/', 'Filter', 2]},
	{modes: panelModes, keys: [':'], intent: 'open-command', help: 'type a command', footer: [':', 'Command', 1]},
	...keysOf(verbs.aside),
	{modes: panelModes, keys: ['Z'], intent: 'toggle-pause', help: 'pause what is shown'},
	{modes: ['table'], keys: ['u'], intent: 'filter-user', help: 'only this user'},
	{modes: ['table'], keys: ['m'], intent: 'filter-mine', help: 'only mine'},
	{modes: ['table'], keys: ['<'], intent: 'sort-previous', help: 'sort by other column'},
	{modes: ['table'], keys: ['>'], intent: 'sort-next', help: 'sort by other column'},
	{modes: ['table'], keys: ['I'], intent: 'invert-sort', help: 'sort the other way'},
	{modes: ['table'], keys: ['escape'], intent: 'clear-marks', help: 'no tags, no filter'},
	{modes: ['report'], keys: ['<'], intent: 'report-previous', footer: ['< >', 'By'], help: 'report by user or day'},
	{modes: ['report'], keys: ['>'], intent: 'report-next', help: 'report by user or day'},
	{modes: panelModes, keys: ['1'], intent: 'focus-table', help: 'go to that panel'},
	{modes: panelModes, keys: ['2'], intent: 'focus-detail', help: 'go to that panel'},
	{modes: panelModes, keys: ['3'], intent: 'focus-queue', help: 'go to that panel'},
	{modes: panelModes, keys: ['4'], intent: 'focus-report', help: 'go to that panel'},
	{modes: panelModes, keys: ['5'], intent: 'focus-events', help: 'go to that panel'},
	{modes: panelModes, keys: ['tab'], intent: 'focus-next-panel', help: 'the next panel'},
	{modes: panelModes, keys: ['shift-tab'], intent: 'focus-previous-panel'},
	{modes: panelModes, keys: ['+', '='], intent: 'zoom', help: 'this panel alone'},
	{modes: panelModes, keys: ['_', '-'], intent: 'unzoom', help: 'this panel alone'},
	{modes: lineModes, keys: ['escape'], intent: 'leave-panel', footer: ['Esc', 'Back']},
	{modes: panelModes, keys: ['ctrl-r'], intent: 'refresh', help: 'read and scan again'},
	{modes: panelModes, keys: ['ctrl-z'], intent: 'suspend', help: 'to the shell, until fg'},
	{modes: panelModes, keys: ['?', 'h'], intent: 'open-help', help: 'this help', footer: ['?', 'Help']},
	{modes: panelModes, keys: ['q'], intent: 'quit', help: 'quit', footer: ['q', 'Quit']},

	{modes: ['filter'], keys: ['enter'], intent: 'keep-filter', footer: ['Enter', 'Keep']},
	{modes: ['filter'], keys: ['escape'], intent: 'drop-filter', footer: ['Esc', 'As before']},
	{modes: ['filter'], keys: ['up'], intent: 'focus-previous-gpu'},
	{modes: ['filter'], keys: ['down'], intent: 'focus-next-gpu'},
];

export const bindings: readonly BoundKey[] = [...panelBindings, ...dialogBindings];

export const intentOf = (mode: Mode, key: string): Intent | Verb | undefined =>
	bindings.find((binding) => binding.modes.includes(mode) && binding.keys.includes(key))?.intent;

/** The keys of what stands over the panels, and of text being typed. */
import type {Binding, Mode} from './binding.js';

const everywhere: readonly Mode[] = [
	'table',
	'detail',
	'queue',
	'report',
	'events',
	'filter',
	'form',
	'refusal',
	'confirmation',
	'signal',
	'command',
	'output',
	'list',
	'help',
];

const forms: readonly Mode[] = ['form', 'refusal'];

const outputs: readonly Mode[] = ['output', 'list'];

/** Where text is typed. */
const texts: readonly Mode[] = [...forms, 'filter', 'command'];

export const dialogBindings: readonly Binding[] = [
	{modes: everywhere, keys: ['ctrl-c'], intent: 'quit-now'},

	{modes: ['refusal'], keys: ['w'], intent: 'submit-patiently', footer: ['w', 'Wait']},
	{modes: ['form'], keys: ['enter'], intent: 'submit', footer: ['Enter', 'Do it']},
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

	{modes: ['signal'], keys: ['y'], intent: 'submit', footer: ['y', 'Send it']},
	{modes: ['signal'], keys: ['right', 'tab'], intent: 'choose-next-signal', footer: ['Tab', 'Signal']},
	{modes: ['signal'], keys: ['left', 'shift-tab'], intent: 'choose-previous-signal'},
	{modes: ['signal'], keys: ['down'], intent: 'choose-next-process', footer: ['Up Down', 'Process']},
	{modes: ['signal'], keys: ['up'], intent: 'choose-previous-process'},
	{modes: ['signal'], keys: ['n', 'N', 'escape'], intent: 'close-dialog', footer: ['any other key', 'No']},

	{modes: ['command'], keys: ['enter'], intent: 'submit', footer: ['Enter', 'Run']},
	{modes: ['command'], keys: ['tab'], intent: 'complete', footer: ['Tab', 'Complete']},
	{modes: ['command'], keys: ['up'], intent: 'history-before', footer: ['Up', 'Before']},
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
];

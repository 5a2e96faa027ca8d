/** The keys that move over the table of all hosts, and sort and filter it: the same as those of the GPUs of one host. */
import type {HostsIntent} from '../state/hosts/reduce.js';
import type {KeyHint} from '../state/keys.js';

type HostBinding = KeyHint & {readonly intent: HostsIntent};

const modes = ['hosts'] as const;

export const hostBindings: readonly HostBinding[] = [
	{modes, keys: ['up', 'k'], intent: 'previous-host-line'},
	{modes, keys: ['down', 'j'], intent: 'next-host-line'},
	{modes, keys: ['pageup'], intent: 'previous-host-page'},
	{modes, keys: ['pagedown', ' '], intent: 'next-host-page'},
	{modes, keys: ['home'], intent: 'first-host-line'},
	{modes, keys: ['end'], intent: 'last-host-line'},
	{modes, keys: ['/'], intent: 'filter-hosts', footer: ['/', 'Filter', 2]},
	{modes, keys: ['u'], intent: 'filter-hosts-user'},
	{modes, keys: ['m'], intent: 'filter-hosts-mine', footer: ['m', 'Mine', 3]},
	{modes, keys: ['<'], intent: 'sort-hosts-previous', footer: ['< >', 'Sort', 4]},
	{modes, keys: ['>'], intent: 'sort-hosts-next'},
	{modes, keys: ['I'], intent: 'invert-hosts'},
	{modes, keys: ['escape'], intent: 'clear-hosts-filter', footer: ['Esc', 'Back', 1]},
];

const whileFiltering = ['hosts-filter'] as const;

export const hostFilterBindings: readonly HostBinding[] = [
	{modes: whileFiltering, keys: ['enter'], intent: 'keep-hosts-filter', footer: ['Enter', 'Apply']},
	{modes: whileFiltering, keys: ['escape'], intent: 'drop-hosts-filter', footer: ['Esc', 'Cancel']},
	{modes: whileFiltering, keys: ['up'], intent: 'previous-host-line'},
	{modes: whileFiltering, keys: ['down'], intent: 'next-host-line'},
];

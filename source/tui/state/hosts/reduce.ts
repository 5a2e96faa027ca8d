/** Applies keys and answers of hosts to the host table. */
import {roomOf} from '../../layout.js';
import {leavePanel} from '../panels/reduce.js';
import {sortedByNext, withInverted} from '../table/order.js';
import {isFiltered, noFilter} from '../table/state.js';
import {filterChanges, firstInView} from '../table/alike.js';
import type {State} from '../state.js';
import {hostLines, selectedHostLine, selectedLineIndex, userOfLine} from './lines.js';
import {hostSortKeys, type HostsState, type SeenHost} from './state.js';

/** Everything known about the other hosts, with the time on the monitor's clock. */
export type HostsUpdate = {readonly kind: 'hosts-arrived'; readonly known: readonly SeenHost[]; readonly nowMs: number};

const withHosts = (state: State, more: Partial<HostsState>): State => ({...state, hosts: {...state.hosts, ...more}});

/** Returns the lines below the table's head. */
export const hostRowsOf = (state: State): number => Math.max(1, roomOf(state, 'hosts').rows - 1);

export function selectHostLine(state: State, wanted: number): State {
	const lines = hostLines(state);
	const index = Math.max(0, Math.min(wanted, lines.length - 1));
	return withHosts(state, {selected: {key: lines[index]?.key, position: index}});
}

const moveBy = (state: State, by: number): State => selectHostLine(state, (selectedLineIndex(state) ?? 0) + by);

const sortBy = (state: State, step: 1 | -1): State =>
	withHosts(state, {sort: sortedByNext(hostSortKeys, state.hosts.sort, step)});

const filter = filterChanges({
	name: 'hosts',
	selectionOf: ({hosts}) => hosts.selected,
	select: (state, selected) => withHosts(state, {selected}),
	userOf: (state) => userOfLine(selectedHostLine(state)),
	noUser: 'This line has no user: select a GPU of the user to filter by',
});

export const hostsIntents = {
	'next-host-line': (state) => moveBy(state, 1),
	'previous-host-line': (state) => moveBy(state, -1),
	'next-host-page': (state) => moveBy(state, hostRowsOf(state)),
	'previous-host-page': (state) => moveBy(state, -hostRowsOf(state)),
	'first-host-line': (state) => selectHostLine(state, 0),
	'last-host-line': (state) => selectHostLine(state, Infinity),
	'sort-hosts-next': (state) => sortBy(state, 1),
	'sort-hosts-previous': (state) => sortBy(state, -1),
	'invert-hosts': (state) => withHosts(state, {sort: withInverted(state.hosts.sort)}),
	'filter-hosts': filter.open,
	'keep-hosts-filter': filter.keep,
	'drop-hosts-filter': filter.drop,
	'filter-hosts-user': filter.user,
	'filter-hosts-mine': filter.mine,
	'clear-hosts-filter': (state) =>
		isFiltered(state.hosts.filter) ? withHosts(state, {filter: noFilter}) : leavePanel(state),
} as const satisfies Readonly<Record<string, (state: State) => State>>;

export type HostsIntent = keyof typeof hostsIntents;

export const afterHostsUpdate = (state: State, {known, nowMs}: HostsUpdate): State =>
	withHosts({...state, nowMs}, {known});

/** Keeps the selected line selected and in view. */
export function settledHosts(state: State): State {
	if (state.panels.focus !== 'hosts') {
		return state;
	}

	const lines = hostLines(state);
	const index = selectedLineIndex(state) ?? 0;
	const {selected, firstLine: before} = state.hosts;
	const firstLine = firstInView(before, index, {shown: hostRowsOf(state), total: lines.length});
	const key = lines[index]?.key;
	return firstLine === before && index === selected.position && key === selected.key
		? state
		: withHosts(state, {selected: {key, position: index}, firstLine});
}

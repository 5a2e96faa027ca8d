/** What the keys, and the answers of hosts, do to the table of all hosts. */
import {roomOf} from '../../layout.js';
import {noFilter, type Filter} from '../table/state.js';
import {withFlash, type State} from '../state.js';
import {fieldOf} from '../text-field.js';
import {hostLines, selectedHostLine, selectedLineIndex, userOfLine} from './lines.js';
import {hostSortKeys, type HostsState, type SeenHost} from './state.js';

/** All that is known of the other hosts, and when on the monitor's clock. */
export type HostsUpdate = {readonly kind: 'hosts-arrived'; readonly known: readonly SeenHost[]; readonly nowMs: number};

const withHosts = (state: State, more: Partial<HostsState>): State => ({...state, hosts: {...state.hosts, ...more}});

const withFilter = (state: State, more: Partial<Filter>): State =>
	withHosts(state, {filter: {...state.hosts.filter, ...more}});

/** The lines below the head of the table. */
export const hostRowsOf = (state: State): number => Math.max(1, roomOf(state, 'hosts').rows - 1);

export function selectHostLine(state: State, wanted: number): State {
	const lines = hostLines(state);
	const index = Math.max(0, Math.min(wanted, lines.length - 1));
	return withHosts(state, {selected: {key: lines[index]?.key, position: index}});
}

const moveBy = (state: State, by: number): State => selectHostLine(state, (selectedLineIndex(state) ?? 0) + by);

function sortBy(state: State, step: 1 | -1): State {
	const index = hostSortKeys.indexOf(state.hosts.sort.by) + step + hostSortKeys.length;
	return withHosts(state, {sort: {by: hostSortKeys[index % hostSortKeys.length]!, isInverted: false}});
}

function filterUser(state: State): State {
	if (state.hosts.filter.user !== undefined) {
		return withFilter(state, {user: undefined});
	}

	const user = userOfLine(selectedHostLine(state));
	return user === undefined
		? withFlash(state, 'warning', 'This line has no user: select a GPU of the user to filter by')
		: withFilter(state, {user});
}

export const hostsIntents = {
	'next-host-line': (state) => moveBy(state, 1),
	'previous-host-line': (state) => moveBy(state, -1),
	'next-host-page': (state) => moveBy(state, hostRowsOf(state)),
	'previous-host-page': (state) => moveBy(state, -hostRowsOf(state)),
	'first-host-line': (state) => selectHostLine(state, 0),
	'last-host-line': (state) => selectHostLine(state, Infinity),
	'sort-hosts-next': (state) => sortBy(state, 1),
	'sort-hosts-previous': (state) => sortBy(state, -1),
	'invert-hosts': (state) => withHosts(state, {sort: {...state.hosts.sort, isInverted: !state.hosts.sort.isInverted}}),
	'filter-hosts': (state) =>
		withHosts(state, {prompt: {field: fieldOf(state.hosts.filter.text), before: state.hosts.filter.text}}),
	'keep-hosts-filter': (state) => withHosts(state, {prompt: undefined}),
	'drop-hosts-filter': (state) =>
		withHosts(withFilter(state, {text: state.hosts.prompt?.before ?? ''}), {prompt: undefined}),
	'filter-hosts-user': filterUser,
	'filter-hosts-mine': (state) => withFilter(state, {isMine: !state.hosts.filter.isMine}),
	'clear-hosts-filter': (state) =>
		state.hosts.filter === noFilter
			? {
					...state,
					panels: {...state.panels, focus: state.settings.hasNoPool === true ? 'hosts' : 'table', isZoomed: false},
				}
			: withHosts(state, {filter: noFilter}),
} as const satisfies Readonly<Record<string, (state: State) => State>>;

/** What a user may want of the table of all hosts. */
export type HostsIntent = keyof typeof hostsIntents;

export const afterHostsUpdate = (state: State, {known, nowMs}: HostsUpdate): State =>
	withHosts({...state, nowMs}, {known});

/** Keeps the selection on the line that was selected, and in view. */
export function settledHosts(state: State): State {
	if (state.panels.focus !== 'hosts') {
		return state;
	}

	const lines = hostLines(state);
	const index = selectedLineIndex(state) ?? 0;
	const {selected, firstLine: before} = state.hosts;
	const rows = hostRowsOf(state);
	const firstLine = Math.max(0, Math.min(lines.length - rows, Math.max(Math.min(before, index), index - rows + 1)));
	const key = lines[index]?.key;
	return firstLine === before && index === selected.position && key === selected.key
		? state
		: withHosts(state, {selected: {key, position: index}, firstLine});
}

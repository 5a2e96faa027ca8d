/** State of the host table: known hosts, order, filter and selection. */
import type {KnownHost} from '../../../core/live/host-watch.js';
import type {HostStatus} from '../../../format/hosts/remote-gpu.js';
import {noFilter, type Filter, type Prompt} from '../table/state.js';

export type SeenHost = KnownHost<HostStatus>;

export const hostSortKeys = [
	'host',
	'state',
	'owner',
	'ends',
	'utilization',
	'memory',
	'temperature',
	'model',
] as const;

export type HostSortKey = (typeof hostSortKeys)[number];

export type HostsState = {
	/** Hosts that answered or failed at least once. */
	readonly known: readonly SeenHost[];
	readonly sort: {readonly by: HostSortKey; readonly isInverted: boolean};
	readonly filter: Filter;
	readonly prompt?: Prompt<HostsState['selected']>;
	/** Key of the selected line, and its last position. */
	readonly selected: {readonly key?: string; readonly position: number};
	/** First visible line. */
	readonly firstLine: number;
};

export const initialHosts: HostsState = {
	known: [],
	sort: {by: 'host', isInverted: false},
	filter: noFilter,
	selected: {position: 0},
	firstLine: 0,
};

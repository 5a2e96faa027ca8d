/** The table of the GPUs of all hosts: what is known of the others, and how it is shown. */
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
	/** The other hosts that answered, or failed to, at least once. */
	readonly known: readonly SeenHost[];
	readonly sort: {readonly by: HostSortKey; readonly isInverted: boolean};
	readonly filter: Filter;
	readonly prompt?: Prompt<HostsState['selected']>;
	/** The key of the selected line, and where it stood when it was last seen. */
	readonly selected: {readonly key?: string; readonly position: number};
	/** The first line shown. */
	readonly firstLine: number;
};

export const initialHosts: HostsState = {
	known: [],
	sort: {by: 'host', isInverted: false},
	filter: noFilter,
	selected: {position: 0},
	firstLine: 0,
};

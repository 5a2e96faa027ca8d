import type {KnownHost} from '../../../core/live/host-watch.js';
import type {HostStatus} from '../../../format/hosts/remote-gpu.js';
import {initialTableBy} from '../table/state.js';

/** A host that has answered or failed at least once. */
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

export const initialHosts = initialTableBy<HostSortKey>('host');

/** What the page knows, and what a message of the server makes of it. */
import type {HostJson} from '../../api/hosts.js';
import type {FeedJson, LiveJson} from '../../api/live-json.js';
import {gpuStates} from '../../../format/states.js';
import type {About, Gpu, PoolEvent, Waiter} from '../fields.js';
import {continued, noUtilization, type Utilization} from './utilization.js';

/** The connection to the server. */
export type Link =
	| {readonly kind: 'connecting' | 'live'}
	/** Times are the server's for what is old, and this machine's for the next try. */
	| {readonly kind: 'lost'; readonly sinceMs: number; readonly nextTryMs: number};

/** Another host: of one that fails now, what it said before. */
export type KnownHost = {
	readonly gpus?: readonly Gpu[];
	readonly error?: string;
	/** When it said so, by this machine's clock; undefined for this host, which is live. */
	readonly atMs?: number;
};

export type PageState = {
	readonly about: About | undefined;
	readonly store: FeedJson | undefined;
	readonly scan: FeedJson | undefined;
	readonly warnings: readonly string[];
	readonly queue: readonly Waiter[];
	/** Oldest first. */
	readonly events: readonly PoolEvent[];
	/** By index. */
	readonly gpus: readonly Gpu[];
	readonly link: Link;
	/** The other hosts by name. */
	readonly hosts: ReadonlyMap<string, KnownHost>;
	readonly utilization: Utilization;
	/** Counts the changes after which a report may say something else. */
	readonly leaseChanges: number;
	/** Read aloud for those who listen instead of looking. */
	readonly announcement: string;
};

export const firstState: PageState = {
	about: undefined,
	store: undefined,
	scan: undefined,
	warnings: [],
	queue: [],
	events: [],
	gpus: [],
	link: {kind: 'connecting'},
	hosts: new Map(),
	utilization: noUtilization,
	leaseChanges: 0,
	announcement: '',
};

/** The server sends new events alone, so that a page that is open for long must forget some. */
const mostEvents = 200;

/** What somebody who cannot see the cards would want to hear. */
function changesIn(before: readonly Gpu[], gpus: readonly Gpu[]): readonly string[] {
	const known = new Map(before.map((gpu) => [gpu.gpu_id, gpu]));
	return gpus.flatMap((gpu) => {
		const last = known.get(gpu.gpu_id);
		return last === undefined || (last.state === gpu.state && last.user === gpu.user)
			? []
			: [`GPU ${gpu.gpu_id}: ${gpuStates[gpu.state].label}${gpu.user === undefined ? '' : `, ${gpu.user}`}`];
	});
}

function queueChange(before: readonly Waiter[], queue: readonly Waiter[]): readonly string[] {
	return queue.length === before.length
		? []
		: [queue.length === 0 ? 'Nobody waits any more' : `${queue.length} in the queue`];
}

/** @returns The state with the message in it, and the changes to be announced. */
export function withLive(
	state: PageState,
	{now_ms: nowMs, gpu_count: gpuCount, gpus, events = [], queue, ...parts}: LiveJson,
	kind: 'state' | 'change',
): {readonly state: PageState; readonly changes: readonly string[]} {
	const isWhole = kind === 'state';
	const changes = [
		...changesIn(state.gpus, gpus),
		...(isWhole || queue === undefined ? [] : queueChange(state.queue, queue)),
	];
	// What was asked for in vain while the store was away is asked for when it is back.
	const isBack = parts.store?.live === true && state.store?.live === false;
	const byIndex = new Map<number, Gpu>([...state.gpus, ...gpus].map((gpu) => [gpu.gpu_id, gpu]));
	const all = byIndex
		.values()
		.filter(({gpu_id: index}) => index < gpuCount)
		.toArray()
		.toSorted((a, b) => a.gpu_id - b.gpu_id);
	return {
		changes,
		state: {
			...state,
			...parts,
			gpus: all,
			queue: queue ?? state.queue,
			events: isWhole ? events : [...state.events, ...events].slice(-mostEvents),
			utilization: continued(state.utilization, all, nowMs),
			leaseChanges: state.leaseChanges + (isWhole || isBack || changes.length > 0 ? 1 : 0),
		},
	};
}

/** The card has the host's name above the error. */
const withoutName = (error: string | undefined, name: string): string | undefined =>
	error?.startsWith(`${name}: `) ? error.slice(name.length + 2) : error;

export function withHosts(state: PageState, answers: readonly HostJson[], nowMs: number): PageState {
	const known = answers.map(({name, error, before, ...host}): readonly [string, KnownHost] => {
		const {gpus, age_ms: ageMs} = before ?? host;
		return [name, {error: withoutName(error, name), gpus, atMs: gpus && nowMs - ageMs}];
	});
	return {...state, hosts: new Map([...state.hosts, ...known])};
}

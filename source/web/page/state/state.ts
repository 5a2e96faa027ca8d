import type {HostJson} from '../../api/hosts.js';
import type {FeedJson, LiveJson} from '../../api/live-json.js';
import type {GpuUtilizationJson} from '../../api/utilization-json.js';
import type {About, Gpu, PoolEvent, Waiter} from '../fields.js';

export type Link =
	| {readonly kind: 'connecting' | 'live'}
	/** `sinceMs` is a time of the server's clock, and `nextTryMs` a time of this machine's clock. */
	| {readonly kind: 'lost'; readonly sinceMs: number; readonly nextTryMs: number};

/** A host. If another host does not answer, its values are from its last answer. */
export type KnownHost = {
	readonly gpus?: readonly Gpu[];
	readonly error?: string;
	/** The time of the answer by this machine's clock. Undefined for the host of this server, whose values are live. */
	readonly atMs?: number;
};

export type Series = GpuUtilizationJson;

export type Utilization = {
	readonly stepMs: number;
	/** The number of the newest step, counted from the epoch. 0 before the first value. */
	readonly step: number;
	readonly gpus: ReadonlyMap<number, Series>;
	/** How many times the whole history was requested. It is requested again after values were missed. */
	readonly fetches: number;
};

export const emptySeries: Series = {utilization: [], memory: []};

export type PageState = {
	readonly about: About | undefined;
	readonly store: FeedJson | undefined;
	readonly scan: FeedJson | undefined;
	readonly warnings: readonly string[];
	readonly queue: readonly Waiter[];
	/** The events, oldest first. */
	readonly events: readonly PoolEvent[];
	readonly gpus: readonly Gpu[];
	readonly link: Link;
	readonly hosts: ReadonlyMap<string, KnownHost>;
	readonly utilization: Utilization;
	readonly leaseChanges: number;
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
	utilization: {stepMs: 10_000, step: 0, gpus: new Map(), fetches: 0},
	leaseChanges: 0,
	announcement: '',
};

/** Maximum number of events. The server sends only new events, so a page that stays open must drop old ones. */
const mostEvents = 200;

export function withLive(
	state: PageState,
	{gpu_count: gpuCount, gpus, events = [], queue, ...parts}: LiveJson,
	isWhole: boolean,
): PageState {
	const byIndex = new Map<number, Gpu>([...state.gpus, ...gpus].map((gpu) => [gpu.gpu_id, gpu]));
	return {
		...state,
		...parts,
		gpus: byIndex
			.values()
			.filter(({gpu_id: index}) => index < gpuCount)
			.toArray()
			.toSorted((a, b) => a.gpu_id - b.gpu_id),
		queue: queue ?? state.queue,
		events: isWhole ? events : [...state.events, ...events].slice(-mostEvents),
	};
}

/** Removes the name of the host from its error, because the card already shows the name. */
const withoutName = (error: string | undefined, name: string): string | undefined =>
	error?.startsWith(`${name}: `) ? error.slice(name.length + 2) : error;

export function withHosts(state: PageState, answers: readonly HostJson[], nowMs: number): PageState {
	const known = answers.map(({name, error, before, ...host}): readonly [string, KnownHost] => {
		const {gpus, age_ms: ageMs} = before ?? host;
		return [name, {error: withoutName(error, name), gpus, atMs: gpus && nowMs - ageMs}];
	});
	return {...state, hosts: new Map([...state.hosts, ...known])};
}

/** What the page knows, and what a message of the server makes of it. */
import type {HostJson} from '../../api/hosts.js';
import type {FeedJson, LiveJson} from '../../api/live-json.js';
import type {GpuUtilizationJson} from '../../api/utilization-json.js';
import type {About, Gpu, PoolEvent, Waiter} from '../fields.js';

/** The connection to the server. */
export type Link =
	| {readonly kind: 'connecting' | 'live'}
	/** `sinceMs` is by the server's clock, and `nextTryMs` by that of this machine. */
	| {readonly kind: 'lost'; readonly sinceMs: number; readonly nextTryMs: number};

/** Another host: of one that fails now, what it said before. */
export type KnownHost = {
	readonly gpus?: readonly Gpu[];
	readonly error?: string;
	/** When it said so, by this machine's clock; undefined for this host, which is live. */
	readonly atMs?: number;
};

export type Series = GpuUtilizationJson;

/** How busy the GPUs were. */
export type Utilization = {
	readonly stepMs: number;
	/** The number of the newest step since the epoch; 0 before anything is known. */
	readonly step: number;
	/** The last minutes by index of the GPU. */
	readonly gpus: ReadonlyMap<number, Series>;
	/** Counts how often everything was fetched, because values were missed before. */
	readonly fetches: number;
};

export const emptySeries: Series = {utilization: [], memory: []};

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
	/** What a screen reader says. */
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

/** The server sends new events alone, so that a page that is open for long must forget some. */
const mostEvents = 200;

/** The state with a message of the server in it. */
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

/** The error without the host's name, which the card has above it. */
const withoutName = (error: string | undefined, name: string): string | undefined =>
	error?.startsWith(`${name}: `) ? error.slice(name.length + 2) : error;

export function withHosts(state: PageState, answers: readonly HostJson[], nowMs: number): PageState {
	const known = answers.map(({name, error, before, ...host}): readonly [string, KnownHost] => {
		const {gpus, age_ms: ageMs} = before ?? host;
		return [name, {error: withoutName(error, name), gpus, atMs: gpus && nowMs - ageMs}];
	});
	return {...state, hosts: new Map([...state.hosts, ...known])};
}

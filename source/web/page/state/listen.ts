/**
Shares one stream among all tabs of a browser, which allows only six connections. The tab that holds a lock has the stream and forwards each message. Hidden
tabs release the lock.
*/
import type {HostsJson} from '../../api/hosts.js';
import type {LiveJson} from '../../api/live-json.js';
import {createStream, silenceMs, type StreamEvent} from './stream.js';

/** How long a hidden tab keeps its connection. */
const unseenMs = 10_000;
/** Tabs that open within this time share one complete state. */
const gatherMs = 50;

const streamName = 'canhazgpu-events';
const hostsName = 'canhazgpu-hosts';

export type Listener = {
	readonly live: (data: LiveJson, kind: 'state' | 'change') => void;
	readonly hosts: (data: HostsJson) => void;
	readonly away: (nextTryMs?: number) => void;
};

type Said =
	| {readonly kind: 'message'; readonly event: StreamEvent; readonly data: string}
	| {readonly kind: 'lost'; readonly nextTryMs: number}
	| {readonly kind: 'ask'};

/** `resting`: a hidden tab that only receives forwarded messages. */
type Role = 'resting' | 'following' | 'leading';

/** Returns a function to call when the shown view has changed. `showsHosts`: the server only asks the other hosts while this returns true. */
export function listen(listener: Listener, showsHosts: () => boolean): () => void {
	/** Missing without https or localhost. Then each tab has its own stream. */
	const {locks} = navigator as {readonly locks?: LockManager};
	let role: Role = 'resting';
	let channel: BroadcastChannel | undefined;
	/** Aborts the request for the stream lock, or releases it. */
	let leaving: AbortController | undefined;
	let hiding: AbortController | undefined;
	let silence: NodeJS.Timeout | undefined;
	let gathering: NodeJS.Timeout | undefined;
	let areHostsShown = false;

	const say = (said: Said): void => {
		channel?.postMessage(said);
	};

	function deliver(event: StreamEvent, data: string): void {
		heardSomething();
		if (event === 'hosts') {
			listener.hosts(JSON.parse(data) as HostsJson);
		} else if (event !== 'beat') {
			listener.live(JSON.parse(data) as LiveJson, event);
		}
	}

	const stream = createStream(
		{
			message(event, data) {
				deliver(event, data);
				say({kind: 'message', event, data});
				if (event === 'beat') {
					void whenKnown(stream.follow);
				}
			},
			lost(nextTryMs) {
				listener.away(nextTryMs);
				say({kind: 'lost', nextTryMs});
			},
		},
		() => (areHostsShown ? '/api/events?hosts' : '/api/events'),
	);

	/** Calls `act` in the leading tab when it is known whether any tab shows the hosts. */
	async function whenKnown(act: () => void): Promise<void> {
		const {held = []} = (await locks?.query()) ?? {};
		areHostsShown = hiding !== undefined || held.some(({name}) => name === hostsName);
		if (role === 'leading') {
			act();
		}
	}

	function lead(): void {
		role = 'leading';
		clearTimeout(silence);
		void whenKnown(stream.open);
	}

	/** Restarts the time after which a silent leader loses its lock. */
	function heardSomething(): void {
		clearTimeout(silence);
		if (role !== 'leading') {
			silence = setTimeout(
				() => {
					listener.away();
					if (role === 'following') {
						join({steal: true});
					}
				},
				silenceMs * (1 + Math.random() / 4),
			);
		}
	}

	/** Requests a lock and holds it until it is left or stolen. Stealing supports no signal. `ended` is called with whether the lock was left. */
	function hold(
		name: string,
		options: LockOptions,
		held: () => void,
		ended: (isLeft: boolean) => void,
	): AbortController {
		const ending = new AbortController();
		const {signal} = ending;
		const use = async (): Promise<void> => {
			if (signal.aborted) {
				return;
			}

			held();
			await new Promise((resolve) => {
				signal.addEventListener('abort', resolve);
			});
		};

		const request = async (): Promise<void> => {
			try {
				await (locks === undefined
					? use()
					: locks.request(name, options.steal === true ? options : {...options, signal}, use));
			} catch {}

			ended(signal.aborted);
		};

		void request();
		return ending;
	}

	function join(options: LockOptions): void {
		leaving?.abort();
		leaving = hold(streamName, options, lead, (isLeft) => {
			if (isLeft) {
				return;
			}

			stream.close();
			role = 'following';
			join({});
		});
	}

	/** Sends a complete state to all tabs, once for simultaneous requests. */
	function tellAll(): void {
		clearTimeout(gathering);
		gathering = setTimeout(() => {
			void whenKnown(stream.reopen);
		}, gatherMs);
	}

	function hear({data: said}: MessageEvent<Said>): void {
		if (said.kind === 'message' && role !== 'leading') {
			deliver(said.event, said.data);
		} else if (said.kind === 'lost' && role === 'following') {
			heardSomething();
			listener.away(said.nextTryMs);
		} else if (said.kind === 'ask') {
			tellAll();
		}
	}

	/** The complete state includes the hosts. */
	const hostsChanged = (): void => {
		say({kind: 'ask'});
		void whenKnown(stream.follow);
	};

	function follow(): void {
		const shows = showsHosts() && !document.hidden && role !== 'resting';
		if (shows === (hiding !== undefined)) {
			return;
		}

		hiding?.abort();
		hiding = shows ? hold(hostsName, {mode: 'shared'}, hostsChanged, hostsChanged) : undefined;
	}

	function start(): void {
		if (channel === undefined && locks !== undefined) {
			channel = new BroadcastChannel(streamName);
			channel.addEventListener('message', hear);
		}

		if (role !== 'resting') {
			return;
		}

		role = 'following';
		heardSomething();
		say({kind: 'ask'});
		join({});
	}

	function rest(): void {
		role = 'resting';
		follow();
		stream.close();
		leaving?.abort();
		// Other tabs can continue and forward their messages.
		heardSomething();
	}

	let unseen: NodeJS.Timeout | undefined;
	const seenOrNot = (): void => {
		clearTimeout(unseen);
		if (document.hidden) {
			unseen = setTimeout(rest, unseenMs);
		} else {
			start();
		}

		follow();
	};

	addEventListener('online', () => {
		if (role === 'leading') {
			stream.open();
		}
	});
	document.addEventListener('visibilitychange', seenOrNot);
	// A page that is left releases its locks, and reconnects when the browser restores it.
	addEventListener('pagehide', () => {
		rest();
		clearTimeout(silence);
		channel?.close();
		channel = undefined;
	});
	addEventListener('pageshow', (event) => {
		if (!event.persisted) {
			return;
		}

		start();
		follow();
	});
	start();
	seenOrNot();
	return follow;
}

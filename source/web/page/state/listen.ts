/** Shares one event stream among all tabs, because browsers allow only six connections. The tab that holds a lock forwards each message to the others. */
import type {HostsJson} from '../../api/hosts.js';
import type {LiveJson} from '../../api/live-json.js';
import {createStream, silenceMs, type StreamEvent} from './stream.js';

/** Time in ms for which a hidden tab keeps the stream. */
const unseenMs = 10_000;
/** Tabs that open within this time in ms share one complete state. */
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

/** `resting` is a hidden tab, which only receives forwarded messages. */
type Role = 'resting' | 'following' | 'leading';

/** Starts listening. The returned function must be called when the view changes. The server asks other hosts only while `showsHosts` returns true. */
export function listen(listener: Listener, showsHosts: () => boolean): () => void {
	/** The browser's locks. Available only over https or on localhost. Without locks, each tab has its own stream. */
	const {locks} = navigator as {readonly locks?: LockManager};
	let role: Role = 'resting';
	let channel: BroadcastChannel | undefined;
	/** Aborted to cancel the request for the stream's lock, or to release the lock. */
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

	/** Finds out whether any tab shows the hosts, then calls `act` if this tab has the stream. */
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

	/** Restarts the timer that detects silence. When the timer ends, this tab takes the lock from the silent tab. */
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

	/** Requests a lock, and holds it until the returned controller is aborted or another tab takes the lock. `isLeft` is true after an abort. */
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

	/** Sends a complete state to all tabs. Tabs that ask within a short time get the same state. */
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

	/** Asks for a complete state, which includes the hosts if any tab shows them. */
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
		// Waits for messages again, because another tab may get the stream and forward them.
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
	// A page that the user leaves releases its locks. If the browser restores the page, the page connects again.
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

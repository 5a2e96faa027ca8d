/**
What the server tells, by one stream for all tabs of a browser: a browser has only six connections for all of them. The tab that holds a lock
has the stream, and hands each message on to the others. A hidden tab gives the lock up.
*/
import type {HostsJson} from '../../api/hosts.js';
import type {LiveJson} from '../../api/live-json.js';
import {createStream, silenceMs, type StreamEvent} from './stream.js';

/** A hidden tab holds a connection for so long. */
const unseenMs = 10_000;
/** Tabs that open at the same time get everything at the same time. */
const gatherMs = 50;

/** Of the lock on the stream, and of the channel between the tabs. */
const streamName = 'canhazgpu-events';
/** Of the lock that each tab has which shows the other hosts. */
const hostsName = 'canhazgpu-hosts';

export type Listener = {
	/** Gets everything (`state`) or the parts that changed. */
	readonly live: (data: LiveJson, kind: 'state' | 'change') => void;
	readonly hosts: (data: HostsJson) => void;
	/** @param nextTryMs - When the next attempt to connect is; undefined while one is under way. */
	readonly away: (nextTryMs?: number) => void;
};

/** What tabs say to one another. */
type Said =
	| {readonly kind: 'message'; readonly event: StreamEvent; readonly data: string}
	| {readonly kind: 'lost'; readonly nextTryMs: number}
	/** A tab asks for everything. */
	| {readonly kind: 'ask'};

/** Resting: a hidden tab, which takes what others hand on and does nothing for it. */
type Role = 'resting' | 'following' | 'leading';

/**
@param showsHosts - Whether the page shows the other hosts: the server asks them for as long as they are shown.
@returns To be called when what the page shows has changed.
*/
export function listen(listener: Listener, showsHosts: () => boolean): () => void {
	/** Absent where the page is not from this machine or by https: then each tab has a stream of its own. */
	const {locks} = navigator as {readonly locks?: LockManager};
	let role: Role = 'resting';
	let channel: BroadcastChannel | undefined;
	/** Ends the wish for the lock on the stream, and the hold on it. */
	let leaving: AbortController | undefined;
	/** Ends the hold on the other lock. */
	let hiding: AbortController | undefined;
	let silence: NodeJS.Timeout | undefined;
	let gathering: NodeJS.Timeout | undefined;
	/** Whether any tab shows the hosts. */
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

	/** Does this with the stream of a tab that leads, once it is known whether any tab shows the hosts. */
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

	/** A leader that says nothing for so long hangs: its lock is taken. */
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

	/**
	Asks for a lock and holds it, until it is left or taken. A lock is taken by force or waited for: the interface allows no signal with the former.

	@param ended - Told whether the lock was left.
	*/
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

	/** Sends everything once more to all tabs, and to those that ask for it at the same time but once. */
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

	/** What is known of the hosts comes with everything else. */
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
		// Other tabs may go on and hand on what they get.
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
	// A page that is left lets go at once, and one that comes back from the browser's cache connects again.
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

/**
What the server tells, by one stream for all tabs of a browser: a browser has only six connections for all of them. The tab that holds a lock
has the stream, and hands each message on to the others. A hidden tab gives the lock up.
*/
import type {HostsJson} from '../../api/hosts.js';
import type {LiveJson} from '../../api/live-json.js';
import {createStream, silenceMs, type StreamEvent} from './stream.js';

/** A hidden tab holds a connection for so long. */
const unseenMs = 10_000;
/** How often a tab that shows the hosts says so, and for how long that counts. */
const wishMs = 10_000;
const wishHoldsMs = 25_000;
/** Tabs that open at the same time get everything at the same time. */
const gatherMs = 50;

const name = 'canhazgpu-events';

export type Listener = {
	/** Gets everything (`state`) or the parts that changed. */
	readonly live: (data: LiveJson, kind: 'state' | 'change') => void;
	readonly hosts: (data: HostsJson) => void;
	readonly connecting: () => void;
	readonly connected: () => void;
	/** @param nextTryMs - When the next attempt to connect is. */
	readonly lost: (nextTryMs: number) => void;
};

/** What tabs say to one another. */
type Said =
	| {readonly kind: 'message'; readonly event: StreamEvent; readonly data: string}
	| {readonly kind: 'lost'; readonly nextTryMs: number}
	/** A tab asks for everything. */
	| {readonly kind: 'ask'}
	/** A tab shows the other hosts, or does so no more. */
	| {readonly kind: 'hosts'; readonly tab: number; readonly shows: boolean};

/** Resting: a hidden tab, which takes what others hand on and does nothing for it. */
type Role = 'resting' | 'following' | 'leading';

/**
@param showsHosts - Whether the page shows the other hosts: the server asks them for as long as they are shown.
@returns To be called when what the page shows has changed.
*/
export function listen(listener: Listener, showsHosts: () => boolean): () => void {
	const tab = Math.random();
	/** Absent where the page is not from this machine or by https: then each tab has a stream of its own. */
	const {locks} = navigator as {readonly locks?: LockManager};
	let role: Role = 'resting';
	let channel: BroadcastChannel | undefined;
	/** Ends the wish for the lock, and the hold on it. */
	let leaving: AbortController | undefined;
	let silence: NodeJS.Timeout | undefined;
	let gathering: NodeJS.Timeout | undefined;
	let wishing: NodeJS.Timeout | undefined;
	/** Until when other tabs show the hosts. */
	const wishes = new Map<number, number>();

	const say = (said: Said): void => {
		channel?.postMessage(said);
	};

	const wantsHosts = (): boolean => showsHosts() && !document.hidden;

	const areHostsWanted = (): boolean => wantsHosts() || wishes.values().some((untilMs) => untilMs > Date.now());

	function deliver(event: StreamEvent, data: string): void {
		heardSomething();
		if (event === 'state') {
			listener.connected();
		}

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
					stream.follow();
				}
			},
			lost(nextTryMs) {
				listener.lost(nextTryMs);
				say({kind: 'lost', nextTryMs});
			},
		},
		() => (areHostsWanted() ? '/api/events?hosts' : '/api/events'),
	);

	function lead(): void {
		role = 'leading';
		clearTimeout(silence);
		stream.open();
	}

	/** A leader that says nothing for so long hangs: its lock is taken. */
	function heardSomething(): void {
		clearTimeout(silence);
		if (role !== 'leading') {
			silence = setTimeout(
				() => {
					listener.connecting();
					if (role === 'following') {
						join({steal: true});
					}
				},
				silenceMs * (1 + Math.random() / 4),
			);
		}
	}

	/** Asks for the lock and holds it, until it is left or taken. */
	function join(options: LockOptions): void {
		leaving?.abort();
		if (locks === undefined) {
			lead();
			return;
		}

		leaving = new AbortController();
		const {signal} = leaving;
		const hold = async (): Promise<void> => {
			if (signal.aborted) {
				return;
			}

			lead();
			await new Promise((resolve) => {
				signal.addEventListener('abort', resolve);
			});
		};

		// A lock is taken by force or waited for: the interface allows no signal with the former.
		locks.request(name, options.steal === true ? options : {signal}, hold).catch(() => {
			if (signal.aborted) {
				return;
			}

			// Another tab took the lock.
			stream.close();
			role = 'following';
			join({});
		});
	}

	/** Sends everything once more to all tabs, and to those that ask for it at the same time but once. */
	function tellAll(): void {
		clearTimeout(gathering);
		gathering = setTimeout(stream.reopen, gatherMs);
	}

	function hear({data: said}: MessageEvent<Said>): void {
		if (said.kind === 'message' && role !== 'leading') {
			deliver(said.event, said.data);
			if (said.event === 'state') {
				wish();
			}
		} else if (said.kind === 'lost' && role === 'following') {
			heardSomething();
			listener.lost(said.nextTryMs);
		} else if (said.kind === 'ask') {
			tellAll();
		} else if (said.kind === 'hosts') {
			const isNew = said.shows && !wishes.has(said.tab);
			if (said.shows) {
				wishes.set(said.tab, Date.now() + wishHoldsMs);
			} else {
				wishes.delete(said.tab);
			}

			if (isNew) {
				// What is known of the hosts already comes with everything else.
				tellAll();
			} else {
				stream.follow();
			}
		}
	}

	/** Says to the leader whether the hosts are shown here, again and again while they are. */
	function wish(): void {
		const shows = wantsHosts();
		if (role === 'following' && (shows || wishing !== undefined)) {
			say({kind: 'hosts', tab, shows});
		}

		clearTimeout(wishing);
		wishing = shows ? setTimeout(wish, wishMs) : undefined;
	}

	function start(): void {
		if (channel === undefined && locks !== undefined) {
			channel = new BroadcastChannel(name);
			channel.addEventListener('message', hear);
		}

		if (role !== 'resting') {
			return;
		}

		role = 'following';
		heardSomething();
		say({kind: 'ask'});
		wish();
		join({});
	}

	function rest(): void {
		role = 'resting';
		clearTimeout(wishing);
		wishing = undefined;
		say({kind: 'hosts', tab, shows: false});
		stream.close();
		leaving?.abort();
		// Other tabs may go on and hand on what they get.
		heardSomething();
	}

	const follow = (): void => {
		wish();
		stream.follow();
	};

	let unseen: NodeJS.Timeout | undefined;
	const seenOrNot = (): void => {
		clearTimeout(unseen);
		follow();
		if (document.hidden) {
			unseen = setTimeout(rest, unseenMs);
		} else {
			start();
		}
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
		if (event.persisted) {
			start();
		}
	});
	start();
	if (document.hidden) {
		unseen = setTimeout(rest, unseenMs);
	}

	return follow;
}

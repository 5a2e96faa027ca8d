/** The stream of events, and coming back to it: soon at first, then less and less often. */
import type {HostsJson} from '../../api/hosts.js';
import type {LiveJson} from '../../api/live-json.js';

const shortestRetryMs = 500;
const longestRetryMs = 15_000;
/** The server says something every 10 s; when it is silent for longer, the connection is dead though nobody said so. */
const silenceMs = 25_000;
/** A page that nobody has looked at for so long lets go: a browser has only a few connections for all pages of one server. */
const unseenMs = 300_000;

export type Listener = {
	/** Called with everything (`state`) or with the parts that changed. */
	readonly live: (data: LiveJson, kind: 'state' | 'change') => void;
	readonly hosts: (data: HostsJson) => void;
	readonly connecting: () => void;
	readonly connected: () => void;
	/** @param nextTryMs - When the next attempt to connect is. */
	readonly lost: (nextTryMs: number) => void;
};

/**
@param showsHosts - Whether the page shows the other hosts: the server asks them for as long as somebody looks.
@returns To be called when what the page shows has changed.
*/
export function listen(listener: Listener, showsHosts: () => boolean): () => void {
	let source: EventSource | undefined;
	let address = '';
	let failures = 0;
	let retry: NodeJS.Timeout | undefined;
	let watchdog: NodeJS.Timeout | undefined;

	const addressNow = (): string => (showsHosts() && !document.hidden ? '/api/events?hosts' : '/api/events');

	const heardSomething = (): void => {
		clearTimeout(watchdog);
		watchdog = setTimeout(lose, silenceMs);
	};

	function close(): void {
		source?.close();
		source = undefined;
		clearTimeout(watchdog);
		clearTimeout(retry);
	}

	function lose(): void {
		close();
		const waitMs = Math.min(longestRetryMs, shortestRetryMs * 2 ** failures) * (0.75 + Math.random() / 2);
		failures++;
		listener.lost(Date.now() + waitMs);
		retry = setTimeout(open, waitMs);
	}

	function take(kind: string, data: string): void {
		if (kind === 'state') {
			failures = 0;
			listener.connected();
		}

		if (kind === 'hosts') {
			listener.hosts(JSON.parse(data) as HostsJson);
		} else if (kind === 'state' || kind === 'change') {
			listener.live(JSON.parse(data) as LiveJson, kind);
		}
	}

	function open(): void {
		clearTimeout(retry);
		address = addressNow();
		const own = new EventSource(address);
		source = own;
		const hear = ({type, data}: MessageEvent<string>): void => {
			if (source !== own) {
				return;
			}

			heardSomething();
			take(type, data);
		};

		for (const kind of ['state', 'change', 'hosts', 'beat']) {
			own.addEventListener(kind, hear);
		}

		own.addEventListener('error', () => {
			if (source === own) {
				lose();
			}
		});
		heardSomething();
	}

	const letGo = (): void => {
		close();
		listener.connecting();
	};

	const retryNow = (): void => {
		if (source !== undefined) {
			return;
		}

		failures = 0;
		open();
	};

	/** What is listened to changes with what is shown. */
	const follow = (): void => {
		if (source === undefined || address === addressNow()) {
			return;
		}

		source.close();
		open();
	};

	let rest: NodeJS.Timeout | undefined;
	addEventListener('online', retryNow);
	document.addEventListener('visibilitychange', () => {
		clearTimeout(rest);
		follow();
		if (document.hidden) {
			rest = setTimeout(letGo, unseenMs);
		} else {
			retryNow();
		}
	});
	// A page that is left lets go at once, and one that comes back from the browser's cache connects again.
	addEventListener('pagehide', letGo);
	addEventListener('pageshow', (event) => {
		if (event.persisted) {
			retryNow();
		}
	});
	open();
	return follow;
}

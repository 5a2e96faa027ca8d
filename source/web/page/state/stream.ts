/** The event stream. It reconnects after failures, with increasing delays. */

const shortestRetryMs = 500;
const longestRetryMs = 15_000;
/** The server sends a message at least every 10 s. If no message arrives for this time in ms, the connection is dead. */
export const silenceMs = 25_000;

const streamEvents = ['state', 'change', 'hosts', 'beat'] as const;

export type StreamEvent = (typeof streamEvents)[number];

type StreamListener = {
	readonly message: (event: StreamEvent, data: string) => void;
	readonly lost: (nextTryMs: number) => void;
};

type Stream = {
	readonly open: () => void;
	readonly reopen: () => void;
	/** Connects again if the address has changed. */
	readonly follow: () => void;
	readonly close: () => void;
};

export function createStream({message, lost}: StreamListener, addressNow: () => string): Stream {
	let source: EventSource | undefined;
	let address = '';
	let failures = 0;
	let retry: NodeJS.Timeout | undefined;
	let watchdog: NodeJS.Timeout | undefined;

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
		lost(Date.now() + waitMs);
		retry = setTimeout(connect, waitMs);
	}

	function hear({type, data}: MessageEvent<string>): void {
		heardSomething();
		if (type === 'state') {
			failures = 0;
		}

		message(type as StreamEvent, data);
	}

	function connect(): void {
		close();
		address = addressNow();
		source = new EventSource(address);
		for (const event of streamEvents) {
			source.addEventListener(event, hear);
		}

		source.addEventListener('error', lose);
		heardSomething();
	}

	return {
		open() {
			if (source !== undefined) {
				return;
			}

			failures = 0;
			connect();
		},
		reopen() {
			if (source !== undefined) {
				connect();
			}
		},
		follow() {
			if (source !== undefined && address !== addressNow()) {
				connect();
			}
		},
		close,
	};
}

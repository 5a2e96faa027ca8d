/** The stream of events, and coming back to it: soon at first, then less and less often. */

const shortestRetryMs = 500;
const longestRetryMs = 15_000;
/** The server says something every 10 s; when it is silent for longer, the connection is dead though nobody said so. */
const silenceMs = 25_000;
/** A page that nobody has looked at for so long lets go: a browser has only a few connections for all pages of one server. */
const unseenMs = 300_000;

/**
@param heard - Called with the kind (`state`, `change`, `hosts`) and its data.
@param turned - Called with `live`, or `lost` and when the next try is.
@param showsHosts - Whether the page shows the other hosts: they are asked, and told of, for as long as somebody looks.
*/
export function listen(heard, turned, showsHosts) {
	let source;
	let address;
	let failures = 0;
	let retry;
	let watchdog;

	const addressNow = () => (showsHosts() && !document.hidden ? '/api/events?hosts' : '/api/events');

	const heardSomething = () => {
		clearTimeout(watchdog);
		watchdog = setTimeout(lose, silenceMs);
	};

	function lose() {
		source?.close();
		source = undefined;
		clearTimeout(watchdog);
		clearTimeout(retry);
		const waitMs = Math.min(longestRetryMs, shortestRetryMs * 2 ** failures) * (0.75 + Math.random() / 2);
		failures++;
		turned({kind: 'lost', nextTryMs: Date.now() + waitMs});
		retry = setTimeout(open, waitMs);
	}

	function open() {
		clearTimeout(retry);
		address = addressNow();
		const own = new EventSource(address);
		source = own;
		for (const kind of ['state', 'change', 'hosts', 'beat']) {
			own.addEventListener(kind, (event) => {
				if (source !== own) {
					return;
				}

				heardSomething();
				if (kind === 'state') {
					failures = 0;
					turned({kind: 'live'});
				}

				if (kind !== 'beat') {
					heard(kind, JSON.parse(event.data));
				}
			});
		}

		own.addEventListener('error', () => {
			if (source === own) {
				lose();
			}
		});
		heardSomething();
	}

	const letGo = () => {
		source?.close();
		source = undefined;
		clearTimeout(watchdog);
		clearTimeout(retry);
		turned({kind: 'connecting'});
	};

	const retryNow = () => {
		if (source !== undefined) {
			return;
		}

		failures = 0;
		open();
	};

	/** What is listened to changes with what is shown. */
	const follow = () => {
		if (source === undefined || address === addressNow()) {
			return;
		}

		source.close();
		open();
	};

	addEventListener('online', retryNow);
	let rest;
	document.addEventListener('visibilitychange', () => {
		clearTimeout(rest);
		follow();
		if (document.hidden) {
			rest = setTimeout(letGo, unseenMs);
		} else {
			retryNow();
		}
	});
	// A page that is left lets go at once, and one that comes back from the browser's cache begins anew.
	addEventListener('pagehide', letGo);
	addEventListener('pageshow', (event) => {
		if (event.persisted) {
			retryNow();
		}
	});
	open();
	return follow;
}

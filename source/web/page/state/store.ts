/** The state of the page and the two things that change it: the stream and time. */
import {observable} from '../observable.js';
import {route, shownView} from '../router.js';
import {listen} from './listen.js';
import {firstState, withHosts, withLive, type PageState} from './state.js';
import {fetchAll} from './utilization.js';

export const pageState = observable(firstState);

/** The server's time in milliseconds as of the last second; components that show an age are drawn again with it. */
export const now = observable(Date.now());
/** What to add to this machine's clock for the server's. */
let aheadMs = 0;
let heardMs: number | undefined;

const tick = (): void => {
	now.set(Date.now() + aheadMs);
};

const change = (parts: Partial<PageState>): void => {
	pageState.set({...pageState.get(), ...parts});
};

/** So many changes are read aloud at a time, and the rest only counted. */
const mostAnnounced = 4;
const announcementDelayMs = 700;
let unannounced: readonly string[] = [];

function announce(words: readonly string[]): void {
	if (unannounced.length === 0 && words.length > 0) {
		setTimeout(() => {
			const more = unannounced.length - mostAnnounced;
			const said = unannounced.slice(0, mostAnnounced).join('. ');
			unannounced = [];
			change({announcement: `${said}${more > 0 ? `. And ${more} more changes` : ''}`});
		}, announcementDelayMs);
	}

	unannounced = [...unannounced, ...words];
}

async function fetchUtilization(): Promise<void> {
	try {
		change({utilization: await fetchAll(() => pageState.get().utilization)});
	} catch {
		// The banner says that the server is away; when it is back, everything is fetched again.
	}
}

/** Listens until the page is left. */
export function startStore(): void {
	let wasLive = false;
	const follow = listen(
		{
			live(data, kind) {
				// After a pause there are values that were missed; a tab that joins has the others told everything once more.
				const isContinued = kind === 'change' || (wasLive && pageState.get().utilization.fetches > 0);
				wasLive = true;
				heardMs = Date.now();
				aheadMs = data.now_ms - heardMs;
				const next = withLive(pageState.get(), data, kind);
				pageState.set(next.state);
				announce(next.changes);
				tick();
				// A server without a pool shows the hosts at once.
				follow();
				if (!isContinued) {
					void fetchUtilization();
				}
			},
			hosts({hosts}) {
				pageState.set(withHosts(pageState.get(), hosts, Date.now()));
			},
			connecting() {
				wasLive = false;
				change({link: {kind: 'connecting'}});
			},
			connected() {
				if (pageState.get().link.kind === 'lost') {
					announce(['The connection is back']);
				}

				change({link: {kind: 'live'}});
			},
			lost(nextTryMs) {
				wasLive = false;
				if (pageState.get().link.kind !== 'lost') {
					announce(['The connection to the server is lost']);
				}

				change({link: {kind: 'lost', nextTryMs, sinceMs: (heardMs ?? Date.now()) + aheadMs}});
				tick();
			},
		},
		() => shownView(route.get().view, pageState.get().about) === 'hosts',
	);
	route.subscribe(follow);
	setInterval(tick, 1000);
}

/** The state of the page and the two things that change it: the stream and time. */
import {observable} from '../observable.js';
import {route, shownView} from '../router.js';
import {followUp} from '../slots.js';
import {listen} from './listen.js';
import {firstState, withHosts, withLive, type PageState} from './state.js';

export const pageState = observable(firstState);

/** The server's time in milliseconds as of the last second; components that show an age are drawn again with it. */
export const now = observable(Date.now());
/** What to add to this machine's clock for the server's. */
let aheadMs = 0;
let heardMs: number | undefined;

const tick = (): void => {
	now.set(Date.now() + aheadMs);
};

export const change = (parts: Partial<PageState>): void => {
	pageState.set({...pageState.get(), ...parts});
};

/** Listens until the page is left. */
export function startStore(): void {
	let wasLive = false;
	const follow = listen(
		{
			live(data, kind) {
				const before = pageState.get();
				const isWhole = kind === 'state';
				// After a pause there are values that were missed; a tab that joins makes the others get everything once more.
				const isContinued = !isWhole || (wasLive && before.utilization.fetches > 0);
				wasLive = true;
				heardMs = Date.now();
				aheadMs = data.now_ms - heardMs;
				pageState.set({...withLive(before, data, isWhole), link: {kind: 'live'}});
				tick();
				// A server without a pool shows the hosts at once.
				follow();
				followUp.get()?.heard({before, isWhole, isContinued});
			},
			hosts({hosts}) {
				pageState.set(withHosts(pageState.get(), hosts, Date.now()));
			},
			away(nextTryMs) {
				wasLive = false;
				const sinceMs = (heardMs ?? Date.now()) + aheadMs;
				change({link: nextTryMs === undefined ? {kind: 'connecting'} : {kind: 'lost', nextTryMs, sinceMs}});
				tick();
			},
		},
		() => shownView(route.get().view, pageState.get().about) === 'hosts',
	);
	route.subscribe(follow);
	setInterval(tick, 1000);
}

import {observable} from '../observable.js';
import {route, shownView} from '../router.js';
import {followUp} from '../slots.js';
import {listen} from './listen.js';
import {firstState, withHosts, withLive, type PageState} from './state.js';

export const pageState = observable(firstState);

/** The server's time in milliseconds. Updated every second for components that show an age. */
export const now = observable(Date.now());
/** How far the server's clock is ahead of this machine's clock. */
let aheadMs = 0;
let heardMs: number | undefined;

const tick = (): void => {
	now.set(Date.now() + aheadMs);
};

export const change = (parts: Partial<PageState>): void => {
	pageState.set({...pageState.get(), ...parts});
};

export function startStore(): void {
	let wasLive = false;
	const follow = listen(
		{
			live(data, kind) {
				const before = pageState.get();
				const isWhole = kind === 'state';
				// A complete state after a pause means that values were missed. A complete state that was sent for another tab does not.
				const isContinued = !isWhole || (wasLive && before.utilization.fetches > 0);
				wasLive = true;
				heardMs = Date.now();
				aheadMs = data.now_ms - heardMs;
				pageState.set({...withLive(before, data, isWhole), link: {kind: 'live'}});
				tick();
				// Called again, because a server without a pool shows the other hosts from the start.
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

/** What everybody must know before they believe the figures: how old they are, and what kind of pool this is. */
import {keyedList, make, setAttribute, setText} from './dom.page.js';
import {duration} from './words.page.js';

function bannersOf({link, store, scan, warnings}, nowMs) {
	const age = (since) => (since === undefined ? '' : `The values are ${duration(nowMs - since)} old. `);
	const found = [];
	if (link.kind === 'lost') {
		const wait = Math.max(0, Math.ceil((link.nextTryMs - Date.now()) / 1000));
		found.push({
			key: 'link',
			title: 'STALE',
			text: `The connection to the server is lost. ${age(link.sinceMs)}Reconnecting${wait > 0 ? ` in ${wait} s` : ''}…`,
		});
	} else if (store?.live === false && store.reason !== undefined) {
		found.push({
			key: 'store',
			title: 'STALE',
			text: `${store.reason}. ${age(store.since_ms)}It comes back by itself.`,
		});
	}

	if (scan?.live === false && scan.reason !== undefined) {
		found.push({key: 'scan', title: 'GPUs unread', text: `${scan.reason} For ${duration(nowMs - scan.since_ms)}.`});
	}

	return [...found, ...warnings.map((text) => ({key: `warning ${text}`, title: 'Warning', text}))];
}

export function createBanners(container) {
	const list = keyedList(container, () => {
		const title = make('strong');
		const text = make('span');
		const element = make('p', {class: 'banner'}, title, text);
		return {
			element,
			update(banner) {
				setAttribute(element, 'data-kind', banner.key.split(' ', 1)[0]);
				setText(title, banner.title);
				setText(text, banner.text);
			},
		};
	});
	return (state, nowMs) => {
		list.update(bannersOf(state, nowMs), ({key}) => key);
	};
}

/** The words beside the host's name. */
export function createBadges(container) {
	const list = keyedList(container, () => {
		const element = make('span', {class: 'badge'});
		return {
			element,
			update({text, title}) {
				setText(element, text);
				setAttribute(element, 'title', title);
			},
		};
	});
	return (about) => {
		const badges = [
			about.demo && {text: 'Demo', title: 'Made-up GPUs in memory: nothing is kept'},
			!about.demo && about.simulated && {text: 'Simulated', title: 'No real hardware is behind this pool'},
			about.private_label !== undefined && {text: 'Private pool', title: about.private_label},
		];
		list.update(badges.filter(Boolean), ({text}) => text);
	};
}

/** Says changes aloud to those who listen instead of looking: a few at a time, never the ticking of times. */
export function createAnnouncer(element) {
	let waiting = [];
	let timer;
	return (words) => {
		waiting.push(...words);
		if (timer === undefined && waiting.length > 0) {
			timer = setTimeout(() => {
				timer = undefined;
				const said = waiting.slice(0, 4);
				const more = waiting.length - said.length;
				element.textContent = `${said.join('. ')}${more > 0 ? `. And ${more} more changes` : ''}`;
				waiting = [];
			}, 700);
		}
	};
}

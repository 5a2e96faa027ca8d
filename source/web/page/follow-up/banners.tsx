import type {PageState} from '../state/state.js';
import {now} from '../state/store.js';
import {Watch} from '../observable.js';
import {duration} from '../text.js';
import {scanFailure, storeFailure} from './failures.js';

type BannerText = {readonly kind: string; readonly title: string; readonly text: string};

const ageText = (sinceMs: number | undefined, nowMs: number): string =>
	sinceMs === undefined ? '' : `The values are ${duration(nowMs - sinceMs)} old. `;

function connectionBanner(state: PageState, nowMs: number): readonly BannerText[] {
	const {link, store} = state;
	if (link.kind === 'lost') {
		const wait = Math.max(0, Math.ceil((link.nextTryMs - Date.now()) / 1000));
		const retry = `Reconnecting${wait > 0 ? ` in ${wait} s` : ''}…`;
		const text = `The connection to the server is lost. ${ageText(link.sinceMs, nowMs)}${retry}`;
		return [{kind: 'link', title: 'STALE', text}];
	}

	const failure = storeFailure(state);
	if (failure !== undefined) {
		const text = `${failure}. ${ageText(store?.since_ms, nowMs)}The page updates when the store is back.`;
		return [{kind: 'store', title: 'STALE', text}];
	}

	return [];
}

function scanBanner(state: PageState, nowMs: number): readonly BannerText[] {
	const failure = scanFailure(state);
	if (failure === undefined) {
		return [];
	}

	// The reason comes last, because some reasons do not end with a full stop.
	const text = `No new readings for ${duration(nowMs - (state.scan?.since_ms ?? nowMs))}: ${failure}`;
	return [{kind: 'scan', title: 'GPUs unread', text}];
}

const bannersOf = (state: PageState, nowMs: number): readonly BannerText[] => [
	...connectionBanner(state, nowMs),
	...scanBanner(state, nowMs),
	...state.warnings.map((text) => ({kind: 'warning', title: 'Warning', text})),
];

export const Banners = ({state}: {readonly state: PageState}) => (
	<Watch of={now}>
		{(nowMs) =>
			bannersOf(state, nowMs).map(({kind, title, text}) => (
				<p key={kind === 'warning' ? text : kind} class="banner" data-kind={kind}>
					<strong>{title}</strong>
					<span>{text}</span>
				</p>
			))
		}
	</Watch>
);

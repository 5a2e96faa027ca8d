import {pillKindOf, type PillKind} from '../header.js';
import {viewNames, type Route} from '../router.js';
import type {PageState} from '../state/state.js';
import {freeIn, joined} from '../text.js';

const pillTitles: Readonly<Record<PillKind, string>> = {live: '', connecting: '', lost: 'Reconnecting', stale: 'Stale'};

function titleOf({about, gpus}: PageState, kind: PillKind, part: string): string {
	if (about === undefined) {
		return 'canhazgpu';
	}

	const first = kind === 'live' && about.has_pool ? `${freeIn(gpus)} free` : pillTitles[kind];
	return joined(part, first, about.host, 'canhazgpu');
}

function iconOf({about, gpus}: PageState, kind: PillKind): string {
	// Before the first message, the page shows nothing that could be old, and does not need to load another icon.
	const isFirst = about === undefined && kind === 'connecting';
	if (kind !== 'live' && !isFirst) {
		return '/icon-stale.svg';
	}

	const isTaken = about?.has_pool === true && gpus.every(({state}) => state !== 'available');
	return isTaken ? '/icon-taken.svg' : '/icon.svg';
}

export function showInDocument(known: PageState, {view, rest}: Route): void {
	const kind = pillKindOf(known);
	const partName = view === 'overview' ? (rest === '' ? '' : `GPU ${rest}`) : viewNames[view];
	document.title = titleOf(known, kind, partName);
	const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]')!;
	const icon = iconOf(known, kind);
	// Setting the same icon again would reload it.
	if (link.getAttribute('href') !== icon) {
		link.href = icon;
	}

	document.body.toggleAttribute('data-stale', kind === 'stale' || kind === 'lost');
}

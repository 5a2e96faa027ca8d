import type {About} from './fields.js';
import {observable} from './observable.js';

/** The titles of the views, in the order of their tabs. */
export const viewNames = {
	overview: 'GPUs',
	jobs: 'Jobs',
	occupancy: 'Occupancy',
	report: 'Report',
	events: 'Events',
	hosts: 'Hosts',
} as const;

export type View = keyof typeof viewNames;

export const views = Object.keys(viewNames) as readonly View[];

/** Returns the available views. A single host needs no list of hosts. A host without a pool has no GPUs and no events. */
export function viewsOf(about: About | undefined): readonly View[] {
	if (about === undefined) {
		return [];
	}

	return about.has_pool ? views.filter((view) => view !== 'hosts' || about.hosts.length > 1) : ['hosts', 'report'];
}

export const shownView = (view: View, about: About | undefined): View =>
	about?.has_pool === false && view !== 'report' ? 'hosts' : view;

export type Route = {
	readonly view: View;
	/** The part of the address after the view: `box-2` in `#/hosts/box-2`. In the overview, the GPU whose details are open: `2` in `#/gpu/2`. */
	readonly rest: string;
	/** The query of the address: `days=7` in `#/report?days=7`. */
	readonly query: URLSearchParams;
};

export function readRoute(hash = location.hash): Route {
	const {
		view = '',
		rest = '',
		query = '',
	} = /^#\/(?<view>[a-z]*)(?:\/(?<rest>[^?]*))?(?:\?(?<query>.*))?$/v.exec(hash)?.groups ?? {};
	try {
		return {
			view: views.find((name) => name === view) ?? 'overview',
			rest: decodeURIComponent(rest),
			query: new URLSearchParams(query),
		};
	} catch {
		return readRoute('');
	}
}

export const route = observable(readRoute());

const scrolledTo = new Map<string, number>();

export type Step = {readonly key: string; readonly isInner?: boolean};

/** Returns the key of the current history entry. Adds a key if needed. `isInner` is set if the previous entry also belongs to this page. */
function markStep(isInner: boolean): string {
	const step = (history.state ?? {key: String(Math.random()), isInner}) as Step;
	history.replaceState(step, '');
	return step.key;
}

let step = '';

export function startRouter(): void {
	step = markStep(false);
	// Restores the position itself, because the browser would scroll before the view is drawn. After a reload, the browser restores it.
	history.scrollRestoration = 'manual';
	addEventListener('pagehide', () => {
		history.scrollRestoration = 'auto';
	});
	addEventListener('hashchange', () => {
		scrolledTo.set(step, scrollY);
		step = markStep(true);
		route.set(readRoute());
	});
}

/** Moves the focus from the page to the heading of the view. Called again when a view has loaded after the page got the focus. */
export function focusHeading(): void {
	const {activeElement} = document;
	if (activeElement?.id === 'main') {
		document.querySelector<HTMLElement>('.view:not([hidden]) h1')?.focus({preventScroll: true});
	}
}

/** Focuses the heading of a new view (or the page while the view loads) and restores its scroll position. Must be called after drawing. */
export function arrive(before: Route, shown: Route): void {
	// The details of a GPU are shown in front of the overview, so the overview keeps its scroll position.
	if (before.view === shown.view && (before.rest === shown.rest || before.view === 'overview')) {
		return;
	}

	document.querySelector<HTMLElement>('#main')?.focus({preventScroll: true});
	focusHeading();
	scrollTo(0, scrolledTo.get(step) ?? 0);
}

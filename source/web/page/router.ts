/** The views, by the part of the address behind `#`: each can be linked to, and the browser's back works. */
import type {About} from './fields.js';
import {observable} from './observable.js';

/** The views by their names in the address, in the order of their tabs. */
export const viewNames = {
	overview: 'GPUs',
	occupancy: 'Occupancy',
	report: 'Report',
	events: 'Events',
	hosts: 'Hosts',
} as const;

export type View = keyof typeof viewNames;

export const views = Object.keys(viewNames) as readonly View[];

/** Which views there are: one host needs no list of hosts, and without a pool there are no GPUs and events of this host. */
export function viewsOf(about: About | undefined): readonly View[] {
	if (about === undefined) {
		return [];
	}

	return about.has_pool ? views.filter((view) => view !== 'hosts' || about.hosts.length > 1) : ['hosts', 'report'];
}

/** The view that stands for one that there is not. */
export const shownView = (view: View, about: About | undefined): View =>
	about?.has_pool === false && view !== 'report' ? 'hosts' : view;

export type Route = {
	readonly view: View;
	/** What follows the name: `#/hosts/box-2` has `box-2`. Of the overview, the GPU that is open: `#/gpu/2` has `2`. */
	readonly rest: string;
	/** `#/report?days=7` has `days`. */
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

/** How far each step of the browser's history was scrolled, by the key in its state. */
const scrolledTo = new Map<string, number>();

export type Step = {readonly key: string; readonly isInner?: boolean};

/**
Gives the step that is shown a key, which it keeps while the page is left and come back to.

@param isInner - Whether the step before it is of this page, too.
*/
function markStep(isInner: boolean): string {
	const step = (history.state ?? {key: String(Math.random()), isInner}) as Step;
	history.replaceState(step, '');
	return step.key;
}

let step = '';

export function startRouter(): void {
	step = markStep(false);
	// The browser would scroll before the view is drawn. After a reload it may, for then it remembers the place.
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

/** Moves the focus to the heading of the view that is shown, where it waited on the whole page for that. */
export function focusHeading(): void {
	const {activeElement} = document;
	if (activeElement?.id === 'main') {
		document.querySelector<HTMLElement>('.view:not([hidden]) h1')?.focus({preventScroll: true});
	}
}

/**
Moves the focus to the heading of the new view, where a screen reader begins to read, or to the whole page while the view is still loading. A
view that one comes back to is scrolled to where it was left. To be called when the change is drawn.
*/
export function arrive(before: Route, shown: Route): void {
	// An open GPU is shown above the overview, which stays where it is.
	if (before.view === shown.view && (before.rest === shown.rest || before.view === 'overview')) {
		return;
	}

	document.querySelector<HTMLElement>('#main')?.focus({preventScroll: true});
	focusHeading();
	scrollTo(0, scrolledTo.get(step) ?? 0);
}

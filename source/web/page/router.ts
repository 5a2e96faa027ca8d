/** The views, by the part of the address behind `#`: each can be linked to, and the browser's back works. */
import {useLayoutEffect, useRef} from 'preact/hooks';
import type {About} from './fields.js';
import {observable, useObservable} from './observable.js';

export const views = ['overview', 'report', 'events', 'hosts'] as const;

export type View = (typeof views)[number];

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
	/** What follows the name of the view: `#/hosts/box-2` has `box-2`. */
	readonly rest: string;
	/** `#/report?days=7` has `days`. */
	readonly query: URLSearchParams;
};

function readRoute(): Route {
	const {
		view = '',
		rest = '',
		query = '',
	} = /^#\/(?<view>[a-z]*)(?:\/(?<rest>[^?]*))?(?:\?(?<query>.*))?$/v.exec(location.hash)?.groups ?? {};
	try {
		return {
			view: views.find((name) => name === view) ?? 'overview',
			rest: decodeURIComponent(rest),
			query: new URLSearchParams(query),
		};
	} catch {
		return {view: 'overview', rest: '', query: new URLSearchParams()};
	}
}

export const route = observable(readRoute());

export function startRouter(): void {
	addEventListener('hashchange', () => {
		route.set(readRoute());
	});
}

/** Changes what is behind the name of the view, without a step for the browser's back. */
export function replaceQuery(query: Readonly<Record<string, string>>): void {
	const {view, rest} = route.get();
	const words = new URLSearchParams(query).toString();
	history.replaceState(
		undefined,
		'',
		`#/${view}${rest === '' ? '' : `/${encodeURIComponent(rest)}`}${words === '' ? '' : `?${words}`}`,
	);
	route.set(readRoute());
}

/** After a change the focus is on the heading of the new view, where somebody who reads by ear begins. */
export function useRoute(): Route {
	const shown = useObservable(route);
	const before = useRef(shown);
	useLayoutEffect(() => {
		const {view, rest} = before.current;
		before.current = shown;
		if (view === shown.view && rest === shown.rest) {
			return;
		}

		document.querySelector<HTMLElement>(`#view-${shown.view} h1`)?.focus();
		scrollTo(0, 0);
	}, [shown]);
	return shown;
}

/** Addresses of parts of the page, and changes of the one that is shown. */
import {readRoute, route, type Route, type Step} from '../router.js';

/** The address of a part of the page. Parts of the overview are `#/gpus` and `#/gpu/2`. */
export function addressOf({view, rest, query}: Route): string {
	const name = view === 'overview' ? (rest === '' ? 'gpus' : 'gpu') : view;
	return `#/${name}${rest === '' ? '' : `/${encodeURIComponent(rest)}`}${query.size > 0 ? `?${query.toString()}` : ''}`;
}

/** Changes the address without a step for the browser's back. */
export function replaceRoute(parts: Partial<Route>): void {
	history.replaceState(history.state, '', addressOf({...route.get(), ...parts}));
	route.set(readRoute());
}

/** Goes back to where this step came from; where that was no part of this page, to these parts. */
export function goBack(parts: Partial<Route>): void {
	if ((history.state as Step).isInner === true) {
		history.back();
	} else {
		replaceRoute(parts);
	}
}

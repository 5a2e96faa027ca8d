import {readRoute, route, type Route, type Step} from '../router.js';

/** Returns the address of a view. The overview has the addresses `#/gpus` and, with the details of a GPU, `#/gpu/2`. */
export function addressOf({view, rest, query}: Route): string {
	const name = view === 'overview' ? (rest === '' ? 'gpus' : 'gpu') : view;
	return `#/${name}${rest === '' ? '' : `/${encodeURIComponent(rest)}`}${query.size > 0 ? `?${query.toString()}` : ''}`;
}

export function replaceRoute(parts: Partial<Route>): void {
	history.replaceState(history.state, '', addressOf({...route.get(), ...parts}));
	route.set(readRoute());
}

/** Goes back if the previous history entry also belongs to this page. Otherwise, replaces the address. */
export function goBack(parts: Partial<Route>): void {
	if ((history.state as Step).isInner === true) {
		history.back();
	} else {
		replaceRoute(parts);
	}
}

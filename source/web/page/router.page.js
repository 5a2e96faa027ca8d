/** The views, by the part of the address behind `#`: so each can be linked to, and the browser's back works. */
import {setAttribute} from './dom.page.js';

/** `#/hosts/box-2` -> `hosts`, `box-2`. */
function read() {
	const {view = '', rest = ''} = /^#\/(?<view>[a-z]*)(?:\/(?<rest>.*))?$/v.exec(location.hash)?.groups ?? {};
	try {
		return {view: view === '' ? 'overview' : view, rest: decodeURIComponent(rest)};
	} catch {
		return {view: 'overview', rest: ''};
	}
}

/**
@param views - By name: `show(rest)` and `hide()` where a view has something to do.
*/
export function startRouter(views) {
	let shown;
	const go = () => {
		// A place within the view, such as that of the link which skips to it.
		if (shown !== undefined && /^#[^\/]/v.test(location.hash)) {
			return;
		}

		const {view: asked, rest} = read();
		const view = document.querySelector(`#view-${asked}`) === null ? 'overview' : asked;
		for (const section of document.querySelectorAll('.view')) {
			section.hidden = section.id !== `view-${view}`;
		}

		for (const link of document.querySelectorAll('.tabs a')) {
			setAttribute(link, 'aria-current', link.dataset.view === view ? 'page' : undefined);
		}

		if (shown !== undefined && shown !== view) {
			views[shown]?.hide();
		}

		views[view]?.show(rest);
		const isFirst = shown === undefined;
		shown = view;
		if (isFirst) {
			return;
		}

		// Whoever reads by ear begins at the heading of what they went to.
		document.querySelector(`#view-${view} h1`)?.focus();
		scrollTo(0, 0);
	};

	addEventListener('hashchange', go);
	go();
}

/** The name of the reader, which the page cannot know: it is typed once and kept in this browser. */
import {observable} from '../observable.js';

const key = 'canhazgpu-me';

function remembered(): string {
	try {
		return localStorage.getItem(key) ?? '';
	} catch {
		// A browser may forbid to remember anything.
		return '';
	}
}

export const me = observable(remembered());

export function setMe(name: string): void {
	me.set(name);
	try {
		localStorage.setItem(key, name);
	} catch {
		// The name holds for this page only.
	}
}

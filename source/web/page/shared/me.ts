/** The reader's name, which is typed once and stored in this browser. */
import {observable} from '../observable.js';

const key = 'canhazgpu-me';

function remembered(): string {
	try {
		return localStorage.getItem(key) ?? '';
	} catch {
		// The browser may not allow storage.
		return '';
	}
}

export const me = observable(remembered());

export function setMe(name: string): void {
	me.set(name);
	try {
		localStorage.setItem(key, name);
	} catch {
		// If storage is unavailable, the name is kept until the page is reloaded.
	}
}

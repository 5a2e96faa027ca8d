/** The reader's name, typed once and kept in this browser. */
import {observable} from '../observable.js';

const key = 'canhazgpu-me';

function remembered(): string {
	try {
		return localStorage.getItem(key) ?? '';
	} catch {
		// Storage may be unavailable.
		return '';
	}
}

export const me = observable(remembered());

export function setMe(name: string): void {
	me.set(name);
	try {
		localStorage.setItem(key, name);
	} catch {
		// The name is kept for this page only.
	}
}

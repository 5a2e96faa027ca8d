import {observable} from './observable.js';

export type Theme = 'dark' | 'light';

const key = 'canhazgpu-theme';
const systemIsLight = matchMedia('(prefers-color-scheme: light)');

function isLight(): boolean {
	let chosen: string | undefined;
	try {
		chosen = localStorage.getItem(key) ?? undefined;
	} catch {
		// The browser may not allow storage.
	}

	return chosen === undefined ? systemIsLight.matches : chosen === 'light';
}

export const theme = observable<Theme>('dark');

function show(next: Theme): void {
	document.documentElement.dataset['theme'] = next;
	theme.set(next);
}

function follow(): void {
	show(isLight() ? 'light' : 'dark');
}

/** Applies the theme before the page is first drawn, so that a dark page does not appear light at first. */
export function startTheme(): void {
	follow();
	systemIsLight.addEventListener('change', follow);
}

export function chooseOtherTheme(): void {
	const next = theme.get() === 'light' ? 'dark' : 'light';
	show(next);
	try {
		localStorage.setItem(key, next);
	} catch {
		// If storage is unavailable, the choice is kept until the page is reloaded.
	}
}

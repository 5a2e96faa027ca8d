/** Dark and light: as the system has it, until the reader chooses. */
import {observable} from './observable.js';

export type Theme = 'dark' | 'light';

const key = 'canhazgpu-theme';
const systemIsLight = matchMedia('(prefers-color-scheme: light)');

function isLight(): boolean {
	let chosen: string | undefined;
	try {
		chosen = localStorage.getItem(key) ?? undefined;
	} catch {
		// A browser may forbid to remember anything.
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

/** Called before anything is drawn, so that no light page flashes up in the dark. */
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
		// This page alone has the choice, where a browser remembers nothing.
	}
}

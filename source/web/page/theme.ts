/** Dark and light: as the system has it, until the reader chooses. */
import {observable} from './observable.js';

export type Theme = 'dark' | 'light';

const key = 'canhazgpu-theme';
const systemIsLight = matchMedia('(prefers-color-scheme: light)');

function remembered(): string | undefined {
	try {
		return localStorage.getItem(key) ?? undefined;
	} catch {
		// A browser may forbid to remember anything.
		return undefined;
	}
}

const systemTheme = (): Theme => (systemIsLight.matches ? 'light' : 'dark');

export const theme = observable<Theme>('dark');

function show(next: Theme): void {
	document.documentElement.dataset['theme'] = next;
	theme.set(next);
}

/** Called before anything is drawn, so that no light page flashes up in the dark. */
export function startTheme(): void {
	const chosen = remembered();
	show(chosen === undefined ? systemTheme() : chosen === 'light' ? 'light' : 'dark');
	systemIsLight.addEventListener('change', () => {
		if (remembered() === undefined) {
			show(systemTheme());
		}
	});
}

export function chooseOtherTheme(): void {
	const next = theme.get() === 'light' ? 'dark' : 'light';
	show(next);
	try {
		localStorage.setItem(key, next);
	} catch {
		// The choice holds for this page only.
	}
}

/** Dark and light: as the system has it, until somebody chooses. */
import {setAttribute} from './dom.page.js';

const key = 'canhazgpu-theme';

export function startThemes(button) {
	const root = document.documentElement;
	const show = (theme) => {
		root.dataset.theme = theme;
		setAttribute(button, 'aria-pressed', String(theme === 'light'));
		dispatchEvent(new Event('themechange'));
	};

	button.addEventListener('click', () => {
		const theme = root.dataset.theme === 'light' ? 'dark' : 'light';
		show(theme);
		try {
			localStorage.setItem(key, theme);
		} catch {
			// Then it holds for this page only.
		}
	});
	matchMedia('(prefers-color-scheme: light)').addEventListener('change', ({matches}) => {
		try {
			if (localStorage.getItem(key) !== null) {
				return;
			}
		} catch {
			// Nothing was remembered.
		}

		show(matches ? 'light' : 'dark');
	});
	show(root.dataset.theme);
}

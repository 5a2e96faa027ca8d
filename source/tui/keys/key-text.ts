/** How keys are written: for people in the help and the footer, and in a config. */

const names: Readonly<Record<string, string>> = {
	up: 'Up',
	down: 'Down',
	left: 'Left',
	right: 'Right',
	pageup: 'PgUp',
	pagedown: 'PgDn',
	home: 'Home',
	end: 'End',
	tab: 'Tab',
	'shift-tab': 'Shift-Tab',
	enter: 'Enter',
	escape: 'Esc',
	delete: 'Del',
	backspace: 'Backspace',
	' ': 'Space',
};

/** `PgUp`, `Ctrl-D`, `x`. */
export const keyText = (key: string): string =>
	names[key] ?? key.replace(/^ctrl-.$/v, (match) => `Ctrl-${match.slice(-1).toUpperCase()}`);

/** The name of a key that a config writes as `space`, `ctrl-d`, `PgUp` or `x`. Undefined for what is none. */
export function keyNamed(written: string): string | undefined {
	if ([...written].length === 1 && !/[\p{Control}\p{Separator}]/v.test(written)) {
		return written;
	}

	const small = written.trim().toLowerCase();
	if (/^ctrl-[a-z]$/v.test(small)) {
		// Ctrl-C always ends the monitor; Ctrl-I and Ctrl-M are Tab and Enter to a terminal.
		return ['ctrl-c', 'ctrl-i', 'ctrl-m', 'ctrl-j'].includes(small) ? undefined : small;
	}

	return Object.keys(names).find((name) => name === small || names[name]!.toLowerCase() === small);
}

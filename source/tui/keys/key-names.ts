/** What a key is called, whatever the terminal sent for it, and how it is written: for people in the help and the footer, and in a config. */

/** What the terminal's reader says of one event beside its text. */
export type KeyEvent = Readonly<Record<(typeof named)[number][0] | 'tab' | 'shift' | 'ctrl' | 'meta', boolean>> & {
	readonly eventType?: 'press' | 'repeat' | 'release';
};

const named = [
	['upArrow', 'up'],
	['downArrow', 'down'],
	['leftArrow', 'left'],
	['rightArrow', 'right'],
	['pageUp', 'pageup'],
	['pageDown', 'pagedown'],
	['home', 'home'],
	['end', 'end'],
	['return', 'enter'],
	['escape', 'escape'],
	['backspace', 'backspace'],
	['delete', 'delete'],
] as const;

/** Inside a burst of typing these arrive as themselves. */
const typed: Readonly<Record<string, string>> = {
	'\r': 'enter',
	'\n': 'enter',
	'\t': 'tab',
	'\b': 'backspace',
	'\u{7F}': 'backspace',
};

/** And so does Ctrl with a letter, as the number of that letter in the alphabet. */
function typedName(character: string): string {
	const code = character.codePointAt(0)!;
	return typed[character] ?? (code <= 26 ? `ctrl-${String.fromCodePoint(code + 96)}` : character);
}

/** Keys that a terminal sends as one character, which Escape may precede in the same packet. */
const characterKeys: ReadonlySet<string> = new Set(['enter', 'tab', 'backspace']);

/**
Returns the names of the keys behind one event. Fast typing over a slow line arrives as one event of several characters. Escape and a key in
one packet look like Alt with that key. Alt means nothing here, so they are Escape, and then the key.
*/
export function keyNames(input: string, key: KeyEvent): readonly string[] {
	const names = key.eventType === 'release' ? [] : plainKeyNames(input, key);
	const isEscaped = key.meta && names.length > 0 && names.every((name) => isCharacter(name) || characterKeys.has(name));
	return isEscaped ? ['escape', ...names] : names;
}

function plainKeyNames(input: string, key: KeyEvent): readonly string[] {
	if (key.tab) {
		return [key.shift ? 'shift-tab' : 'tab'];
	}

	const found = named.find(([flag]) => key[flag]);
	if (found !== undefined) {
		return [found[1]];
	}

	return key.ctrl ? [`ctrl-${input}`] : [...input].map((character) => typedName(character));
}

/** True for a key that stands for the character it writes. */
export const isCharacter = (key: string): boolean => [...key].length === 1 && !/[\p{Control}\p{Surrogate}]/v.test(key);

/** How keys are written: for people in the help and the footer, and in a config. */

const writtenNames: Readonly<Record<string, string>> = {
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
	writtenNames[key] ?? key.replace(/^ctrl-.$/v, (match) => `Ctrl-${match.slice(-1).toUpperCase()}`);

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

	return Object.keys(writtenNames).find((name) => name === small || writtenNames[name]!.toLowerCase() === small);
}

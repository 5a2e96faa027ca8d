/** Names of keys, independent of the bytes that a terminal sends, and how the names are written in the help, the footer and the config. */

/** The flags that Ink passes with an input event. */
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

/** Names of keys that arrive as single characters if several keys are typed fast. */
const typed: Readonly<Record<string, string>> = {
	'\r': 'enter',
	'\n': 'enter',
	'\t': 'tab',
	'\b': 'backspace',
	'\u{7F}': 'backspace',
};

/** Returns the name of a control character. Ctrl with a letter arrives as the position of that letter in the alphabet. */
function typedName(character: string): string {
	const code = character.codePointAt(0)!;
	return typed[character] ?? (code <= 26 ? `ctrl-${String.fromCodePoint(code + 96)}` : character);
}

/** Keys that terminals send as one character. If such a key arrives together with Escape, the user has pressed Escape first. */
const characterKeys: ReadonlySet<string> = new Set(['enter', 'tab', 'backspace']);

/**
Returns the names of the keys in one event. Over a slow connection, fast typing arrives as one event with several characters. Escape together with
another key looks like Alt with that key, and is treated as Escape followed by that key.
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

export const isCharacter = (key: string): boolean => [...key].length === 1 && !/[\p{Control}\p{Surrogate}]/v.test(key);

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

/** Returns how a key is written, such as `PgUp`, `Ctrl-D` or `x`. */
export const keyText = (key: string): string =>
	writtenNames[key] ?? key.replace(/^ctrl-.$/v, (match) => `Ctrl-${match.slice(-1).toUpperCase()}`);

/** Returns the name of a key from the way users write the key, such as `space`, `ctrl-d`, `PgUp` or `x`. Undefined if there is no such key. */
export function keyNamed(written: string): string | undefined {
	if ([...written].length === 1 && !/[\p{Control}\p{Separator}]/v.test(written)) {
		return written;
	}

	const small = written.trim().toLowerCase();
	if (/^ctrl-[a-z]$/v.test(small)) {
		// Ctrl-C always quits. Terminals send the same bytes for Ctrl-I as for Tab, and for Ctrl-M or Ctrl-J as for Enter.
		return ['ctrl-c', 'ctrl-i', 'ctrl-m', 'ctrl-j'].includes(small) ? undefined : small;
	}

	return Object.keys(writtenNames).find((name) => name === small || writtenNames[name]!.toLowerCase() === small);
}

/** What a key is called, whatever the terminal sent for it. */

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

/**
The names of the keys behind one event. Fast typing over a slow line arrives as one event of several characters.
*/
export function keyNames(input: string, key: KeyEvent): readonly string[] {
	if (key.eventType === 'release') {
		return [];
	}

	if (key.tab) {
		return [key.shift ? 'shift-tab' : 'tab'];
	}

	const found = named.find(([flag]) => key[flag]);
	if (found !== undefined) {
		return [found[1]];
	}

	if (key.ctrl) {
		return [`ctrl-${input}`];
	}

	return key.meta ? [] : [...input].map((character) => typedName(character));
}

/** True for a key that stands for the character it writes. */
export const isCharacter = (key: string): boolean => [...key].length === 1 && !/[\p{Control}\p{Surrogate}]/v.test(key);

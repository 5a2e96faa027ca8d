/**
Rewrites the flags of a command line for meow, the parser. The Go program reads flags as cobra and getopt do, and this program must do the same. Meow
differs:

| typed | means | meow reads |
|---|---|---|
| `-d2h`, `-fnote` | a flag and its value | `-d -2 -h`, `-f -n -o -t -e` |
| `--note -5%`, `-d -1h` | a flag and its value | two flags |
| `--note="a"` with the quotes | the value has the quotes | the value has no quotes |
| `--json 1`, `--json=1`, `--json true` | on and a word, on, on and a word | off, off, on |
| `--note`, `--note ''` | an error, an empty value | both the same |
| `--no-json`, `--gpuIds`, `--bogus` | unknown flags | flags |

Therefore, each flag becomes a separate word with its value attached in quotes, which meow removes: `-fd 2h` becomes `-f=true -d="2h"`.
*/
import type {Flags} from './command.js';
import {flagOf} from './flags.js';
import {missingValue, switchWithValue, unknownFlag} from './usage-errors.js';

type TypedFlag = {readonly typed: string; readonly value: string | undefined};

/** Returns the flags in a word: one for `--gpus=2`, two for `-fd2h`. */
function flagsIn(word: string, flags: Flags): readonly TypedFlag[] {
	if (word.startsWith('--')) {
		const [typed = '', ...value] = word.split('=');
		return [{typed, value: value.length === 0 ? undefined : value.join('=')}];
	}

	const found: TypedFlag[] = [];
	const letters = [...word.slice(1)];
	for (const [index, letter] of letters.entries()) {
		const typed = `-${letter}`;
		const attached = letters.slice(index + 1).join('');
		const flag = flagOf(typed, flags);
		const takesRest = flag?.value !== undefined && flag.bare === undefined && attached !== '';
		if (takesRest || attached.startsWith('=')) {
			return [...found, {typed, value: attached.replace(/^=/v, '')}];
		}

		found.push({typed, value: undefined});
	}

	return found;
}

/** Whether the word after a flag is probably another flag. `-1h` is treated as a value, so that the error about the value can name it. */
const isFlagToo = (word: string, flags: Flags): boolean =>
	/^--[a-z]/v.test(word) || (/^-[A-Za-z]/v.test(word) && flagOf(word.slice(0, 2), flags) !== undefined);

/** The values that a switch accepts after `=`, as in the Go program, because scripts write `--json=1`. */
const switchStates = new Map(Object.entries({true: true, t: true, 1: true, false: false, f: false, 0: false}));

type Line = {
	readonly flags: Flags;
	readonly command: string;
	/** Called with the index of each word that is neither a flag nor a value. */
	readonly onWord: (index: number) => void;
};

export function spellForMeow(words: readonly string[], {flags, command, onWord}: Line): readonly string[] {
	let index = 0;
	const spell = ({typed, value: attached}: TypedFlag): string => {
		const flag = flagOf(typed, flags);
		if (flag === undefined) {
			throw unknownFlag(typed, command, flags);
		}

		if (flag.value === undefined) {
			const state = switchStates.get(attached?.toLowerCase() ?? 'true');
			if (state === undefined) {
				throw switchWithValue(flag.name, attached!);
			}

			return `${typed}=${state}`;
		}

		const value = attached ?? flag.bare ?? words[++index];
		if (value === undefined || (attached === undefined && isFlagToo(value, flags))) {
			throw missingValue(flag.name, flag);
		}

		return `${typed}="${value}"`;
	};

	const spelled: string[] = [];
	for (; index < words.length; index++) {
		const word = words[index]!;
		if (word.startsWith('-') && word !== '-') {
			spelled.push(...flagsIn(word, flags).map((flag) => spell(flag)));
		} else {
			onWord(index);
			spelled.push(word);
		}
	}

	return spelled;
}

/**
Converts bytes to text without loss. Arguments and the environment need not be UTF-8, and Node replaces invalid bytes with U+FFFD, so that a job
would get another file name. Here, each such byte becomes a lone surrogate, U+DC80 to U+DCFF, which no valid text contains.
*/
import {Buffer, isUtf8} from 'node:buffer';
import {startedEnvironment, startedWords} from './inherited.js';

const firstByte = 0xdc_00;

/** Whether the text contains bytes that are not UTF-8. */
export const isBytes = (text: string): boolean => !text.isWellFormed() && /[\u{DC80}-\u{DCFF}]/v.test(text);

/** Returns the length in bytes of the character that begins at `start`, or 0 if no valid character begins there. */
const lengthAt = (bytes: Uint8Array, start: number): number => {
	const first = bytes[start]!;
	const length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
	return isUtf8(bytes.subarray(start, start + length)) && start + length <= bytes.length ? length : 0;
};

const lossyText = ({buffer, byteOffset, byteLength}: Uint8Array): string =>
	Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength).toString('utf8');

export const decodeBytes = (bytes: Uint8Array): string => {
	if (isUtf8(bytes)) {
		return lossyText(bytes);
	}

	const parts: string[] = [];
	for (let start = 0; start < bytes.length;) {
		const length = lengthAt(bytes, start);
		parts.push(
			length === 0 ? String.fromCodePoint(firstByte + bytes[start]!) : lossyText(bytes.subarray(start, start + length)),
		);
		start += Math.max(1, length);
	}

	return parts.join('');
};

export const encodeBytes = (text: string): Uint8Array =>
	isBytes(text)
		? Buffer.concat(
				Array.from(text, (character) =>
					isBytes(character) ? Buffer.of(character.codePointAt(0)! - firstByte) : Buffer.from(character),
				),
			)
		: Buffer.from(text);

export const pathOf = (text: string): string | ReturnType<typeof Buffer.from> =>
	isBytes(text) ? Buffer.from(encodeBytes(text)) : text;

/** Splits strings that each end in NUL, as in /proc. */
const stringsIn = (bytes: Uint8Array): readonly Uint8Array[] => {
	const strings: Uint8Array[] = [];
	for (let start = 0; start < bytes.length;) {
		const end = bytes.indexOf(0, start);
		strings.push(bytes.subarray(start, end === -1 ? bytes.length : end));
		start = end === -1 ? bytes.length : end + 1;
	}

	return strings;
};

/**
Returns words with the exact bytes that were typed, if they are the last words of this process's command line, `bytes`. Words in front of a `--`, such
as `srun --`, need not be typed. Other words stay unchanged.
*/
export const exactWords = <Words extends readonly string[]>(words: Words, bytes = startedWords()): Words => {
	const all = isUtf8(bytes) ? [] : stringsIn(bytes);
	for (const start of [0, words.indexOf('--') + 1]) {
		const typed = words.slice(start);
		const own = typed.length === 0 ? [] : all.slice(-typed.length);
		if (own.length === typed.length && own.every((word, index) => lossyText(word) === typed[index])) {
			return [...words.slice(0, start), ...own.map((word) => decodeBytes(word))] as readonly string[] as Words;
		}
	}

	return words;
};

/** Returns the environment with exact bytes. `bytes` is the environment at the start. An entry that has changed since then keeps its new value. */
export const exactEnvironment = (environment: Environment, bytes = startedEnvironment()): Environment => {
	if (isUtf8(bytes)) {
		return environment;
	}

	const exact = new Map(Object.entries(environment));
	for (const entry of stringsIn(bytes)) {
		const sign = entry.indexOf(0x3d);
		if (sign < 1 || isUtf8(entry)) {
			continue;
		}

		const name = entry.subarray(0, sign);
		const lossy = lossyText(name);
		if (!isUtf8(name)) {
			// Node cannot set or remove a variable whose name is not UTF-8, so the original value is still valid.
			exact.delete(lossy);
			exact.set(decodeBytes(name), decodeBytes(entry.subarray(sign + 1)));
		} else if (exact.get(lossy) === lossyText(entry.subarray(sign + 1))) {
			exact.set(lossy, decodeBytes(entry.subarray(sign + 1)));
		}
	}

	return Object.fromEntries(exact);
};

export type Environment = Readonly<Record<string, string | undefined>>;

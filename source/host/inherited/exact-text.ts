/**
Bytes as text, without loss. Arguments and the environment need not be UTF-8, and Node puts U+FFFD in place of whatever is not: a job would be
given another file name. Here each such byte becomes a lone surrogate, U+DC80 to U+DCFF, which no valid text holds.
*/
import {Buffer, isUtf8} from 'node:buffer';
import {startedEnvironment, startedWords} from './inherited.js';

const firstByte = 0xdc_00;

/** Whether the text stands for bytes that are no UTF-8. */
export const isBytes = (text: string): boolean => !text.isWellFormed() && /[\u{DC80}-\u{DCFF}]/v.test(text);

/** How many bytes the character that begins here has; 0 where none does. */
const lengthAt = (bytes: Uint8Array, start: number): number => {
	const first = bytes[start]!;
	const length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
	return isUtf8(bytes.subarray(start, start + length)) && start + length <= bytes.length ? length : 0;
};

/** Decodes like Node, with U+FFFD for invalid UTF-8. */
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

/** Returns a path for `node:fs`, which accepts text and bytes. */
export const pathOf = (text: string): string | ReturnType<typeof Buffer.from> =>
	isBytes(text) ? Buffer.from(encodeBytes(text)) : text;

/** Strings with a NUL behind each, as the kernel keeps them. */
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
The last words of our own command line as they were typed. Words that are not its last are given back as they are.

@param words - As Node decoded them.
@param bytes - Of the command line.
*/
export const exactWords = <Words extends readonly string[]>(words: Words, bytes = startedWords()): Words => {
	const own = isUtf8(bytes) || words.length === 0 ? [] : stringsIn(bytes).slice(-words.length);
	const isOurs = own.length === words.length && own.every((word, index) => lossyText(word) === words[index]);
	return isOurs ? (own.map((word) => decodeBytes(word)) as readonly string[] as Words) : words;
};

/**
The environment with each entry that was not changed as it was given to this process.

@param bytes - What was given.
*/
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
			// This variable cannot be named, so it was neither set nor removed.
			exact.delete(lossy);
			exact.set(decodeBytes(name), decodeBytes(entry.subarray(sign + 1)));
		} else if (exact.get(lossy) === lossyText(entry.subarray(sign + 1))) {
			exact.set(lossy, decodeBytes(entry.subarray(sign + 1)));
		}
	}

	return Object.fromEntries(exact);
};

export type Environment = Readonly<Record<string, string | undefined>>;

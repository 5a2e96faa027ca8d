/**
A stored value as one string that can be compared byte for byte. A value that is UTF-8 is that text. The peer's Lua writes
whatever bytes the shell gave it, so any other value is its bytes, one character each, behind a NUL, which begins no JSON.
*/
import {Buffer, isUtf8} from 'node:buffer';

const byteMark = '\0';

const viewOf = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** The raw form of stored bytes. */
export const rawOf = (bytes: Uint8Array): string =>
	isUtf8(bytes) && bytes[0] !== 0 ? viewOf(bytes).toString() : byteMark + viewOf(bytes).toString('latin1');

/** The stored bytes of a raw form: what a store compares. */
export const bytesOf = (raw: string): Uint8Array =>
	raw.startsWith(byteMark) ? Buffer.from(raw.slice(1), 'latin1') : Buffer.from(raw);

/** The same to send: a text where it is one, since the client writes a command of texts alone at once and not piece by piece. */
export const wireOf = (raw: string): string | Uint8Array => (raw.startsWith(byteMark) ? bytesOf(raw) : raw);

/** The text to read, with U+FFFD for what is not UTF-8. */
export const textOf = (raw: string): string => (raw.startsWith(byteMark) ? viewOf(bytesOf(raw)).toString() : raw);

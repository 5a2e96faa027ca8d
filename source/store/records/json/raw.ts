/**
Represents a stored value as a string that can be compared byte for byte. A value in UTF-8 is represented by its text. The Go program's Lua scripts
also store other bytes from the shell. Such a value is represented by a NUL, with which no JSON begins, and one character per byte.
*/
import {Buffer, isUtf8} from 'node:buffer';

const byteMark = '\0';

const viewOf = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

export const rawOf = (bytes: Uint8Array): string =>
	isUtf8(bytes) && bytes[0] !== 0 ? viewOf(bytes).toString() : byteMark + viewOf(bytes).toString('latin1');

export const bytesOf = (raw: string): Uint8Array =>
	raw.startsWith(byteMark) ? Buffer.from(raw.slice(1), 'latin1') : Buffer.from(raw);

/** Returns a raw value as it is sent to the server. Bytes are used only if needed, because a command of strings alone is sent in one piece. */
export const wireOf = (raw: string): string | Uint8Array => (raw.startsWith(byteMark) ? bytesOf(raw) : raw);

/** Returns a readable text, with U+FFFD for invalid UTF-8. */
export const textOf = (raw: string): string => (raw.startsWith(byteMark) ? viewOf(bytesOf(raw)).toString() : raw);

/**
A stored value as one string that can be compared byte for byte. UTF-8 stays text. The Go program's Lua scripts store any bytes from the shell, so
other values are a NUL, which begins no JSON, and then one character per byte.
*/
import {Buffer, isUtf8} from 'node:buffer';

const byteMark = '\0';

const viewOf = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

export const rawOf = (bytes: Uint8Array): string =>
	isUtf8(bytes) && bytes[0] !== 0 ? viewOf(bytes).toString() : byteMark + viewOf(bytes).toString('latin1');

/** Returns the stored bytes of a raw value, which a store compares. */
export const bytesOf = (raw: string): Uint8Array =>
	raw.startsWith(byteMark) ? Buffer.from(raw.slice(1), 'latin1') : Buffer.from(raw);

/** Returns the bytes to send, as a string if possible, because the client writes a command of strings at once and not in pieces. */
export const wireOf = (raw: string): string | Uint8Array => (raw.startsWith(byteMark) ? bytesOf(raw) : raw);

/** Returns a readable text, with U+FFFD for invalid UTF-8. */
export const textOf = (raw: string): string => (raw.startsWith(byteMark) ? viewOf(bytesOf(raw)).toString() : raw);

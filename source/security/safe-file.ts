/**
Reads a small file that another account may have put there: without waiting, within bounds, and judged by what was opened.
*/
import {closeSync, constants, fstatSync, openSync, readSync, statSync, type Stats} from 'node:fs';
import process from 'node:process';

export type SafeRead =
	| {readonly kind: 'read'; readonly text: string; readonly status: Stats}
	| {readonly kind: 'absent'}
	/** `problem` goes on after the name of the file and a colon: `it is a directory`. `code` is that of the system, if it was the system. */
	| {readonly kind: 'refused'; readonly problem: string; readonly code?: string; readonly cause?: unknown};

export type SafeReadOptions = {
	/** A longer file is refused. */
	readonly longestBytes: number;
	/** False refuses a symbolic link in the last part of the path. */
	readonly followsLinks: boolean;
	/** Answers what is wrong with the opened file, before anything is read of it. */
	readonly judge?: (status: Stats) => string | undefined;
};

const problems: Readonly<Record<string, string>> = {
	EACCES: 'permission denied',
	EPERM: 'permission denied',
	EISDIR: 'it is a directory',
	ELOOP: 'it is a link',
	ENXIO: 'it is not a regular file',
	EAGAIN: 'another program keeps it locked',
};

/** A device or a FIFO is refused: reading it may never end, and opening some devices does something. */
const kindProblem = (status: Stats): string | undefined =>
	status.isFile() ? undefined : status.isDirectory() ? 'it is a directory' : 'it is not a regular file';

function readOpened(descriptor: number, longestBytes: number): string | undefined {
	// A file may grow meanwhile, and some of the kernel's own do not tell their length.
	const bytes = new Uint8Array(longestBytes + 1);
	let length = 0;
	while (length < bytes.length) {
		const read = readSync(descriptor, bytes, length, bytes.length - length, null);
		if (read === 0) {
			return new TextDecoder('utf-8', {ignoreBOM: true}).decode(bytes.subarray(0, length));
		}

		length += read;
	}

	return undefined;
}

/** Reads a file whole as UTF-8, or says why not. Never throws, and never waits for a writer. */
export function readSafely(file: string, {longestBytes, followsLinks, judge}: SafeReadOptions): SafeRead {
	let descriptor: number | undefined;
	try {
		// Most of what is no regular file is not even opened.
		const kind = kindProblem(statSync(file));
		if (kind !== undefined) {
			return {kind: 'refused', problem: kind};
		}

		const {O_RDONLY, O_NONBLOCK, O_NOCTTY, O_NOFOLLOW} = constants;
		// eslint-disable-next-line no-bitwise
		descriptor = openSync(file, O_RDONLY | O_NONBLOCK | O_NOCTTY | (followsLinks ? 0 : O_NOFOLLOW));
		const status = fstatSync(descriptor);
		const problem = kindProblem(status) ?? judge?.(status);
		if (problem !== undefined) {
			return {kind: 'refused', problem};
		}

		const text = status.size > longestBytes ? undefined : readOpened(descriptor, longestBytes);
		return text === undefined
			? {kind: 'refused', problem: `it is longer than ${longestBytes} bytes`}
			: {kind: 'read', text, status};
	} catch (error) {
		const {code = 'unknown error'} = error as NodeJS.ErrnoException;
		return code === 'ENOENT' || code === 'ENOTDIR'
			? {kind: 'absent'}
			: {kind: 'refused', problem: problems[code] ?? code, code, cause: error};
	} finally {
		if (descriptor !== undefined) {
			closeSync(descriptor);
		}
	}
}

/** The account whose rights count. Undefined where the system has no such numbers. */
export const effectiveUid = (): number | undefined => process.geteuid?.();

/** Whether a file or directory belongs to this account or to root. */
export const isOurs = ({uid}: Stats): boolean => uid === 0 || uid === effectiveUid();

/**
Whether anybody but its owner may write a file or directory. The group of our own account alone, which many systems give to each account
with a umask of 002, counts as its owner.
*/
export function isWritableByOthers({mode, uid, gid}: Stats): boolean {
	const isOwnGroup = uid !== 0 && uid === effectiveUid() && gid === uid && gid === process.getegid?.();
	// eslint-disable-next-line no-bitwise
	return (mode & (isOwnGroup ? 0o002 : 0o022)) !== 0;
}

export const ownerWords = ({uid}: Stats): string => `belongs to another account (uid ${uid})`;

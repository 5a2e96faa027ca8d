/**
Reads small files that another account may have created. Reads at most a certain size and does not block. Checks the opened file, not its
path, which may point to another file by then. Also finds out whether other accounts could replace a directory.
*/
import {
	closeSync,
	constants,
	fstatSync,
	lstatSync,
	mkdirSync,
	openSync,
	readlinkSync,
	readSync,
	statSync,
	type Stats,
} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {isMachineRoot, readUserNamespace} from './user-namespace.js';

type SafeRead =
	| {readonly kind: 'read'; readonly text: string; readonly status: Stats}
	| {readonly kind: 'absent'}
	/** `problem` is a clause such as `it is a directory`, which follows the file's name and a colon. `code` is set for errors of the file system. */
	| {readonly kind: 'refused'; readonly problem: string; readonly code?: string; readonly cause?: unknown};

type SafeReadOptions = {
	readonly longestBytes: number;
	readonly followsLinks: boolean;
	/** Whether pipes and character devices such as /dev/null are read, too. Reading then waits for the writer. */
	readonly takesStreams?: boolean;
	/** Checks the opened file before it is read. Returns or throws what is wrong with the file. */
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

/** Returns why this kind of file is refused. Devices and FIFOs are usually refused: reading may never end, and opening can have side effects. */
const kindProblem = (status: Stats, takesStreams: boolean): string | undefined =>
	status.isFile() || (takesStreams && (status.isFIFO() || status.isCharacterDevice()))
		? undefined
		: status.isDirectory()
			? 'it is a directory'
			: 'it is not a regular file';

function readOpened(descriptor: number, longestBytes: number): string | undefined {
	// The reported size is not trusted: a file may grow while it is read, and some files of the kernel report no size.
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

/** Reads a whole file as UTF-8, or returns why the file is refused. Throws only what `judge` throws. */
export function readSafely(
	file: string,
	{longestBytes, followsLinks, takesStreams = false, judge}: SafeReadOptions,
): SafeRead {
	let descriptor: number | undefined;
	let isJudging = false;
	try {
		// Checks the kind before opening, because opening a device can have side effects. The opened file is checked again below.
		const kind = kindProblem(statSync(file), takesStreams);
		if (kind !== undefined) {
			return {kind: 'refused', problem: kind};
		}

		const {O_RDONLY, O_NONBLOCK, O_NOCTTY, O_NOFOLLOW} = constants;
		const waiting = takesStreams ? 0 : O_NONBLOCK;
		// eslint-disable-next-line no-bitwise
		descriptor = openSync(file, O_RDONLY | O_NOCTTY | waiting | (followsLinks ? 0 : O_NOFOLLOW));
		const status = fstatSync(descriptor);
		isJudging = true;
		const problem = kindProblem(status, takesStreams) ?? judge?.(status);
		isJudging = false;
		if (problem !== undefined) {
			return {kind: 'refused', problem};
		}

		const text = status.size > longestBytes ? undefined : readOpened(descriptor, longestBytes);
		return text === undefined
			? {kind: 'refused', problem: `it is longer than ${longestBytes} bytes`}
			: {kind: 'read', text, status};
	} catch (error) {
		const {code = 'unknown error', errno} = error as NodeJS.ErrnoException;
		// Errors of `judge` are thrown. An error with an errno comes from the file system, even if it occurs in `judge`.
		if (isJudging && errno === undefined) {
			throw error;
		}

		return code === 'ENOENT' || code === 'ENOTDIR'
			? {kind: 'absent'}
			: {kind: 'refused', problem: problems[code] ?? code, code, cause: error};
	} finally {
		if (descriptor !== undefined) {
			closeSync(descriptor);
		}
	}
}

/** The uid that decides what this process may do. Undefined on systems without uids. */
export const effectiveUid = (): number | undefined => process.geteuid?.();

export const isOurs = ({uid}: Stats): boolean => uid === 0 || uid === effectiveUid();

/** Whether accounts other than the owner may write. The private group that many systems give each account (with umask 002) does not count. */
export function isWritableByOthers({mode, uid, gid}: Stats): boolean {
	const isOwnGroup = uid !== 0 && uid === effectiveUid() && gid === uid && gid === process.getegid?.();
	// eslint-disable-next-line no-bitwise
	return (mode & (isOwnGroup ? 0o002 : 0o022)) !== 0;
}

/**
Creates a directory with its missing parents, accessible only to this account. Returns the paths of the new directories, parents first, so that the
caller can give all of them the same permissions.
*/
export function createDirectories(directory: string): readonly string[] {
	const first = mkdirSync(directory, {recursive: true, mode: 0o700});
	if (first === undefined) {
		return [];
	}

	const created: string[] = [];
	for (let each = path.resolve(directory); each.length >= first.length; each = path.dirname(each)) {
		created.unshift(each);
	}

	return created;
}

export const ownerText = ({uid}: Stats): string => `belongs to another account (uid ${uid})`;

export type UnsafeLocation = {
	/** Follows the name of a file or directory: `is inside /srv, where any account ...`. */
	readonly problem: string;
	readonly remedy: string;
};

/** A component of a path: a directory, or a symbolic link with the directory that contains the link (`holder`). */
type Part = {readonly name: string; readonly status: Stats; readonly holder?: Stats};

/** Maximum number of links that Linux follows in one path. */
const mostLinks = 40;

/** Returns the components of a path, from the root directory to the last one that exists. Throws errors of the file system. */
function partsOf(directory: string): {readonly parts: readonly Part[]; readonly isThere: boolean} {
	// Throws for circular links, and for directories that this account may not enter.
	const isThere = statSync(directory, {throwIfNoEntry: false}) !== undefined;
	const top = path.parse(path.resolve(directory)).root;
	const parts: Part[] = [{name: top, status: lstatSync(top)}];
	const names = path.resolve(directory).slice(top.length).split(path.sep);
	let current = top;
	let links = 0;
	for (let name = names.shift(); name !== undefined; name = names.shift()) {
		if (name === '') {
			continue;
		}

		const next = path.join(current, name);
		const status = lstatSync(next, {throwIfNoEntry: false});
		if (status === undefined) {
			return {parts, isThere: false};
		}

		if (!status.isSymbolicLink() || links === mostLinks) {
			current = next;
			parts.push({name: current, status});
			continue;
		}

		links++;
		parts.push({name: next, status, holder: lstatSync(current)});
		const target = readlinkSync(next);
		names.unshift(...target.split(path.sep));
		current = path.isAbsolute(target) ? top : current;
	}

	return {parts, isThere};
}

/** Returns the first directory that other accounts may not enter, or the file if they may not read it. Throws errors of the file system. */
export const findClosedPart = (file: string): string | undefined =>
	partsOf(file).parts.find(
		({status, holder}) =>
			// eslint-disable-next-line no-bitwise -- permissions are bits
			holder === undefined && (status.mode & (status.isDirectory() ? 0o001 : 0o004)) === 0,
	)?.name;

/** The uid that a user namespace shows for all accounts outside of it. */
const unmappedUid = 65_534;

/**
Whether a directory's group is trusted like its owner. Many systems give each account a private group with the same number as the account. In a
container, this account can have another primary group. All members of that group are trusted, too, but only in directories of this account.
*/
const isGroupOfOwner = ({uid, gid}: Stats): boolean =>
	gid === uid || (uid !== 0 && uid === effectiveUid() && gid === process.getegid?.());

/** Returns the mode bits that let accounts other than the owner write. Ignores write permission of a trusted group. */
const writersOf = (status: Stats): number =>
	// eslint-disable-next-line no-bitwise -- permissions are bits
	status.mode & (isGroupOfOwner(status) ? 0o002 : 0o022);

const isSticky = ({mode}: Stats): boolean =>
	// eslint-disable-next-line no-bitwise -- permissions are bits
	(mode & 0o1000) !== 0;

/** Returns how accounts other than the owner could replace something in this directory. Undefined if they cannot. */
function openDirectoryProblem({name, status}: Part): UnsafeLocation | undefined {
	const writers = writersOf(status);
	if (writers === 0 || isSticky(status)) {
		return undefined;
	}

	// eslint-disable-next-line no-bitwise -- permissions are bits
	const isForAll = (writers & 0o002) !== 0;
	const who = isForAll ? 'any account' : `the group with gid ${status.gid}`;
	return {
		problem: `is inside ${name}, where ${who} can replace directories`,
		remedy: `Use another directory, or remove the write permission of other accounts: chmod ${isForAll ? (writers === 0o002 ? 'o' : 'go') : 'g'}-w ${name}`,
	};
}

function strangersDirectoryProblem({name, status}: Part, isLast: boolean): UnsafeLocation {
	const home = isMachineRoot()
		? '. With sudo, add -H, so that HOME is not that of another account: sudo -H canhazgpu ...'
		: '';
	return {
		problem: isLast
			? `is in ${name}, which belongs to uid ${status.uid}`
			: `is inside ${name}, whose owner (uid ${status.uid}) can replace directories there`,
		remedy: `Use another directory, or give that directory to root: sudo chown root ${name}${home}`,
	};
}

/**
Returns how another account could replace a directory:
- The account owns a parent directory or may write to it.
- The path contains a link that belongs to the account, in a directory where others can create links.
Trusts directories of root and of this account. Ignores missing parts at the end of the path, and the permissions of the directory itself.

@param directory
@param options
@param options.trustsOwner - Whether the owner of the directory may also own its parent directories.
@returns Undefined if no other account can replace the directory.
@throws Errors of the file system.
*/
export function findUnsafeLocation(
	directory: string,
	{trustsOwner}: {readonly trustsOwner: boolean},
): UnsafeLocation | undefined {
	const {parts, isThere} = partsOf(directory);
	const last = isThere ? parts.at(-1) : undefined;
	const trusted = new Set([
		0,
		effectiveUid(),
		// The owner of the root directory can replace every program, and is as powerful as root. In some containers, the uid of this owner is not 0.
		parts[0]!.status.uid,
		...(trustsOwner && last !== undefined ? [last.status.uid] : []),
	]);
	const isTrusted = ({uid}: Stats): boolean =>
		trusted.has(uid) || (uid === unmappedUid && readUserNamespace() !== undefined);
	for (const part of parts) {
		const {name, status, holder} = part;
		const isLast = name === last?.name;
		if (holder === undefined) {
			const unsafe = isTrusted(status)
				? isLast
					? undefined
					: openDirectoryProblem(part)
				: strangersDirectoryProblem(part, isLast);
			if (unsafe !== undefined) {
				return unsafe;
			}
		} else if (writersOf(holder) !== 0 && !isTrusted(status)) {
			return {
				problem: `is reached through the link ${name}, whose owner (uid ${status.uid}) can point it elsewhere`,
				remedy: `Use the path that the link points to, or remove the link: rm ${name}`,
			};
		}
	}

	return undefined;
}

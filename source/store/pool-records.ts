/**
Small files that say where a pool is: `pool.json` for everybody on the machine, written by `admin`, and `found.json` for one user, written by the
user's commands. They contain no secrets.
*/
import {
	closeSync,
	constants,
	existsSync,
	fchmodSync,
	fstatSync,
	fsyncSync,
	mkdirSync,
	openSync,
	renameSync,
	rmSync,
	statSync,
	writeFileSync,
} from 'node:fs';
import path from 'node:path';
import * as v from 'valibot';
import {hostPattern} from '../core/model/other-hosts.js';
import type {PoolRecord} from '../core/model/types.js';
import {CanhazgpuError} from '../errors.js';
import {
	effectiveUid,
	findUnsafeLocation,
	isWritableByOthers,
	ownerText,
	readSafely,
	type UnsafeLocation,
} from '../security/safe-file.js';
import {isMachineRoot} from '../security/user-namespace.js';

/** The system's limits on paths of sockets, and of files. */
const longestSocket = 107;
const longestPath = 4095;

/** An absolute path without control characters. */
const pathOf = (longest: number) => v.pipe(v.string(), v.regex(/^\/\P{Control}*$/v), v.maxLength(longest));

const schema = v.variant('store', [
	v.object({
		store: v.literal('redis'),
		host: v.pipe(v.string(), v.regex(hostPattern), v.maxLength(255)),
		port: v.pipe(v.number(), v.safeInteger(), v.minValue(1), v.maxValue(65_535)),
		db: v.pipe(v.number(), v.safeInteger(), v.minValue(0), v.maxValue(65_535)),
		socket: v.optional(pathOf(longestSocket)),
	}),
	v.object({store: v.literal('embedded'), directory: pathOf(longestPath)}),
]);

/** Far longer than any record. Its longest part is a path. */
const longestBytes = 16_384;

const parse = (text: string): unknown => {
	try {
		return JSON.parse(text) as unknown;
	} catch {
		return undefined;
	}
};

/** The readers of a record. `machine`: everybody. `user`: this account. */
type Readers = 'machine' | 'user';

/** Commands that recreate an unusable record. Without --force, which would end all reservations in the pool of that record. */
const remedies: Readonly<Record<Readers, string>> = {
	machine:
		'Remove it, then run canhazgpu admin as the pool was made, with --store embedded where it is without Redis: it finds the pool again, and no reservation is lost.',
	user: 'Remove it: it is only a memory of where the pool was.',
};

const refuse = (file: string, problem: string, hint: string, cause?: unknown): CanhazgpuError =>
	new CanhazgpuError('store-unreachable', `Cannot read ${file}, which says where the GPU pool is: ${problem}`, {
		hint,
		cause,
	});

/** Whether to trust the directory's owner. Root does not, because the owner could name another account's pool. */
const trustsOwner = (): boolean => !isMachineRoot();

/** Returns why a record for the whole machine would not be trusted below this directory. Throws errors of the file system. */
export const findUnsafeRecordLocation = (directory: string): UnsafeLocation | undefined =>
	findUnsafeLocation(directory, {trustsOwner: trustsOwner()});

/**
Reads a record. For `machine`, it must belong to root, to this account or, unless this is root, to the owner of its directory, which nobody else may
be able to replace. For `user`, it must belong to this account. Other records, and unreadable ones, are ignored.
@returns Undefined if there is no such file.
@throws CanhazgpuError `store-unreachable` for an invalid record, or one that others may have written. Guessing another pool could grant one GPU
twice.
*/
export function readPoolRecord(file: string, readers: Readers): PoolRecord | undefined {
	let isOfAnother = false;
	let unsafe: UnsafeLocation | undefined;
	const read = readSafely(file, {
		longestBytes,
		followsLinks: false,
		judge(status) {
			isOfAnother = status.uid !== effectiveUid();
			if (readers === 'machine') {
				unsafe = findUnsafeRecordLocation(path.dirname(file));
				if (unsafe !== undefined) {
					return `it ${unsafe.problem}`;
				}
			}

			const isTrusted =
				!isOfAnother ||
				(readers === 'machine' &&
					(status.uid === 0 || (trustsOwner() && status.uid === statSync(path.dirname(file)).uid)));
			return isTrusted ? (isWritableByOthers(status) ? 'others can change it' : undefined) : `it ${ownerText(status)}`;
		},
	});
	if (read.kind === 'absent' || (readers === 'user' && isOfAnother)) {
		return undefined;
	}

	// Root can have left a record in this account's home that the account cannot read. It is ignored.
	if (readers === 'user' && read.kind === 'refused' && read.code === 'EACCES') {
		return undefined;
	}

	if (read.kind === 'refused') {
		throw read.code === 'EACCES'
			? refuse(
					file,
					read.code,
					'Ask the administrator of this machine to let you into the group of the pool.',
					read.cause,
				)
			: refuse(
					file,
					read.problem,
					unsafe?.remedy ??
						(readers === 'machine'
							? `Somebody who is not its administrator may have put it there: let root look at it. ${remedies.machine}`
							: remedies.user),
					read.cause,
				);
	}

	const result = v.safeParse(schema, parse(read.text));
	if (!result.success) {
		throw new CanhazgpuError('store-unreachable', `${file} should say where the GPU pool is, but its content is not valid`, {
			hint: remedies[readers],
		});
	}

	return result.output;
}

type RecordModes = {
	/** Permissions of the directory, if created here. */
	readonly directoryMode: number;
	readonly fileMode: number;
};

function withDirectory(directory: string, work: (descriptor: number) => void, flags = 0): void {
	// eslint-disable-next-line no-bitwise
	const descriptor = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY | flags);
	try {
		work(descriptor);
	} finally {
		closeSync(descriptor);
	}
}

/** Writes a record atomically and durably, with exactly these permissions, whatever the umask. Throws errors of the file system. */
export function writePoolRecord(file: string, record: PoolRecord, {directoryMode, fileMode}: RecordModes): void {
	const directory = path.dirname(file);
	if (mkdirSync(directory, {recursive: true, mode: directoryMode}) !== undefined) {
		// The directory was just created, so another account's entry or a link was put in its place.
		withDirectory(
			directory,
			(descriptor) => {
				if (fstatSync(descriptor).uid !== effectiveUid()) {
					throw new Error(`${directory} belongs to another account`);
				}

				fchmodSync(descriptor, directoryMode);
			},
			constants.O_NOFOLLOW,
		);
	}

	// A random name, because others may write in that directory and could have placed a link.
	const temporary = `${file}.${crypto.randomUUID()}`;
	const {O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW} = constants;
	// eslint-disable-next-line no-bitwise
	const descriptor = openSync(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, fileMode);
	try {
		try {
			fchmodSync(descriptor, fileMode);
			writeFileSync(descriptor, `${JSON.stringify(record)}\n`);
			// Otherwise a power failure could leave the new name empty.
			fsyncSync(descriptor);
		} finally {
			closeSync(descriptor);
		}

		renameSync(temporary, file);
	} catch (error) {
		rmSync(temporary, {force: true});
		throw error;
	}

	withDirectory(directory, (opened) => {
		fsyncSync(opened);
	});
}

const othersRead = 0o755;

/**
Removes write permission for others from a directory of pools, which old versions gave to everybody. An account that can replace a record redirects
everybody. Does nothing in directories of other accounts, in sticky (deliberately shared) ones, and in those without these files.
*/
export function keepOthersOut(directory: string, fileNames: readonly string[]): void {
	if (fileNames.every((name) => !existsSync(path.join(directory, name)))) {
		return;
	}

	withDirectory(directory, (descriptor) => {
		const {uid, mode} = fstatSync(descriptor);
		// eslint-disable-next-line no-bitwise
		if (uid === effectiveUid() && (mode & 0o1000) === 0 && (mode & 0o7777) !== othersRead) {
			fchmodSync(descriptor, othersRead);
		}
	});
}

/** Small files with the location of a pool, without secrets: `pool.json` for the whole machine, written by `admin`, and `found.json` for one user. */
import {
	closeSync,
	constants,
	existsSync,
	fchmodSync,
	fstatSync,
	fsyncSync,
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
	createDirectories,
	effectiveUid,
	findUnsafeLocation,
	isWritableByOthers,
	ownerText,
	readSafely,
	type UnsafeLocation,
} from '../security/safe-file.js';
import {isMachineRoot} from '../security/user-namespace.js';

/** The system's limits on the length of a socket's path and of a file's path. */
const longestSocket = 107;
const longestPath = 4095;

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

/** Maximum size of a file. Records are much shorter, because their longest part is a path. */
const longestBytes = 16_384;

const parse = (text: string): unknown => {
	try {
		return JSON.parse(text) as unknown;
	} catch {
		return undefined;
	}
};

type Readers = 'machine' | 'user';

/** Commands that replace an unusable record. They do not contain `--force`, which would end all reservations of an existing pool. */
const remedies: Readonly<Record<Readers, string>> = {
	machine:
		'Remove that file, then repeat the canhazgpu admin command that created the pool (with --store embedded for a pool without Redis). The command finds the existing pool, and no reservation is lost.',
	user: 'Remove that file: it only records where the pool was.',
};

const refuse = (file: string, problem: string, hint: string, cause?: unknown): CanhazgpuError =>
	new CanhazgpuError('store-unreachable', `Cannot read ${file}, which says where the GPU pool is: ${problem}`, {
		hint,
		cause,
		needsCorrection: problem === 'EACCES',
	});

/** Whether the directory has the setgid bit, which only the directory of a pool for a group has. */
function isForGroup(directory: string): boolean {
	try {
		// eslint-disable-next-line no-bitwise -- permissions are bits
		return (statSync(directory).mode & 0o2000) !== 0;
	} catch {
		return false;
	}
}

const trustsOwner = (): boolean => !isMachineRoot();

/** Returns why a record for the whole machine would not be trusted below this directory. Throws file system errors. */
export const findUnsafeRecordLocation = (directory: string): UnsafeLocation | undefined =>
	findUnsafeLocation(directory, {trustsOwner: trustsOwner()});

/**
Reads a record. A record for `machine` must belong to root, to this account or to the owner of its directory, and no other account may be able to
replace the directory. Root does not trust the owner of the directory. A record for `user` is ignored if it belongs to another account, or if this
account may not read it. Undefined if there is no record.
@throws CanhazgpuError `store-unreachable` for an invalid record, or a record that others may have written. Using another pool instead could grant
one GPU twice.
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

	// Root may have run a command with this account's home and left a record that this account cannot read. Such a record is ignored.
	if (readers === 'user' && read.kind === 'refused' && read.code === 'EACCES') {
		return undefined;
	}

	if (read.kind === 'refused') {
		throw read.code === 'EACCES'
			? refuse(
					file,
					read.code,
					isForGroup(path.dirname(file))
						? 'Ask the administrator of this machine to add you to the group of the pool.'
						: `Its permissions have changed. Ask the administrator of this machine to restore them. For a pool in a file: sudo canhazgpu admin --store embedded. For a pool in Redis: sudo chmod 755 ${path.dirname(file)} && sudo chmod 644 ${file}`,
					read.cause,
				)
			: refuse(
					file,
					read.problem,
					unsafe?.remedy ??
						(readers === 'machine'
							? `Somebody other than the administrator may have written it, so ask root to check it. ${remedies.machine}`
							: remedies.user),
					read.cause,
				);
	}

	const result = v.safeParse(schema, parse(read.text));
	if (!result.success) {
		throw new CanhazgpuError(
			'store-unreachable',
			`${file} should say where the GPU pool is, but its content is not valid`,
			{
				hint: remedies[readers],
			},
		);
	}

	return result.output;
}

type RecordModes = {
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

/** Creates a record's directory and its parents if needed, and writes the record into a temporary file there. Returns the temporary file. */
function writeBeside(file: string, record: PoolRecord, {directoryMode, fileMode}: RecordModes): string {
	if (!v.is(schema, record)) {
		throw new Error('no command could read this location');
	}

	for (const created of createDirectories(path.dirname(file))) {
		// The directory was just created. If it now belongs to another account or is a link, that account has replaced it.
		withDirectory(
			created,
			(descriptor) => {
				if (fstatSync(descriptor).uid !== effectiveUid()) {
					throw new Error(`${created} belongs to another account`);
				}

				fchmodSync(descriptor, directoryMode);
			},
			constants.O_NOFOLLOW,
		);
	}

	// The name is random, because others may be able to write in this directory and could have created a link with a known name.
	const temporary = `${file}.${crypto.randomUUID()}`;
	const {O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW} = constants;
	// eslint-disable-next-line no-bitwise
	const descriptor = openSync(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, fileMode);
	try {
		fchmodSync(descriptor, fileMode);
		writeFileSync(descriptor, `${JSON.stringify(record)}\n`);
		// Writes the content to disk first. Otherwise the file could be empty after a power failure.
		fsyncSync(descriptor);
	} catch (error) {
		rmSync(temporary, {force: true});
		throw error;
	} finally {
		closeSync(descriptor);
	}

	return temporary;
}

/** Throws the file system error that {@link writePoolRecord} would throw, such as for a full or read-only disk. Leaves an existing record as it is. */
export function checkRecordWritable(file: string, record: PoolRecord, modes: RecordModes): void {
	rmSync(writeBeside(file, record, modes));
}

/** Writes a record atomically and durably, with exactly these permissions, whatever the umask is. Throws file system errors. */
export function writePoolRecord(file: string, record: PoolRecord, modes: RecordModes): void {
	const temporary = writeBeside(file, record, modes);
	try {
		renameSync(temporary, file);
	} catch (error) {
		rmSync(temporary, {force: true});
		throw error;
	}

	withDirectory(path.dirname(file), (opened) => {
		fsyncSync(opened);
	});
}

const othersRead = 0o755;

/**
Gives a directory with pool records the permissions 755, because old versions let everybody write there, and an account that can replace a record
could direct all users to another pool. Changes no directories of other accounts, no sticky directories, which are shared on purpose, and no
directories without these files.
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

/**
The files of the embedded pool: who may replace them, how they are made, and where SQLite's locks mean nothing.

SQLite opens files by name. So the directory of a pool may be written by its owner alone, and all that other accounts need is made
with it: they change what is in the files, and no one but the owner can put a link, a FIFO or another file in their place.
*/
import {
	accessSync,
	closeSync,
	constants,
	fchmodSync,
	fchownSync,
	fstatSync,
	linkSync,
	lstatSync,
	mkdirSync,
	openSync,
	renameSync,
	rmdirSync,
	rmSync,
	statfsSync,
	statSync,
	type Stats,
	unlinkSync,
} from 'node:fs';
import {dirname} from 'node:path';
import process from 'node:process';
import {CanhazgpuError} from '../../errors.js';
import {findUnsafeLocation} from '../../security/safe-file.js';
import {isMachineRoot} from '../../security/user-namespace.js';
import {databaseProblem, explained, makeAgain} from './failures.js';

export type Audience = {
	/** Permissions of the directory. Group and others never write there. */
	readonly directoryMode: number;
	/** Permissions of the files. */
	readonly fileMode: number;
	/** The group that directory and files are given; that of the maker unless given. */
	readonly gid?: number;
};

/** Files beside a database that all its users need. If others may not create files there, the owner creates them. */
const besidesOf = (mode: number): readonly string[] =>
	isOpenToOthers({mode}) ? ['-wal', '-signal', '-lock'] : ['-signal', '-lock'];

/** The bits by which group and others may write. */
const othersWrite = 0o022;

/** Numbers by which Linux knows file systems that several machines share (linux/magic.h). */
const networkFileSystems: ReadonlyMap<number, string> = new Map([
	[0x69_69, 'NFS'],
	[0xff_53_4d_42, 'CIFS'],
	[0xfe_53_4d_42, 'SMB'],
	[0x51_7b, 'SMB'],
	[0x53_46_41_4f, 'AFS'],
	[0x6b_41_46_53, 'AFS'],
	[0x73_75_72_45, 'Coda'],
	[0x0b_d0_0b_d0, 'Lustre'],
	[0x47_50_46_53, 'GPFS'],
	[0x00_c3_64_00, 'Ceph'],
	[0x19_83_03_26, 'BeeGFS'],
	[0x74_61_63_6f, 'OCFS2'],
	[0x01_16_19_70, 'GFS2'],
]);

/** The number of the file system that a directory is on. */
export const fileSystemType = (directory: string): number => statfsSync(directory).type;

/** True when group or others may write what has these permissions. */
const isOpenToOthers = ({mode}: {readonly mode: number}): boolean =>
	// eslint-disable-next-line no-bitwise -- permissions are bits
	(mode & othersWrite) !== 0;

/** True when this account may make files beside the given one. */
export const isOwnDirectory = (path: string): boolean =>
	isMachineRoot() || statSync(dirname(path)).uid === process.geteuid?.();

/** True when accounts other than the owner may write this file. */
export function isForOthers(path: string): boolean {
	const status = statSync(path, {throwIfNoEntry: false});
	return status !== undefined && isOpenToOthers(status);
}

/** True for a directory like /tmp, where others make files and cannot touch those of anybody else. */
const isSticky = ({mode}: {readonly mode: number}): boolean =>
	// eslint-disable-next-line no-bitwise -- permissions are bits
	(mode & 0o1000) !== 0;

/** True for an account on this machine that could do as it likes anyway. */
const isTrusted = (uid: number): boolean => uid === 0 || uid === process.geteuid?.();

/**
Tells whether there is a pool at this path: a file that is a database, or could be.

@throws CanhazgpuError `store-unreachable` when that cannot be found out: it must not be taken for "none".
*/
export function embeddedPoolExists(path: string): boolean {
	const status = explained(path, () => lstatSync(path, {throwIfNoEntry: false}));
	return status !== undefined && !status.isDirectory();
}

/** The shortest database has one page of 512 bytes. What is shorter was cut short, and holds nothing. */
const isTooShort = ({size}: {readonly size: number}): boolean => size < 512;

/** True for a file that belongs to an account that may put files beside the database of the pool. */
const isOfPool = ({uid}: Stats, path: string): boolean => isTrusted(uid) || uid === statSync(dirname(path)).uid;

/** True for a file of its own: no link leads from here to another file, which would be changed in its place. */
const isPlain = (status: Stats): boolean => status.isFile() && status.nlink === 1;

/**
Whether the file by which those who use the database wait for one another is as it was made: empty, and without any journal that SQLite would
play back into it.
*/
export function isPlainLock(path: string): boolean {
	const [lock, ...journals] = ['', '-journal', '-wal'].map((suffix) =>
		lstatSync(`${path}-lock${suffix}`, {throwIfNoEntry: false}),
	);
	return (
		lock?.size === 0 && isPlain(lock) && isOfPool(lock, path) && journals.every((journal) => journal === undefined)
	);
}

const unsafeHint = 'Make it safe, with all its reservations: sudo canhazgpu admin --store embedded';

/** @throws CanhazgpuError when somebody else could swap the whole directory for another. */
function checkAncestors(path: string): void {
	// The owner of the directory could replace its files anyway; checkDirectory() says whose directories root uses.
	const unsafe = findUnsafeLocation(dirname(path), {trustsOwner: true});
	if (unsafe !== undefined) {
		throw databaseProblem(path, [unsafe.problem, unsafe.remedy]);
	}
}

/** @throws CanhazgpuError when accounts other than the owner could replace files in the directory. */
export function checkDirectory(path: string): void {
	const directory = dirname(path);
	const status = statSync(directory);
	if (isOpenToOthers(status)) {
		throw databaseProblem(path, [
			`lies in a directory that others may write (${directory}): they could replace its files`,
			unsafeHint,
		]);
	}

	// The owner of the directory can make root delete files through SQLite's journal: root is no guest of others.
	if (status.uid !== 0 && isMachineRoot()) {
		throw databaseProblem(path, [
			`belongs to account number ${status.uid}, and root uses pools of root alone`,
			'Run it as that account. With sudo, leave its home behind: sudo -H canhazgpu ...',
		]);
	}
}

const missingJournals = new WeakSet<CanhazgpuError>();

/** True for the problem that a journal is not there. While its owner closes the database that is so for a moment, without anything being wrong. */
export const isMissingJournal = (error: unknown): boolean =>
	error instanceof CanhazgpuError && missingJournals.has(error);

/** @throws CanhazgpuError unless the file is a regular one of root, of the directory's owner or of ourselves. */
function checkFile(path: string): void {
	const status = lstatSync(path);
	if (!status.isFile()) {
		throw databaseProblem(path, ['is not a regular file', `See what it is: ls -l ${path}`]);
	}

	if (isTooShort(status)) {
		throw databaseProblem(path, [
			`${status.size === 0 ? 'is empty' : `has only ${status.size} bytes`}: somebody cut it short`,
			'Make it again: sudo canhazgpu admin --store embedded',
		]);
	}

	if (!isOfPool(status, path)) {
		throw databaseProblem(path, [`belongs to account number ${status.uid}, which does not own the pool`, makeAgain]);
	}

	const journal = lstatSync(`${path}-wal`, {throwIfNoEntry: false});
	if (journal === undefined && isOpenToOthers(status) && !isOwnDirectory(path)) {
		const problem = databaseProblem(path, [
			'has lost its journal, which its owner alone can make again',
			'Any command of its owner does that, such as: sudo canhazgpu status',
		]);
		missingJournals.add(problem);
		throw problem;
	}

	// SQLite writes it, and cuts it short.
	if (journal !== undefined && !isPlain(journal)) {
		throw databaseProblem(path, [
			'has a journal beside it that canhazgpu did not make',
			`See what it is: ls -l ${path}-wal`,
		]);
	}

	// SQLite would play it back, and older ones delete whatever file it names. Ours is a WAL, so this one is no one's.
	if (lstatSync(`${path}-journal`, {throwIfNoEntry: false}) !== undefined) {
		throw databaseProblem(path, [
			'has a rollback journal beside it, which canhazgpu never makes',
			`Delete it: rm ${path}-journal`,
		]);
	}
}

/**
Checks the files before every opening: only the owner of the pool can change what is found here.

@throws CanhazgpuError `store-unreachable` when the files could be anybody's; what the file system says.
*/
export function checkLocation(path: string): void {
	checkDirectory(path);
	checkFile(path);
	accessSync(path, constants.R_OK + constants.W_OK);
}

/**
@throws CanhazgpuError `store-unreachable` for a file system that several machines share: its locks do not keep them apart, or cannot be
relied on.
*/
function refuseNetworkFileSystem(path: string, typeOf: (directory: string) => number): void {
	const name = networkFileSystems.get(typeOf(dirname(path)));
	if (name !== undefined) {
		throw databaseProblem(path, [
			`is on a network file system (${name}), where SQLite is not safe`,
			'Keep it on a disk of this machine, or use Redis: --store redis',
		]);
	}
}

/** Gives an open file or directory to its audience, whatever the umask. */
function give(descriptor: number, mode: number, gid: number | undefined): void {
	if (gid !== undefined) {
		fchownSync(descriptor, -1, gid);
	}

	fchmodSync(descriptor, mode);
}

/** Flags to make a file where nothing is, not even a link. */
const ofNewFile = constants.O_WRONLY + constants.O_CREAT + constants.O_EXCL + constants.O_NOFOLLOW;

function withDescriptor<Result>(path: string, flags: number, work: (descriptor: number) => Result): Result {
	const descriptor = openSync(path, flags, 0o600);
	try {
		return work(descriptor);
	} finally {
		closeSync(descriptor);
	}
}

/** Makes the directory of a database for its audience, unless there is one, which is left as it is. */
function createDirectory(path: string, {directoryMode, gid}: Audience): void {
	const directory = dirname(path);
	if (mkdirSync(directory, {recursive: true, mode: 0o700}) !== undefined) {
		withDescriptor(directory, constants.O_RDONLY + constants.O_DIRECTORY + constants.O_NOFOLLOW, (descriptor) => {
			give(descriptor, directoryMode, gid);
		});
	}
}

/**
Makes a file that is complete and has its permissions from the first moment; one that is there is left as it is.

@param fill - Given the path of the empty file, before anybody else can see it.
*/
function createFile(
	path: string,
	{fileMode, gid}: Pick<Audience, 'fileMode' | 'gid'>,
	fill: (path: string) => void = () => undefined,
): void {
	if (lstatSync(path, {throwIfNoEntry: false}) !== undefined) {
		return;
	}

	const temporary = `${path}.${crypto.randomUUID()}`;
	try {
		withDescriptor(temporary, ofNewFile, (descriptor) => {
			fill(temporary);
			give(descriptor, fileMode, gid);
		});
		linkSync(temporary, path);
	} catch (error) {
		// Somebody else made it meanwhile: just as good.
		if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
			throw error;
		}
	} finally {
		rmSync(temporary, {force: true});
	}
}

/**
Makes the directory and the database for this audience, unless they are there.

@param fill - Makes the tables in an empty file.
@throws CanhazgpuError when others could replace what would be made; what the file system says.
*/
export function createLocation(
	path: string,
	audience: Audience,
	typeOf: (directory: string) => number,
	fill: (path: string) => void,
): void {
	// Before it is made, so that nothing is made in directories of others, and after: some of them may be made just now.
	checkAncestors(path);
	createDirectory(path, audience);
	checkAncestors(path);
	checkDirectory(path);
	refuseNetworkFileSystem(path, typeOf);
	const status = lstatSync(path, {throwIfNoEntry: false});
	const isCutShort = status?.isFile() === true && isTooShort(status);
	if (isCutShort) {
		// The directory is empty, so nothing is lost.
		rmSync(path);
	}

	if (status === undefined || isCutShort) {
		// The journal of a database that is gone would be played into the new one.
		rmSync(`${path}-wal`, {force: true});
	}

	createFile(path, audience, fill);
	createBesides(path);
}

/**
Checks once what cannot change while the pool is used.

@throws CanhazgpuError `no-pool`, or `store-unreachable`.
*/
export function checkOnce(path: string, typeOf: (directory: string) => number): void {
	if (!embeddedPoolExists(path)) {
		throw new CanhazgpuError('no-pool', `There is no GPU pool at ${path}`, {
			hint: 'Make one with: canhazgpu admin --store embedded',
		});
	}

	checkAncestors(path);
	checkDirectory(path);
	refuseNetworkFileSystem(path, typeOf);
	createBesides(path);
}

/**
Makes what is missing beside a database, with its permissions and its group. Only the owner of the directory can; for anybody else this
does nothing.
*/
export function createBesides(path: string): void {
	try {
		const {mode, gid} = statSync(path);
		for (const suffix of besidesOf(mode)) {
			const file = `${path}${suffix}`;
			if (lstatSync(file, {throwIfNoEntry: false}) === undefined) {
				withDescriptor(file, ofNewFile, (descriptor) => {
					give(descriptor, mode % 0o1000, gid);
				});
			}
		}
	} catch {
		// The caller that needs the file says that it is missing.
	}
}

/**
Closes a directory of an earlier version, which all could write, and removes what others may have left in it. What is done here only
takes permissions away. It is for the owner of the directory, or root.

@returns What was done, in sentences; nothing when the directory was safe already, or when there is none.
@throws CanhazgpuError when it is not the directory of a pool.
*/
export const closeDirectory = (path: string): readonly string[] => explained(path, () => closeOpenDirectory(path));

/** True for the database that root or this account made: by a second name it could be any file of theirs. */
function isOwnDatabase(path: string): boolean {
	const status = lstatSync(path, {throwIfNoEntry: false});
	return status?.isFile() === true && isTrusted(status.uid) && status.nlink === 1;
}

function closeOpenDirectory(path: string): readonly string[] {
	const directory = dirname(path);
	const status = statSync(directory, {throwIfNoEntry: false});
	if (status === undefined || !isOpenToOthers(status)) {
		return [];
	}

	checkAncestors(path);
	if (!isTrusted(status.uid) || isSticky(status) || !isOwnDatabase(path)) {
		throw databaseProblem(path, [
			`lies in a directory that others may write (${directory}): they could replace its files`,
			`Use another directory, or take the right away if it is for the pool alone: chmod go-w ${directory}`,
		]);
	}

	withDescriptor(directory, constants.O_RDONLY + constants.O_DIRECTORY + constants.O_NOFOLLOW, (descriptor) => {
		// eslint-disable-next-line no-bitwise -- permissions are bits
		fchmodSync(descriptor, fstatSync(descriptor).mode & 0o7755);
	});
	// Until now others could put another file in its place.
	if (!isOwnDatabase(path)) {
		throw databaseProblem(path, [
			`was replaced by somebody while ${directory} was closed to others`,
			`See what it is: ls -l ${path}`,
		]);
	}

	const done = [`Others could write in ${directory}: it was closed to them.`];
	const journal = lstatSync(`${path}-wal`, {throwIfNoEntry: false});
	if (journal !== undefined && !isPlain(journal)) {
		// Otherwise the target of a link would be overwritten and given to everybody.
		done.push(...removeOrSetAside(`${path}-wal`));
	}

	const board = boardBeside(path);
	const left = [
		...['-journal', '-signal', '-lock'].map((suffix) => `${path}${suffix}`),
		...['', '-wal', '-shm', '-journal', '-signal', '-lock'].map((suffix) => `${board}${suffix}`),
	];
	return [...done, ...left.flatMap((name) => removeOrSetAside(name))];
}

/**
Removes a file; a directory is given another name unless it is empty. The owner of a directory can swap what is in it for a link while it is
emptied, so that files elsewhere would be removed.

@returns What became of a directory, in a sentence.
*/
function removeOrSetAside(file: string): readonly string[] {
	const status = lstatSync(file, {throwIfNoEntry: false});
	if (status === undefined) {
		return [];
	}

	if (!status.isDirectory()) {
		unlinkSync(file);
		return [];
	}

	try {
		rmdirSync(file);
		return [];
	} catch {
		const aside = `${file}.${crypto.randomUUID()}`;
		renameSync(file, aside);
		return [`A directory in the place of ${file} is now ${aside}: see what is in it, and delete it.`];
	}
}

/** The database in which viewers share what they see, beside that of the pool. */
export const boardBeside = (path: string): string => `${dirname(path)}/scans.sqlite`;

/** Gives a pool that is there to another audience: everything is in a directory that no one else can write. */
export function changeAudience(path: string, audience: Audience): void {
	explained(path, () => {
		giveAll(path, audience);
	});
}

function giveAll(path: string, {directoryMode, fileMode, gid}: Audience): void {
	checkLocation(path);
	const {uid} = statSync(dirname(path));
	const files = [path, boardBeside(path)]
		.flatMap((database) => [database, ...besidesOf(fileMode).map((suffix) => `${database}${suffix}`)])
		.filter((file) => lstatSync(file, {throwIfNoEntry: false}) !== undefined);
	for (const file of files) {
		withDescriptor(file, constants.O_RDONLY + constants.O_NOFOLLOW + constants.O_NONBLOCK, (descriptor) => {
			const status = fstatSync(descriptor);
			// A second name would give away what the other name stands for.
			if (!status.isFile() || status.nlink !== 1) {
				throw databaseProblem(path, [
					'has something beside it that canhazgpu did not make',
					`See what it is: ls -l ${file}`,
				]);
			}

			if (status.uid !== uid) {
				fchownSync(descriptor, uid, -1);
			}

			give(descriptor, fileMode, gid);
		});
	}

	withDescriptor(dirname(path), constants.O_RDONLY + constants.O_DIRECTORY, (descriptor) => {
		give(descriptor, directoryMode, gid);
	});
}

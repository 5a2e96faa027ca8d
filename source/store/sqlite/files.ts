/**
The files of the embedded pool: who may replace them, how they are created, and where SQLite's locks do not work. SQLite opens files by name. So only
the owner may write in a pool's directory, and every file that other accounts write to is created together with the pool. The other accounts can
change the contents of these files, but only the owner can replace a file with a link, a FIFO or another file.
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
import {createDirectories, findUnsafeLocation} from '../../security/safe-file.js';
import {isMachineRoot} from '../../security/user-namespace.js';
import {databaseProblem, explained, makeAgain} from './failures.js';

export type Audience = {
	/** Permissions of the directory. Group and others never write there. */
	readonly directoryMode: number;
	readonly fileMode: number;
	/** The group of the directory and the files. Defaults to the creator's group. */
	readonly gid?: number;
};

/** Returns the endings of the files beside a database that its users need. The owner creates them, because others may not create files there. */
const besidesOf = (mode: number): readonly string[] =>
	isOpenToOthers({mode}) ? ['-wal', '-signal', '-lock'] : ['-signal', '-lock'];

const othersWrite = 0o022;

/** File systems that several machines can share, by their numbers in Linux (linux/magic.h). */
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

export const fileSystemType = (directory: string): number => statfsSync(directory).type;

const isOpenToOthers = ({mode}: {readonly mode: number}): boolean =>
	// eslint-disable-next-line no-bitwise -- permissions are bits
	(mode & othersWrite) !== 0;

export const isOwnDirectory = (path: string): boolean =>
	isMachineRoot() || statSync(dirname(path)).uid === process.geteuid?.();

export function isForOthers(path: string): boolean {
	const status = statSync(path, {throwIfNoEntry: false});
	return status !== undefined && isOpenToOthers(status);
}

export const forEveryone: Audience = {directoryMode: 0o755, fileMode: 0o666};

export const forGroup = (gid: number): Audience => ({directoryMode: 0o2750, fileMode: 0o660, gid});

/** Returns whom a pool is for. A restore can take permissions away, but the setgid bit of the directory still shows that the pool is for a group. */
function audienceOf(path: string): Audience {
	const {mode, gid} = statSync(path);
	const directory = statSync(dirname(path));
	// eslint-disable-next-line no-bitwise -- permissions are bits
	if ((directory.mode & 0o2007) === 0o2000) {
		return forGroup(directory.gid);
	}

	const isForGroupOnly = mode % 0o10 === 0 && mode % 0o100 !== 0;
	return isForGroupOnly ? forGroup(gid) : forEveryone;
}

/** Whether accounts for which the pool is lack permissions. A pool is never made like that, but can be restored like that. */
export function lacksPermissions(path: string): boolean {
	const status = statSync(path, {throwIfNoEntry: false});
	if (status === undefined) {
		return false;
	}

	const {directoryMode, fileMode} = audienceOf(path);
	const lacks = ({mode}: Stats, wanted: number): boolean =>
		// eslint-disable-next-line no-bitwise -- permissions are bits
		(mode & wanted & 0o077) !== (wanted & 0o077);
	return lacks(status, fileMode) || lacks(statSync(dirname(path)), directoryMode);
}

/** Whether a directory is like /tmp, where all accounts may create files but cannot remove the files of others. */
const isSticky = ({mode}: {readonly mode: number}): boolean =>
	// eslint-disable-next-line no-bitwise -- permissions are bits
	(mode & 0o1000) !== 0;

/** Whether an account is root or this process's own account, which are both trusted anyway. */
const isTrusted = (uid: number): boolean => uid === 0 || uid === process.geteuid?.();

/** Whether there is a file that is or could be a database. Throws `store-unreachable` if unknown, so that no other pool is used instead. */
export function embeddedPoolExists(path: string): boolean {
	const status = explained(path, () => lstatSync(path, {throwIfNoEntry: false}));
	return status !== undefined && !status.isDirectory();
}

/** Whether a file is too short to be a database. The smallest database is one page of 512 bytes, so a shorter file was cut off and has no data. */
const isTooShort = ({size}: {readonly size: number}): boolean => size < 512;

/** Whether a file belongs to an account that may put files beside the pool's database. */
const isOfPool = ({uid}: Stats, path: string): boolean => isTrusted(uid) || uid === statSync(dirname(path)).uid;

/** Whether a file is a regular file without a second name (hard link). Writing to any other file could change something outside of the pool. */
const isPlain = (status: Stats): boolean => status.isFile() && status.nlink === 1;

/** Whether the lock file of a database is unchanged since its creation: empty, and without a journal that SQLite would play back. */
export function isPlainLock(path: string): boolean {
	const [lock, ...journals] = ['', '-journal', '-wal'].map((suffix) =>
		lstatSync(`${path}-lock${suffix}`, {throwIfNoEntry: false}),
	);
	return (
		lock?.size === 0 && isPlain(lock) && isOfPool(lock, path) && journals.every((journal) => journal === undefined)
	);
}

const usableAgain = 'sudo canhazgpu admin --store embedded';

const unsafeHint = 'Make it safe, with all its reservations: sudo canhazgpu admin --store embedded';

/** Throws a CanhazgpuError if another account could replace the whole directory. */
function checkAncestors(path: string): void {
	// Trusts the owner of the directory, who can replace its files anyway. checkDirectory() decides whose directories root uses.
	const unsafe = findUnsafeLocation(dirname(path), {trustsOwner: true});
	if (unsafe !== undefined) {
		throw databaseProblem(path, [unsafe.problem, unsafe.remedy]);
	}
}

/** Throws a CanhazgpuError if accounts other than the owner could replace files in the directory. */
export function checkDirectory(path: string): void {
	const directory = dirname(path);
	const status = statSync(directory);
	if (isOpenToOthers(status)) {
		throw databaseProblem(path, [
			`lies in a directory that others can write to (${directory}), so they could replace its files`,
			unsafeHint,
		]);
	}

	// With a forged journal, the directory's owner could make root delete files. So root uses no directories of other accounts.
	if (status.uid !== 0 && isMachineRoot()) {
		throw databaseProblem(path, [
			`belongs to uid ${status.uid}, and root uses only pools that belong to root`,
			'Run canhazgpu as that account. With sudo, add -H, so that HOME is the home of root: sudo -H canhazgpu ...',
		]);
	}
}

const missingJournals = new WeakSet<CanhazgpuError>();

/** Whether the error says that the journal is missing, which is normal for a moment while the owner closes the database. */
export const isMissingJournal = (error: unknown): boolean =>
	error instanceof CanhazgpuError && missingJournals.has(error);

/** Throws a CanhazgpuError unless the database is a regular file of root, of the directory's owner or of this account. */
function checkFile(path: string): void {
	const status = lstatSync(path);
	if (!status.isFile()) {
		throw databaseProblem(path, ['is not a regular file', `See what it is: ls -l ${path}`]);
	}

	if (isTooShort(status)) {
		throw databaseProblem(path, [
			`${status.size === 0 ? 'is empty' : `has only ${status.size} bytes`}: somebody truncated it`,
			'Make it again: sudo canhazgpu admin --store embedded',
		]);
	}

	if (!isOfPool(status, path)) {
		throw databaseProblem(path, [`belongs to uid ${status.uid}, which does not own the pool`, makeAgain]);
	}

	const journal = lstatSync(`${path}-wal`, {throwIfNoEntry: false});
	if (journal === undefined && isOpenToOthers(status) && !isOwnDirectory(path)) {
		const problem = databaseProblem(path, [
			'has lost its journal, which only its owner can create again',
			'Any command run by its owner does that, such as: sudo canhazgpu status',
		]);
		missingJournals.add(problem);
		throw problem;
	}

	// SQLite writes and truncates the journal, so it must not be a link or a second name of another file.
	if (journal?.isFile() === true && journal.nlink > 1) {
		throw databaseProblem(path, [
			'has a journal with a second name (a hard link), such as in a copy made with cp -l, so another file could be changed',
			`Delete the other name. To find it: sudo find "$(stat -c %m ${path}-wal)" -xdev -samefile ${path}-wal`,
		]);
	}

	if (journal !== undefined && !isPlain(journal)) {
		throw databaseProblem(path, [
			'has a journal beside it that canhazgpu did not make',
			`See what it is: ls -l ${path}-wal`,
		]);
	}

	// This program only uses a WAL, so a rollback journal is foreign. SQLite would play it back, and old versions would delete any file named in it.
	if (lstatSync(`${path}-journal`, {throwIfNoEntry: false}) !== undefined) {
		throw databaseProblem(path, [
			'has a rollback journal beside it, which canhazgpu never makes',
			`Delete it: rm ${path}-journal`,
		]);
	}
}

/** Checks the files before each opening, because the pool's owner can replace them. Throws `store-unreachable` if others could have made them. */
export function checkLocation(path: string): void {
	checkDirectory(path);
	checkFile(path);
	try {
		accessSync(path, constants.R_OK + constants.W_OK);
	} catch (error) {
		throw lacksPermissions(path)
			? databaseProblem(path, ['can be used only by its owner', `Let others use it again: ${usableAgain}`], error)
			: error;
	}
}

/** Throws `store-unreachable` for a file system that several machines share, because its locks are missing or unreliable. */
function refuseNetworkFileSystem(path: string, typeOf: (directory: string) => number): void {
	const name = networkFileSystems.get(typeOf(dirname(path)));
	if (name !== undefined) {
		throw databaseProblem(path, [
			`is on a network file system (${name}), where SQLite is not safe`,
			'Keep it on a disk of this machine, or use Redis: --store redis',
		]);
	}
}

/** Sets the group and permissions of an open file or directory, whatever the umask is. */
function give(descriptor: number, mode: number, gid: number | undefined): void {
	if (gid !== undefined) {
		fchownSync(descriptor, -1, gid);
	}

	fchmodSync(descriptor, mode);
}

/** Flags that create a file only if nothing with this name exists, not even a link. */
const ofNewFile = constants.O_WRONLY + constants.O_CREAT + constants.O_EXCL + constants.O_NOFOLLOW;

function withDescriptor<Result>(path: string, flags: number, work: (descriptor: number) => Result): Result {
	const descriptor = openSync(path, flags, 0o600);
	try {
		return work(descriptor);
	} finally {
		closeSync(descriptor);
	}
}

/** Creates the directory of a database, and missing parents, for its audience. Leaves existing directories as they are. */
function createDirectory(path: string, {directoryMode, gid}: Audience): void {
	for (const created of createDirectories(dirname(path))) {
		withDescriptor(created, constants.O_RDONLY + constants.O_DIRECTORY + constants.O_NOFOLLOW, (descriptor) => {
			give(descriptor, directoryMode, gid);
		});
	}
}

/** Creates a file atomically with its permissions, or keeps an existing file. `fill` gets the path of the empty file before others can see it. */
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
		if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
			throw error;
		}
	} finally {
		rmSync(temporary, {force: true});
	}
}

/** Creates a missing directory and database for this audience. `fill` creates the tables. Throws file errors, and if others could replace them. */
export function createLocation(
	path: string,
	audience: Audience,
	typeOf: (directory: string) => number,
	fill: (path: string) => void,
): void {
	// Checks the directories before creating anything below directories of others, and again afterwards, because some are created here.
	checkAncestors(path);
	createDirectory(path, audience);
	checkAncestors(path);
	checkDirectory(path);
	refuseNetworkFileSystem(path, typeOf);
	const status = lstatSync(path, {throwIfNoEntry: false});
	const isCutShort = status?.isFile() === true && isTooShort(status);
	if (isCutShort) {
		rmSync(path);
	}

	if (status === undefined || isCutShort) {
		// SQLite would play back a journal that is left from a deleted database.
		rmSync(`${path}-wal`, {force: true});
	}

	createFile(path, audience, fill);
	createBesides(path);
}

/** Checks what cannot change while the pool is used. Called once. Throws `no-pool` or `store-unreachable`. */
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

/** Creates missing files beside a database, with the same permissions and group. Only the owner of the directory does this. */
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
		// The code that needs the missing file reports the failure.
	}
}

/**
Makes the pool directory of an old version safe: removes write permission for others, and files that they may have left there. Adds no permissions.
Must be called by the directory's owner or by root. Returns what was done, in sentences.
@throws CanhazgpuError if it is not a pool's directory.
*/
export const closeDirectory = (path: string): readonly string[] => explained(path, () => closeOpenDirectory(path));

/** Whether root or this account created the database. False for a file with a second name, which could be any file of these accounts. */
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
			`lies in a directory that others can write to (${directory}), so they could replace its files`,
			`Use another directory. Or, if only the pool uses this one, remove the write permission of others: chmod go-w ${directory}`,
		]);
	}

	withDescriptor(directory, constants.O_RDONLY + constants.O_DIRECTORY + constants.O_NOFOLLOW, (descriptor) => {
		// eslint-disable-next-line no-bitwise -- permissions are bits
		fchmodSync(descriptor, fstatSync(descriptor).mode & 0o7755);
	});
	// Checks again, because others could still replace the file during the first check.
	if (!isOwnDatabase(path)) {
		throw databaseProblem(path, [
			`was replaced by somebody while the permissions of ${directory} were being changed`,
			`See what it is: ls -l ${path}`,
		]);
	}

	const done = [`Others could write to ${directory}: their permission was removed.`];
	const journal = lstatSync(`${path}-wal`, {throwIfNoEntry: false});
	if (journal !== undefined && !isPlain(journal)) {
		// If the journal were a link, its target would be overwritten and made accessible to everybody.
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
Removes a file or an empty directory, and renames a directory with contents. Contents are not removed, because the directory's owner could replace
them with a link in the meantime, so that files elsewhere would be removed. Returns what was done with a directory, in a sentence.
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
		return [`There was a directory at ${file}. It was renamed to ${aside}: check its contents, then delete it.`];
	}
}

/** Returns the group of an existing database that is not for all accounts. Undefined if it is for all, or if there is none. */
export function groupOfDatabase(path: string): number | undefined {
	return isOwnDatabase(path) ? audienceOf(path).gid : undefined;
}

export const boardBeside = (path: string): string => `${dirname(path)}/scans.sqlite`;

/**
Changes the group and permissions of an existing pool. That is safe, because no other account can write in the directory. Returns whether the
directory or the database had others before.
*/
export const changeAudience = (path: string, audience: Audience): boolean =>
	explained(path, () => {
		const {directoryMode, fileMode, gid} = audience;
		const isDifferent = (status: Stats, mode: number): boolean =>
			status.mode % 0o1_0000 !== mode || (gid !== undefined && status.gid !== gid);
		const isChange = isDifferent(statSync(dirname(path)), directoryMode) || isDifferent(statSync(path), fileMode);
		giveAll(path, audience);
		return isChange;
	});

function giveAll(path: string, {directoryMode, fileMode, gid}: Audience): void {
	checkLocation(path);
	const {uid} = statSync(dirname(path));
	const files = [path, boardBeside(path)]
		.flatMap((database) => [database, ...besidesOf(fileMode).map((suffix) => `${database}${suffix}`)])
		.filter((file) => lstatSync(file, {throwIfNoEntry: false}) !== undefined);
	for (const file of files) {
		withDescriptor(file, constants.O_RDONLY + constants.O_NOFOLLOW + constants.O_NONBLOCK, (descriptor) => {
			const status = fstatSync(descriptor);
			// A file with a second name may be a file outside of the pool, whose permissions must not change.
			if (!status.isFile() || status.nlink !== 1) {
				throw databaseProblem(path, [
					`keeps its permissions, because ${file} is not a regular file, or has several hard links`,
					`See what is there: ls -l ${file}`,
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

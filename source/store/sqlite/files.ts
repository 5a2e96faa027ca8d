/**
The files of the database: making them for the right people, and refusing places where SQLite's locks mean nothing.
*/
import {chmodSync, closeSync, fchmodSync, mkdirSync, openSync, statfsSync, statSync} from 'node:fs';
import {dirname} from 'node:path';
import process from 'node:process';
import {databaseProblem, explain} from './failures.js';

export type Modes = {
	/**
	Permissions of the directory, when it is made here.
	*/
	readonly directoryMode: number;
	/**
	Permissions of the database; SQLite gives its -wal and -shm the same.
	*/
	readonly fileMode: number;
};

/** Numbers by which Linux knows NFS, CIFS and SMB 2. */
const networkFileSystems: ReadonlySet<number> = new Set([0x69_69, 0xff_53_4d_42, 0xfe_53_4d_42]);

/** The number of the file system that a directory is on. */
export const fileSystemType = (directory: string): number => statfsSync(directory).type;

/**
Tells whether there is a pool at this path: a file that is a database, or could be.

@throws CanhazgpuError `store-unreachable` when that cannot be found out: it must not be taken for "none".
*/
export function embeddedPoolExists(path: string): boolean {
	try {
		return statSync(path, {throwIfNoEntry: false})?.isFile() ?? false;
	} catch (error) {
		throw explain(error, path);
	}
}

/** Makes the directory of a database with exactly these permissions, whatever the umask, unless there is one. */
export function createDirectory(path: string, mode: number): void {
	const directory = dirname(path);
	if (mkdirSync(directory, {recursive: true, mode}) !== undefined) {
		chmodSync(directory, mode);
	}
}

/** The same for an empty database in it. */
export function createFile(path: string, fileMode: number): void {
	let file: number;
	try {
		file = openSync(path, 'wx', fileMode);
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === 'EEXIST') {
			completeFile(path, fileMode);
			return;
		}

		throw error;
	}

	try {
		fchmodSync(file, fileMode);
	} finally {
		closeSync(file);
	}
}

/** One that is empty still was left by somebody who was stopped before it had its permissions. */
function completeFile(path: string, fileMode: number): void {
	const {size, uid} = statSync(path);
	if (size === 0 && uid === process.getuid?.()) {
		chmodSync(path, fileMode);
	}
}

/**
@throws CanhazgpuError `store-unreachable` for a network file system: its locks do not keep two machines apart, and the
shared memory of the journal is not shared.
*/
export function refuseNetworkFileSystem(path: string, typeOf: (directory: string) => number): void {
	if (networkFileSystems.has(typeOf(dirname(path)))) {
		throw databaseProblem(path, [
			'is on a network file system, where SQLite is not safe',
			'Keep it on a disk of this machine, or use Redis: --store redis',
		]);
	}
}

/** Tells a file apart from another one put in its place. */
export function fileIdentity(path: string): string | undefined {
	const status = statSync(path, {throwIfNoEntry: false});
	return status && `${status.dev}:${status.ino}`;
}

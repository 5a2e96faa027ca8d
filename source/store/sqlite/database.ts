/**
One open database, with transactions that wait their turn without holding up the process.
*/
import type {DatabaseSync} from 'node:sqlite';
import {setTimeout as sleep} from 'node:timers/promises';
import {CanhazgpuError} from '../../errors.js';
import {databaseProblem, explain, isBusy} from './failures.js';
import {
	createDirectory,
	createFile,
	embeddedPoolExists,
	fileIdentity,
	refuseNetworkFileSystem,
	type Modes,
} from './files.js';
import {loadSqlite} from './load.js';
import {prepareSchema} from './schema.js';

/** The longest that one operation waits for others. */
const patienceMs = 5000;

/** A wait inside SQLite stops the whole process, so it is short; longer ones are ours. */
const busyTimeoutMs = 5;

const longestPauseMs = 20;

export type OpenOptions = Modes & {
	readonly path: string;
	readonly create: boolean;
	readonly typeOf: (directory: string) => number;
	/**
	Makes the tables, or checks them; those of a pool unless given.
	*/
	readonly prepare?: (database: DatabaseSync, path: string) => void;
};

export class Database {
	/** Opens, or makes, the database. Rejects with a CanhazgpuError. */
	static async open({
		path,
		create,
		typeOf,
		prepare = prepareSchema,
		directoryMode,
		fileMode,
	}: OpenOptions): Promise<Database> {
		try {
			if (create) {
				createDirectory(path, directoryMode);
			} else if (!embeddedPoolExists(path)) {
				throw new CanhazgpuError('no-pool', `There is no GPU pool at ${path}`, {
					hint: 'Make one with: canhazgpu admin --store embedded',
				});
			}

			refuseNetworkFileSystem(path, typeOf);
			if (create) {
				createFile(path, fileMode);
			}
		} catch (error) {
			throw explain(error, path);
		}

		const {DatabaseSync} = loadSqlite();
		return whenFree(path, () => {
			const database = new DatabaseSync(path);
			try {
				database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
				prepare(database, path);
				return new Database(database, path);
			} catch (error) {
				database.close();
				throw error;
			}
		});
	}

	readonly #path: string;
	readonly #identity: string | undefined;
	readonly handle: DatabaseSync;

	private constructor(handle: DatabaseSync, path: string) {
		this.handle = handle;
		this.#path = path;
		this.#identity = fileIdentity(path);
	}

	#rollBack(): void {
		try {
			this.handle.exec('ROLLBACK');
		} catch {
			// Some errors have rolled back already.
		}
	}

	/**
	Does all of it, or none of it.

	@param kind - `IMMEDIATE` to write, `DEFERRED` to read one consistent state.
	@param work - Must not wait for anything. Answers whether to keep what it wrote, and its result.
	*/
	async transaction<Result>(
		kind: 'IMMEDIATE' | 'DEFERRED',
		work: () => {readonly isKept: boolean; readonly result: Result},
	): Promise<Result> {
		return whenFree(this.#path, () => {
			this.checkFile();
			this.handle.exec(`BEGIN ${kind}`);
			try {
				const {isKept, result} = work();
				this.handle.exec(isKept ? 'COMMIT' : 'ROLLBACK');
				return result;
			} catch (error) {
				this.#rollBack();
				throw error;
			}
		});
	}

	/** @throws CanhazgpuError when the file is no longer the one that was opened: others would see another pool. */
	checkFile(): void {
		if (fileIdentity(this.#path) !== this.#identity) {
			throw databaseProblem(this.#path, ['was removed or replaced', 'Start again.']);
		}
	}
}

/** Tries until nobody else holds the lock. Rejects with a CanhazgpuError. */
async function whenFree<Result>(path: string, work: () => Result): Promise<Result> {
	const deadline = performance.now() + patienceMs;
	for (let attempt = 1; ; attempt++) {
		try {
			return work();
		} catch (error) {
			if (!isBusy(error) || performance.now() > deadline) {
				throw explain(error, path);
			}
		}

		// Waiting alike would wake all at once.
		await sleep(1 + Math.random() * Math.min(attempt, longestPauseMs));
	}
}

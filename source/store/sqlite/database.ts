/**
A database that several accounts share, opened for each transaction and closed after it.
A transaction locks the database exclusively (`locking_mode = EXCLUSIVE`). SQLite then keeps the index of the journal in its own memory, and never
maps a file that others could truncate. The journal is a WAL that is created together with the database and never deleted, so that only the owner
needs to create files in the pool's directory, and no rollback journal is ever played back. Each transaction opens the files again, so it
can succeed even if the database was replaced or its journal was lost in the meantime.
*/
import {dirname} from 'node:path';
import process from 'node:process';
import type {DatabaseSync} from 'node:sqlite';
import {setTimeout as sleep} from 'node:timers/promises';
import {bounded, type BoundedStatement} from './bounded.js';
import {changedByHand, databaseProblem, explain, isBusy, makeAgain} from './failures.js';
import {
	checkDirectory,
	checkOnce,
	checkLocation,
	createBesides,
	createLocation,
	isForOthers,
	isMissingJournal,
	isPlainLock,
	type Audience,
} from './files.js';
import {loadSqlite} from './load.js';
import {createStandstill} from './lock-holder.js';
import {checkSchemaPages} from './schema-pages.js';

/** How long a transaction waits for other programs that keep the database locked. */
const longestWaitMs = 5000;

/** How long to wait for a missing journal. When the owner closes the database, SQLite deletes the journal, and the owner creates it again. */
const longestReturnMs = 2000;

/** The longest pause between two attempts. Pauses grow up to this value. */
const rarestTryMs = 250;
/** Processes that have waited longer than this try more often, so that they go first. */
const longWaitMs = 3000;
const longWaitersTryMs = 120;

/** Returns a random pause, because equal pauses would end at the same time. Each attempt takes 0.1 ms of CPU time and slows down the lock holder. */
const pauseMs = (waitedMs: number): number =>
	1 + Math.random() * (waitedMs < longWaitMs ? Math.min(waitedMs + 1, rarestTryMs) : longWaitersTryMs);

export type Form<Name extends string> = {
	/** Creates all missing tables in a separate transaction. The database is either old, or new and not visible to others yet. */
	readonly prepare: (database: DatabaseSync, path: string) => void;
	/** Whether all tables exist. If not, `prepare` creates them. Throws if the database is empty, or belongs to another program or a later version. */
	readonly isReady: (database: DatabaseSync, path: string) => boolean;
	/** Whether commits survive a power failure. */
	readonly isDurable: boolean;
	readonly statements: Readonly<Record<Name, string>>;
};

export type Statements<Name extends string> = Readonly<Record<Name, BoundedStatement>>;

type DatabaseLocation = {
	readonly path: string;
	/** The audience (owner, group and permissions) of a database to create. If undefined, a missing database is the error `no-pool`. */
	readonly audience: Audience | undefined;
	readonly typeOf: (directory: string) => number;
};

/** Compiles each statement when it is first used, because no transaction needs all statements. */
function lazily<Name extends string>(
	database: DatabaseSync,
	texts: Readonly<Record<Name, string>>,
	path: string,
): Statements<Name> {
	const compiled = new Map<string, BoundedStatement>();
	return Object.defineProperties(
		{},
		Object.fromEntries(
			Object.entries<string>(texts).map(([name, text]) => [
				name,
				{
					get() {
						const statement = compiled.get(name) ?? bounded(database, text, path);
						compiled.set(name, statement);
						return statement;
					},
				},
			]),
		),
	) as Statements<Name>;
}

/** Does the same as `pathToFileURL` of node:url, which takes longer to load than reading the whole database. */
const urlOf = (path: string): URL => {
	const url = new URL('file:///');
	url.pathname = path.replaceAll(/[\t\n\r%\\]/gv, (character) => encodeURIComponent(character));
	return url;
};

/** Opens an existing database. SQLite creates no file. It waits for no lock either, because waiting would block the whole process. */
const openExisting = (path: string): DatabaseSync => {
	const {DatabaseSync} = loadSqlite();
	const url = urlOf(path);
	url.searchParams.set('mode', 'rw');
	return new DatabaseSync(url, {timeout: 0});
};

/** A lock file that admits one process at a time to a database. */
type Gate = {
	/** Enters the gate. Throws SQLite's error if another process is inside. */
	readonly enter: () => void;
	readonly close: () => void;
};

const nothing = (): void => undefined;

const openGate: Gate = {enter: nothing, close: nothing};

/**
Returns the gate, which is SQLite's lock on an empty file. Without a gate, many processes would block each other, because a process that finds the
database locked has already taken a shared lock on it. Trying to enter the gate is cheap. If the file is missing, a link or not empty, no gate is
used, because SQLite would treat the file as a database and change it.
*/
function gateOf(path: string): Gate {
	if (!isPlainLock(path)) {
		return openGate;
	}

	let gate: DatabaseSync | undefined;
	try {
		gate = openExisting(`${path}-lock`);
		gate.exec('PRAGMA locking_mode = EXCLUSIVE');
		// Another process may have written to the file since the check above.
		if (gate.prepare('PRAGMA page_count').get()?.['page_count'] !== 0) {
			gate.close();
			return openGate;
		}

		// The empty database needs no journal. In this mode, SQLite creates no journal file.
		gate.exec('PRAGMA journal_mode = MEMORY');
	} catch {
		gate?.close();
		return openGate;
	}

	const lock = gate;
	let isIn = false;

	return {
		enter() {
			if (isIn) {
				return;
			}

			try {
				lock.exec('BEGIN IMMEDIATE');
				isIn = true;
			} catch (error) {
				if (isBusy(error)) {
					throw error;
				}
			}
		},
		close() {
			lock.close();
		},
	};
}

/** Signals that stop a background job when it uses the terminal. The kernel sends them to the job's whole process group, including this process. */
const stopSignals = ['SIGTTIN', 'SIGTTOU'] as const;

/**
Ignores these signals while this process has a lock, because a stopped process would make all others wait for its lock. Until the returned function
is called, nothing may be written to a terminal: the kernel would refuse the write and send the signal again and again.
*/
function holdOffStops(): () => void {
	for (const signal of stopSignals) {
		process.on(signal, nothing);
	}

	return () => {
		for (const signal of stopSignals) {
			process.off(signal, nothing);
		}
	};
}

function makeDatabase(path: string, form: Pick<Form<never>, 'prepare'>): void {
	const connection = openExisting(path);
	try {
		connection.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; BEGIN IMMEDIATE');
		form.prepare(connection, path);
		connection.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)');
	} finally {
		connection.close();
	}
}

/** Throws if the database lacks the settings of {@link makeDatabase}. SQLite could then play back a forged journal, or search for a page forever. */
function requireOurKind(connection: DatabaseSync, path: string): void {
	const ask = (question: string): unknown => connection.prepare(`PRAGMA ${question}`).get()?.[question];
	if (ask('journal_mode') !== 'wal') {
		throw databaseProblem(path, ['does not have the journal mode that canhazgpu sets', changedByHand]);
	}

	if (ask('auto_vacuum') !== 0) {
		throw databaseProblem(path, ['has auto_vacuum turned on, which canhazgpu never does', changedByHand]);
	}
}

/** Closes the database, and creates the journal again if SQLite has deleted it, because other accounts cannot create the journal. */
function close(database: DatabaseSync, path: string): void {
	try {
		database.close();
	} finally {
		if (isForOthers(path)) {
			createBesides(path);
		}
	}
}

export class Database<Name extends string> {
	/** Opens a database and checks its contents. Creates a missing database only if `location.audience` is set. Rejects with a CanhazgpuError. */
	static async open<Name extends string>(location: DatabaseLocation, form: Form<Name>): Promise<Database<Name>> {
		const {path, audience, typeOf} = location;
		try {
			if (audience === undefined) {
				checkOnce(path, typeOf);
			} else {
				createLocation(path, audience, typeOf, (file) => {
					makeDatabase(file, form);
				});
			}
		} catch (error) {
			throw explain(error, path);
		}

		const database = new Database(path, form);
		await database.#whenFree(() => {
			database.#withReadyConnection(() => undefined);
		});
		return database;
	}

	readonly path: string;
	readonly #form: Form<Name>;

	private constructor(path: string, form: Form<Name>) {
		this.path = path;
		this.#form = form;
	}

	/** Runs a transaction. `work` must be synchronous. It returns whether to commit, a result, and `kept`, which is called after the commit. */
	async write<Result>(
		work: (statements: Statements<Name>) => {
			readonly isKept: boolean;
			readonly result: Result;
			readonly kept?: (() => void) | undefined;
		},
	): Promise<Result> {
		let isUndone = true;
		return this.#whenFree(
			() =>
				this.#withReadyConnection((connection) => {
					connection.exec('PRAGMA query_only = OFF; BEGIN IMMEDIATE');
					const {isKept, result, kept} = work(lazily(connection, this.#form.statements, this.path));
					// If `work` throws, the transaction is rolled back when the connection is closed.
					connection.exec(isKept ? 'COMMIT' : 'ROLLBACK');
					isUndone = false;
					kept?.();
					tidy(connection);
					return result;
				}),
			() => isUndone,
		);
	}

	/** Reads one consistent state. `work` must be synchronous. */
	async read<Result>(work: (statements: Statements<Name>, connection: DatabaseSync) => Result): Promise<Result> {
		return this.#whenFree(() =>
			this.#withReadyConnection((connection) => work(lazily(connection, this.#form.statements, this.path), connection)),
		);
	}

	/** Runs `work` with a connection that is initially read-only. */
	#withReadyConnection<Result>(work: (connection: DatabaseSync) => Result): Result {
		return this.#withConnection((connection) => {
			const isReady = this.#form.isReady(connection, this.path);
			requireOurKind(connection, this.path);
			if (!isReady) {
				this.#prepare(connection);
			}

			return work(connection);
		});
	}

	#prepare(connection: DatabaseSync): void {
		connection.exec('PRAGMA query_only = OFF; BEGIN IMMEDIATE');
		this.#form.prepare(connection, this.path);
		connection.exec('COMMIT; PRAGMA query_only = ON');
		if (!this.#form.isReady(connection, this.path)) {
			throw databaseProblem(this.path, ['is damaged', makeAgain]);
		}
	}

	#withConnection<Result>(work: (connection: DatabaseSync) => Result): Result {
		const {path} = this;
		checkSchemaPages(path);
		const connection = openExisting(path);
		try {
			connection.exec(`
				PRAGMA query_only = ON;
				PRAGMA locking_mode = EXCLUSIVE;
				PRAGMA trusted_schema = OFF;
				PRAGMA cell_size_check = ON;
				PRAGMA cache_size = -100;
				PRAGMA synchronous = ${this.#form.isDurable ? 'FULL' : 'OFF'};
			`);
			return work(connection);
		} finally {
			close(connection, path);
		}
	}

	/** Runs `work`, and retries while others hold the lock. Rejects with a CanhazgpuError. `isUndone` tells whether a failed `work` changed nothing. */
	async #whenFree<Result>(work: () => Result, isUndone = () => false): Promise<Result> {
		let gate: Gate | undefined;
		const beganMs = performance.now();
		const isStandstill = createStandstill(this.path);
		let lockedMs = 0;
		let endHoldingOff = holdOffStops();
		try {
			for (;;) {
				const triedMs = performance.now();
				let isIn = false;
				try {
					if (gate === undefined) {
						checkDirectory(this.path);
						gate = gateOf(this.path);
					}

					gate.enter();
					isIn = true;
					checkLocation(this.path);
					return work();
				} catch (error) {
					const isOver = isMissingJournal(error)
						? triedMs - beganMs > longestReturnMs
						: !isBusy(error) || lockedMs > longestWaitMs || isStandstill(triedMs);
					if (isOver) {
						throw this.#explain(error, isUndone());
					}
				}

				// Between attempts at a locked database, this process keeps the gate, so that no other process tries at the same time.
				endHoldingOff();
				await sleep(pauseMs(triedMs - beganMs));
				endHoldingOff = holdOffStops();
				lockedMs += isIn ? performance.now() - triedMs : 0;
			}
		} finally {
			gate?.close();
			endHoldingOff();
		}
	}

	#explain(error: unknown, isUndone: boolean): unknown {
		return (error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT'
			? databaseProblem(
					this.path,
					[
						'was removed',
						`The administrator of ${dirname(this.path)} can create it again: canhazgpu admin --store embedded`,
					],
					error,
				)
			: explain(error, this.path, isUndone);
	}
}

/** Moves the contents of the journal into the database. Commits are already safe in the journal, so a failure is harmless. */
function tidy(connection: DatabaseSync): void {
	try {
		connection.exec('PRAGMA wal_checkpoint(TRUNCATE)');
	} catch {}
}

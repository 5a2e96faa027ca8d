/**
A database that several accounts share, opened for each transaction and closed after it.
A transaction holds the database exclusively (`locking_mode = EXCLUSIVE`), so SQLite keeps the journal's index in its own memory and never maps a
file that others could truncate. The journal is a WAL that was created with the database and stays: nothing must be created or deleted in the pool
owner's directory, and no rollback journal is ever played back. The next transaction accepts a file that was replaced or lost its journal.
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

/** The longest wait for other programs that keep the database locked. */
const longestWaitMs = 5000;

/** The owner deletes the journal at the end of a transaction, and restores it within this time, even on a busy machine. */
const longestReturnMs = 2000;

/** The longest pause between two attempts. Pauses grow up to this value. */
const rarestTryMs = 250;
/** Processes that have waited longer than this go first. */
const longWaitMs = 3000;
const longWaitersTryMs = 120;

/**
Returns a random pause before the next attempt, because equal pauses would end together. Each attempt takes a tenth of a millisecond of CPU time, so
too many attempts would slow down the process that holds the lock.
*/
const pauseMs = (waitedMs: number): number =>
	1 + Math.random() * (waitedMs < longWaitMs ? Math.min(waitedMs + 1, rarestTryMs) : longWaitersTryMs);

export type Form<Name extends string> = {
	/** Creates all missing tables, in a separate transaction, for a new database that nobody else sees yet or an old one. */
	readonly prepare: (database: DatabaseSync, path: string) => void;
	/**
	Returns false for an old form. Only reads.
	@throws CanhazgpuError for a database of another program or a later version, without tables, or with foreign contents.
	*/
	readonly isReady: (database: DatabaseSync, path: string) => boolean;
	/** Whether commits survive a power failure. */
	readonly isDurable: boolean;
	readonly statements: Readonly<Record<Name, string>>;
};

export type Statements<Name extends string> = Readonly<Record<Name, BoundedStatement>>;

type DatabaseLocation = {
	readonly path: string;
	/** The audience of a database to create. Without it, a missing database is `no-pool`. */
	readonly audience: Audience | undefined;
	readonly typeOf: (directory: string) => number;
};

/** Compiles each statement on first use, because no transaction needs them all. */
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

/** Like `pathToFileURL` of node:url, which takes longer to load than reading the whole database. */
const urlOf = (path: string): URL => {
	const url = new URL('file:///');
	url.pathname = path.replaceAll(/[\t\n\r%\\]/gv, (character) => encodeURIComponent(character));
	return url;
};

/** Opens an existing database. SQLite creates no file and waits for nobody, because a wait in SQLite blocks the whole process. */
const openExisting = (path: string): DatabaseSync => {
	const {DatabaseSync} = loadSqlite();
	const url = urlOf(path);
	url.searchParams.set('mode', 'rw');
	return new DatabaseSync(url, {timeout: 0});
};

/** A file on which processes wait for their turn with a database. */
type Gate = {
	/** Throws SQLite's error while another process is inside. */
	readonly enter: () => void;
	readonly close: () => void;
};

const nothing = (): void => undefined;

const openGate: Gate = {enter: nothing, close: nothing};

/**
Admits one process at a time, by SQLite's lock on an empty file. Processes that find the database itself locked already have a shared lock there, so
many of them would block each other. A retry here is cheap. Without such a file, or if somebody wrote into it or replaced it with a link, no gate is
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
		// Somebody may have written into the file just now.
		if (gate.prepare('PRAGMA page_count').get()?.['page_count'] !== 0) {
			gate.close();
			return openGate;
		}

		// The database stays empty. In this mode, SQLite creates no journal for its first page.
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

/** When a background job uses the terminal, the kernel sends one of these to the job's whole process group, including this process. */
const stopSignals = ['SIGTTIN', 'SIGTTOU'] as const;

/**
Ignores these signals while this process holds a lock, because otherwise everybody would wait for its continuation. Nothing may be written to a
terminal meanwhile: the kernel would refuse and send the signal again and again. Returns a function that ends this.
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

/** Creates a complete database with its tables and journal mode, for {@link createFile}. */
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

/**
Throws a CanhazgpuError unless the database is of the kind that {@link makeDatabase} creates. For others, SQLite creates a journal in the directory
and plays it back, and an account that can write the database could write that journal. SQLite could also search for a free page forever.
*/
function requireOurKind(connection: DatabaseSync, path: string): void {
	const ask = (question: string): unknown => connection.prepare(`PRAGMA ${question}`).get()?.[question];
	if (ask('journal_mode') !== 'wal') {
		throw databaseProblem(path, ['was given another kind of journal', changedByHand]);
	}

	if (ask('auto_vacuum') !== 0) {
		throw databaseProblem(path, ['was given another form, in which it shrinks by itself', changedByHand]);
	}
}

/** Closes the database and restores the journal, which SQLite deletes if this account may, and which others could not create. */
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
	/** Creates the database if allowed and missing, and checks its form. Rejects with a CanhazgpuError. */
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

	/**
	Runs a transaction. `work` must be synchronous, and returns whether to commit, its result, and work to do after the commit before others write.
	*/
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
					// An earlier error ends the transaction with the connection.
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

	/** Runs `work` with a connection that is read-only at first. */
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

	/** Creates the tables that an old form lacks. */
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

	/** Retries until nobody else holds the lock. Rejects with a CanhazgpuError. `isUndone`: whether an error now means that nothing was changed. */
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

				// A process that entered and found the database locked stays inside. One retrying process is enough, and more would block each other.
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
						`The administrator of ${dirname(this.path)} can make it again: canhazgpu admin --store embedded`,
					],
					error,
				)
			: explain(error, this.path, isUndone);
	}
}

/** Moves the journal into the database. Commits are already safe in the journal, so a failure is harmless. */
function tidy(connection: DatabaseSync): void {
	try {
		connection.exec('PRAGMA wal_checkpoint(TRUNCATE)');
	} catch {}
}

/**
One database that several accounts share, opened for each transaction and closed after it.

A transaction holds it alone for that moment (`locking_mode = EXCLUSIVE`): so SQLite keeps the index of its journal in its own memory, and
no file that others may cut short is ever mapped. The journal is a WAL that was made beside the database and stays: nothing has to be made or
deleted in a directory that belongs to the pool's owner, and no rollback journal of anybody is ever played back. A file that was replaced, or
lost its journal, is simply what the next transaction finds.
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

/** The longest that a transaction waits for other programs, which keep the database locked. */
const longestWaitMs = 5000;

/** A journal that its owner deletes with the end of a transaction is back by then, on a machine that is busy, too. */
const longestReturnMs = 2000;

/** The longest pause between two attempts. Pauses grow up to it. */
const rarestTryMs = 250;
/** Processes that have waited longer than this go before newcomers. */
const longWaitMs = 3000;
const longWaitersTryMs = 120;

/**
How long to wait before the next try, at random: equal waits would end all at once. Each try costs a tenth of a millisecond of a processor, so
that a crowd which tried as often as the first one may would take the processors from the one who is in.
*/
const pauseMs = (waitedMs: number): number =>
	1 + Math.random() * (waitedMs < longWaitMs ? Math.min(waitedMs + 1, rarestTryMs) : longWaitersTryMs);

/** The form that a database must have. */
export type Form<Name extends string> = {
	/**
	Makes all tables that are not there. Called in a transaction of its own, for a new database that no one else sees yet, and for one of an
	earlier form.
	*/
	readonly prepare: (database: DatabaseSync, path: string) => void;
	/**
	Tells whether it has its newest form already; false for an earlier one. It only reads.

	@throws CanhazgpuError for the database of another program, of a later version, without tables, or with anything in it that is not ours.
	*/
	readonly isReady: (database: DatabaseSync, path: string) => boolean;
	/** Whether what was committed outlives a loss of power. */
	readonly isDurable: boolean;
	/** Every statement, by name. */
	readonly statements: Readonly<Record<Name, string>>;
};

export type Statements<Name extends string> = Readonly<Record<Name, BoundedStatement>>;

type DatabaseLocation = {
	readonly path: string;
	/** For whom it is made, where there is none; without, that is `no-pool`. */
	readonly audience: Audience | undefined;
	readonly typeOf: (directory: string) => number;
};

/** Compiles each statement when it is first used: no transaction needs them all. */
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

/** Does the same as `pathToFileURL` of node:url, which takes longer to load than the whole database takes to read. */
const urlOf = (path: string): URL => {
	const url = new URL('file:///');
	url.pathname = path.replaceAll(/[\t\n\r%\\]/gv, (character) => encodeURIComponent(character));
	return url;
};

/** Opens a database that is there. SQLite makes no file, and waits for no one: a wait in there stops the whole process. */
const openExisting = (path: string): DatabaseSync => {
	const {DatabaseSync} = loadSqlite();
	const url = urlOf(path);
	url.searchParams.set('mode', 'rw');
	return new DatabaseSync(url, {timeout: 0});
};

/** The file on which processes that want to use a database wait for each other. */
type Gate = {
	/** @throws What SQLite says while somebody else is in. */
	readonly enter: () => void;
	/** Lets the next in. */
	readonly close: () => void;
};

const nothing = (): void => undefined;

const openGate: Gate = {enter: nothing, close: nothing};

/**
Lets one in at a time, by SQLite's lock on an empty file. Those who find the database itself locked have a share of that lock already, so many
of them would keep one another out; and to try again here costs next to nothing. Where there is no such file, or somebody wrote into it
or put a link in its place, it goes without: SQLite would treat what is there as a database, and change it.
*/
function gateOf(path: string): Gate {
	if (!isPlainLock(path)) {
		return openGate;
	}

	let gate: DatabaseSync | undefined;
	try {
		gate = openExisting(`${path}-lock`);
		gate.exec('PRAGMA locking_mode = EXCLUSIVE');
		// Somebody may have written into it just now.
		if (gate.prepare('PRAGMA page_count').get()?.['page_count'] !== 0) {
			gate.close();
			return openGate;
		}

		// The database stays empty. In this mode, SQLite makes no journal for its first page.
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

/** When a job uses the terminal from the background, the kernel sends one of them to its whole process group, this process included. */
const stopSignals = ['SIGTTIN', 'SIGTTOU'] as const;

/**
Keeps these signals from stopping this process while it holds a lock, for everybody would wait until it goes on. Gives back the way to end that.
Nothing may be written to a terminal meanwhile: the kernel would refuse it, and send the signal, again and again.
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

/** Makes a database with its tables and its journal mode, complete, for {@link createFile}. */
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
@throws CanhazgpuError unless the database is of the kind that {@link makeDatabase} makes. For any other SQLite makes a journal in the
directory and plays it back from there, and an account that may write the database may write that journal; or it may search for a free page for ever.
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

/** Closes it, and puts back the journal: SQLite has deleted it if this account may, and others could not make it again. */
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
	/** Makes the database where it may and there is none, and checks its form. Rejects with a CanhazgpuError. */
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
	Does all of it, or none of it. `work` must not wait for anything; it answers whether to keep what it wrote, its result, and what is to be done
	after that was kept and before anybody else writes.
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
					// An error before this ends the transaction with the connection.
					connection.exec(isKept ? 'COMMIT' : 'ROLLBACK');
					isUndone = false;
					kept?.();
					tidy(connection);
					return result;
				}),
			() => isUndone,
		);
	}

	/** Reads one consistent state. `work` must not wait for anything. */
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

	/** Makes the tables that an earlier form does not have. */
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

	/**
	Tries until no one else holds the lock. Rejects with a CanhazgpuError.

	@param isUndone - Whether an error that comes now is of a change, of which nothing was made.
	*/
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

				// A process that entered and found the database locked stays inside. One process that tries is enough: more would block each other.
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

/** Moves the journal into the database. What was committed is safe in the journal already, so a failure here is none. */
function tidy(connection: DatabaseSync): void {
	try {
		connection.exec('PRAGMA wal_checkpoint(TRUNCATE)');
	} catch {}
}

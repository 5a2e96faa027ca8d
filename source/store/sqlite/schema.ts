/** The tables of the embedded store, with the same JSON as in Redis. */
import type {DatabaseSync} from 'node:sqlite';
import type {Form} from './database.js';
import {changedByHand, databaseProblem, makeAgain} from './failures.js';

/** `chgp`, which identifies our databases. */
const appId = 0x63_68_67_70;

const schemaVersion = 2;

/** Each table with SQLite's text for it. */
const tables: ReadonlyMap<string, string> = new Map([
	['pool', 'CREATE TABLE pool (name TEXT PRIMARY KEY, raw TEXT NOT NULL) STRICT, WITHOUT ROWID'],
	['gpus', 'CREATE TABLE gpus (gpu INTEGER PRIMARY KEY, raw TEXT NOT NULL) STRICT'],
	['queue', 'CREATE TABLE queue (place INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, raw TEXT NOT NULL) STRICT'],
	[
		'history',
		`CREATE TABLE history (
		end_second INTEGER NOT NULL,
		raw TEXT NOT NULL,
		user TEXT NOT NULL,
		PRIMARY KEY (end_second, raw)
	) STRICT, WITHOUT ROWID`,
	],
	// The first version had no such table.
	['trail', 'CREATE TABLE trail (id INTEGER PRIMARY KEY, raw TEXT NOT NULL) STRICT'],
	// The version stays the same, because older programs never read this table.
	[
		'changes',
		'CREATE TABLE changes (place INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, attempt INTEGER NOT NULL) STRICT',
	],
]);

const numberOf = (database: DatabaseSync, query: string): number =>
	Number(Object.values(database.prepare(query).get() ?? {})[0]);

type SchemaRow = {readonly type: string; readonly name: string; readonly sql: unknown};

/**
Returns how many of the known tables exist.
@throws CanhazgpuError for foreign contents: a trigger or view could run forever at each read, and a foreign table could be anything.
*/
export function refuseForeign(database: DatabaseSync, path: string, known: ReadonlyMap<string, string>): number {
	const found = new Set<string>();
	// Among this many is a foreign one.
	const rows = database.prepare('SELECT type, name, sql FROM sqlite_schema LIMIT 100').all() as SchemaRow[];
	for (const {type, name, sql} of rows) {
		// SQLite creates the index for UNIQUE itself, without a text.
		const isOurs = type === 'table' ? known.get(name) === sql : type === 'index' && sql === null;
		if (!isOurs) {
			throw databaseProblem(path, [
				`holds a ${type} that canhazgpu did not make (${name.slice(0, 40)})`,
				changedByHand,
			]);
		}

		if (type === 'table') {
			found.add(name);
		}
	}

	return found.size;
}

/** @throws CanhazgpuError for a foreign database. */
function checkOwner(database: DatabaseSync, path: string): number {
	const version = numberOf(database, 'PRAGMA user_version');
	const owner = numberOf(database, 'PRAGMA application_id');
	const isEmpty = database.prepare('SELECT 1 FROM sqlite_schema').get() === undefined;
	if (owner !== appId && !(owner === 0 && version === 0 && isEmpty)) {
		throw databaseProblem(path, ['is the database of another program', 'Move it away, or use another directory.']);
	}

	if (version > schemaVersion) {
		throw databaseProblem(path, [
			`was made by a later version of canhazgpu (its form is ${version}, this version knows ${schemaVersion})`,
			'Use that version.',
		]);
	}

	// Databases are completed under another name first, so this file was put here by somebody.
	if (version < 1) {
		throw databaseProblem(path, ['is a database without tables: somebody cut it short', makeAgain]);
	}

	return version;
}

export const poolForm = {
	isDurable: true,
	isReady(database: DatabaseSync, path: string): boolean {
		const version = checkOwner(database, path);
		return refuseForeign(database, path, tables) === tables.size && version === schemaVersion;
	},
	prepare(database: DatabaseSync): void {
		const found = new Set(
			database
				.prepare('SELECT name FROM sqlite_schema')
				.all()
				.map(({name}) => name),
		);
		for (const [name, text] of tables) {
			if (!found.has(name)) {
				database.exec(text);
			}
		}

		database.exec(`PRAGMA application_id = ${appId}; PRAGMA user_version = ${schemaVersion}`);
	},
} satisfies Omit<Form<never>, 'statements'>;

/** The rows of the table `pool`. Older programs read the same rows, so no name may change. */
export const valueNames = {drains: 'drains', alerts: 'notices', policy: 'policy', revision: 'revision'} as const;

/** The tables of the embedded store. They contain the same JSON as Redis. */
import type {DatabaseSync} from 'node:sqlite';
import type {Form} from './database.js';
import {changedByHand, databaseProblem, makeAgain} from './failures.js';

/** The letters `chgp`, which mark databases of this program. */
const appId = 0x63_68_67_70;

const schemaVersion = 2;

/** The SQL that creates each table, by name. SQLite stores this text. */
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
	// Databases of the first version do not have this table.
	['trail', 'CREATE TABLE trail (id INTEGER PRIMARY KEY, raw TEXT NOT NULL) STRICT'],
	// This table was added without a new schema version, because older programs never read it.
	[
		'changes',
		'CREATE TABLE changes (place INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, attempt INTEGER NOT NULL) STRICT',
	],
]);

const numberOf = (database: DatabaseSync, query: string): number =>
	Number(Object.values(database.prepare(query).get() ?? {})[0]);

type SchemaRow = {readonly type: string; readonly name: string; readonly sql: unknown};

/** Returns how many of the known tables exist. Throws a CanhazgpuError for anything else, such as a foreign table or an endless trigger. */
export function refuseForeign(database: DatabaseSync, path: string, known: ReadonlyMap<string, string>): number {
	const found = new Set<string>();
	// If there are more than 100 rows, some of the first 100 are foreign.
	const rows = database.prepare('SELECT type, name, sql FROM sqlite_schema LIMIT 100').all() as SchemaRow[];
	for (const {type, name, sql} of rows) {
		// SQLite itself creates an index for UNIQUE, without an SQL text.
		const isOurs = type === 'table' ? known.get(name) === sql : type === 'index' && sql === null;
		if (!isOurs) {
			throw databaseProblem(path, [
				`contains a ${type} that canhazgpu did not make (${name.slice(0, 40)})`,
				changedByHand,
			]);
		}

		if (type === 'table') {
			found.add(name);
		}
	}

	return found.size;
}

/** Returns the schema version. Throws a CanhazgpuError for a database of another program. */
function checkOwner(database: DatabaseSync, path: string): number {
	const version = numberOf(database, 'PRAGMA user_version');
	const owner = numberOf(database, 'PRAGMA application_id');
	const isEmpty = database.prepare('SELECT 1 FROM sqlite_schema').get() === undefined;
	if (owner !== appId && !(owner === 0 && version === 0 && isEmpty)) {
		throw databaseProblem(path, ['is the database of another program', 'Move it away, or use another directory.']);
	}

	if (version > schemaVersion) {
		throw databaseProblem(path, [
			`was made by a later version of canhazgpu (its format is ${version}, but this version knows only ${schemaVersion})`,
			'Use that later version.',
		]);
	}

	// This program gives a database its final name only when it is complete, so somebody else has changed the file.
	if (version < 1) {
		throw databaseProblem(path, ['is a database without tables: somebody truncated it', makeAgain]);
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

export const jobName = (number: number): string => `job:${number}`;

/** The names of rows in the table `pool`. No name may change, because older programs read the same rows. */
export const valueNames = {
	machine: 'machine',
	drains: 'drains',
	alerts: 'notices',
	policy: 'policy',
	jobs: 'jobs',
	revision: 'revision',
} as const;

/**
The tables of the embedded store. They hold the same JSON as Redis does.
*/
import type {DatabaseSync} from 'node:sqlite';
import {databaseProblem} from './failures.js';

/** `chgp`: says whose database this is. */
const appId = 0x63_68_67_70;

const schemaVersion = 2;

const tables = `
	CREATE TABLE pool (name TEXT PRIMARY KEY, raw TEXT NOT NULL) STRICT, WITHOUT ROWID;
	CREATE TABLE gpus (gpu INTEGER PRIMARY KEY, raw TEXT NOT NULL) STRICT;
	CREATE TABLE queue (place INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, raw TEXT NOT NULL) STRICT;
	CREATE TABLE history (
		end_second INTEGER NOT NULL,
		raw TEXT NOT NULL,
		user TEXT NOT NULL,
		PRIMARY KEY (end_second, raw)
	) STRICT, WITHOUT ROWID;
	PRAGMA application_id = ${appId};
`;

/** What the second form has more than the first. */
const moreTables = `
	CREATE TABLE trail (id INTEGER PRIMARY KEY, raw TEXT NOT NULL) STRICT;
	PRAGMA user_version = ${schemaVersion};
`;

const numberOf = (database: DatabaseSync, query: string): number =>
	Number(Object.values(database.prepare(query).get() ?? {})[0]);

/**
Makes the tables in a new database, adds what one of an earlier version lacks, and checks those of another.

@throws CanhazgpuError `store-unreachable` for the database of another program or of a later version; what SQLite says.
*/
export function prepareSchema(database: DatabaseSync, path: string): void {
	const versionOfOurs = () => {
		const version = numberOf(database, 'PRAGMA user_version');
		const owner = numberOf(database, 'PRAGMA application_id');
		const isEmpty = numberOf(database, 'SELECT count(*) FROM sqlite_schema') === 0;
		if (owner !== appId && !(owner === 0 && version === 0 && isEmpty)) {
			throw databaseProblem(path, ['is the database of another program', 'Move it away, or use another directory.']);
		}

		if (version > schemaVersion) {
			throw databaseProblem(path, [
				`was made by a later version of canhazgpu (its form is ${version}, this version knows ${schemaVersion})`,
				'Use that version.',
			]);
		}

		return version;
	};

	if (versionOfOurs() < schemaVersion) {
		database.exec('PRAGMA journal_mode = WAL');
		database.exec('BEGIN IMMEDIATE');
		// Somebody may have made them while we waited for the lock.
		const version = versionOfOurs();
		if (version < 1) {
			database.exec(tables);
		}

		if (version < 2) {
			database.exec(moreTables);
		}

		database.exec('COMMIT');
	}

	// Power loss takes nothing that was said to be done.
	database.exec('PRAGMA synchronous = FULL');
}

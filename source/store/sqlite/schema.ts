/**
The tables of the embedded store. They hold the same JSON as Redis does.
*/
import type {DatabaseSync} from 'node:sqlite';
import {databaseProblem} from './failures.js';

/** `chgp`: says whose database this is. */
const appId = 0x63_68_67_70;

const schemaVersion = 1;

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
	PRAGMA user_version = ${schemaVersion};
`;

const numberOf = (database: DatabaseSync, query: string): number =>
	Number(Object.values(database.prepare(query).get() ?? {})[0]);

/**
Makes the tables in a new database, and checks those of another.

@throws CanhazgpuError `store-unreachable` for the database of another program or of a later version; what SQLite says.
*/
export function prepareSchema(database: DatabaseSync, path: string): void {
	const isOurs = () => {
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

		return version === schemaVersion;
	};

	if (!isOurs()) {
		database.exec('PRAGMA journal_mode = WAL');
		database.exec('BEGIN IMMEDIATE');
		// Somebody may have made them while we waited for the lock.
		if (!isOurs()) {
			database.exec(tables);
		}

		database.exec('COMMIT');
	}

	// Power loss takes nothing that was said to be done.
	database.exec('PRAGMA synchronous = FULL');
}

/** Keeps the shared scan in its own small database, so that writing it wakes no listener of the pool and need not wait for the disk. */
import {lstatSync, statSync} from 'node:fs';
import type {DatabaseSync} from 'node:sqlite';
import type {ScanBoard} from '../../core/model/ports.js';
import {postedScan} from '../posted-scan.js';
import {boundedColumn} from './bounded.js';
import {Database, type Form, type Statements} from './database.js';
import {databaseProblem, explain, explained} from './failures.js';
import {boardBeside, isOwnDirectory, type Audience} from './files.js';
import {refuseForeign} from './schema.js';
import {Watch} from './watch.js';

const tables: ReadonlyMap<string, string> = new Map([
	[
		'scanner',
		`CREATE TABLE scanner (
		id INTEGER PRIMARY KEY CHECK (id = 0), owner TEXT NOT NULL, interval_ms REAL NOT NULL, until REAL NOT NULL
	) STRICT`,
	],
	['scan', 'CREATE TABLE scan (id INTEGER PRIMARY KEY CHECK (id = 0), time REAL NOT NULL, text TEXT NOT NULL) STRICT'],
]);

const statementTexts = {
	claim: `
		INSERT INTO scanner (id, owner, interval_ms, until) VALUES (0, ?1, ?2, ?3)
		ON CONFLICT (id) DO UPDATE SET owner = ?1, interval_ms = ?2, until = ?3
		WHERE owner = ?1 OR until <= ?4 OR interval_ms > ?2
	`,
	resign: 'DELETE FROM scanner WHERE owner = ?',
	post: `
		INSERT OR REPLACE INTO scan (id, time, text)
		SELECT 0, ?2, ?3 WHERE EXISTS (SELECT 1 FROM scanner WHERE owner = ?1 AND until > ?2)
	`,
	latest: `SELECT time, ${boundedColumn('text')} FROM scan`,
} as const;

type Names = keyof typeof statementTexts;

const form: Form<Names> = {
	isDurable: false,
	statements: statementTexts,
	isReady(database, path) {
		if (refuseForeign(database, path, tables) !== tables.size) {
			throw databaseProblem(path, ['has lost its tables: somebody truncated it', 'Delete it: rm FILE']);
		}

		return true;
	},
	prepare(database: DatabaseSync) {
		for (const text of tables.values()) {
			database.exec(text);
		}
	},
};

type Options = {
	readonly path: string;
	readonly now: () => number;
	readonly typeOf: (directory: string) => number;
};

/** Returns the owner, group and permissions of the pool. Throws a CanhazgpuError if the board is missing and this account may not create it. */
const audienceOf = (poolPath: string, file: string): Audience =>
	explained(poolPath, () => {
		const {mode, gid} = statSync(poolPath);
		if (!isOwnDirectory(file) && lstatSync(file, {throwIfNoEntry: false}) === undefined) {
			throw databaseProblem(file, ['is missing', "Any canhazgpu command run by the pool's owner creates it again."]);
		}

		return {directoryMode: 0o700, fileMode: mode % 0o1000, gid};
	});

/** Creates the scan board. Its database is opened on first use. The store that owns the board must call `close`. */
export function createScanBoard({
	path: poolPath,
	now,
	typeOf,
}: Options): ScanBoard & {readonly prepare: () => Promise<void>; readonly close: () => void} {
	const file = boardBeside(poolPath);
	let opening: Promise<Database<Names>> | undefined;
	const watch = new Watch({
		path: file,
		mark() {
			const {dev, ino, mtimeNs, size} = statSync(file, {bigint: true});
			return `${dev}:${ino}:${mtimeNs}:${size}`;
		},
		async check(occasion) {
			if (occasion === 'change') {
				watch.publishChange(undefined);
			}
		},
	});

	const opened = async (): Promise<Database<Names>> => {
		opening ??= Database.open({path: file, audience: audienceOf(poolPath, file), typeOf}, form);
		try {
			return await opening;
		} catch (error) {
			opening = undefined;
			throw error;
		}
	};

	/** Writes to the board. Creates the file again if it was removed. */
	const write = async (work: (statements: Statements<Names>) => number): Promise<boolean> => {
		const database = await opened();
		try {
			return await database.write((statements) => ({isKept: true, result: work(statements) > 0}));
		} catch (error) {
			opening = undefined;
			throw error;
		}
	};

	return {
		/** Creates the database before it is needed, because other accounts that share the pool may be unable to create it. */
		async prepare() {
			await opened();
		},
		claim: async ({owner, intervalMs}, seconds) =>
			write((statements) => Number(statements.claim.run(owner, intervalMs, now() + seconds, now()).changes)),
		async resign(owner) {
			await write((statements) => Number(statements.resign.run(owner).changes));
		},
		async post(owner, text) {
			const isPosted = await write((statements) => Number(statements.post.run(owner, now(), text).changes));
			if (isPosted) {
				queueMicrotask(() => {
					watch.publishChange(undefined);
				});
			}

			return isPosted;
		},
		async latest() {
			if (opening === undefined && lstatSync(file, {throwIfNoEntry: false}) === undefined) {
				return undefined;
			}

			const database = await opened();
			const row = await database.read((statements) => statements.latest.get());
			return row && postedScan(row['time'] as number, row['text'] as string, now());
		},
		async subscribe(posted) {
			await opened();
			try {
				const stop = await watch.add({
					changed() {
						posted();
					},
				});
				return async () => {
					stop();
				};
			} catch (error) {
				throw explain(error, file);
			}
		},
		close() {
			watch.stop();
		},
	};
}

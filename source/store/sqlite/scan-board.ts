/**
The scan that viewers share, in a small database beside the pool: a scan is no change of the pool, so it must not wake those who listen
for one, and it need not outlive a loss of power, so no disk waits for it.
*/
import {existsSync, statSync} from 'node:fs';
import path from 'node:path';
import type {DatabaseSync} from 'node:sqlite';
import {longestScan, type ScanBoard} from '../../core/ports.js';
import {postedScan} from '../posted-scan.js';
import {Database} from './database.js';
import {explain} from './failures.js';
import {Watch} from './watch.js';

const tables = `
	CREATE TABLE IF NOT EXISTS scanner (
		id INTEGER PRIMARY KEY CHECK (id = 0), owner TEXT NOT NULL, interval_ms REAL NOT NULL, until REAL NOT NULL
	) STRICT;
	CREATE TABLE IF NOT EXISTS scan (id INTEGER PRIMARY KEY CHECK (id = 0), time REAL NOT NULL, text TEXT NOT NULL) STRICT;
`;

function prepareTables(database: DatabaseSync): void {
	database.exec('PRAGMA journal_mode = WAL');
	database.exec('PRAGMA synchronous = OFF');
	database.exec(tables);
}

const prepareStatements = (database: DatabaseSync) => ({
	claim: database.prepare(`
		INSERT INTO scanner (id, owner, interval_ms, until) VALUES (0, ?1, ?2, ?3)
		ON CONFLICT (id) DO UPDATE SET owner = ?1, interval_ms = ?2, until = ?3
		WHERE owner = ?1 OR until <= ?4 OR interval_ms > ?2
	`),
	resign: database.prepare('DELETE FROM scanner WHERE owner = ?'),
	post: database.prepare(`
		INSERT OR REPLACE INTO scan (id, time, text)
		SELECT 0, ?2, ?3 WHERE EXISTS (SELECT 1 FROM scanner WHERE owner = ?1 AND until > ?2)
	`),
	latest: database.prepare(`SELECT time, substr(text, 1, ${longestScan + 1}) AS text FROM scan`),
});

type Opened = {
	readonly database: Database;
	readonly statements: ReturnType<typeof prepareStatements>;
	readonly watch: Watch;
};

type Options = {
	/**
	The database of the pool.
	*/
	readonly path: string;
	readonly now: () => number;
	readonly typeOf: (directory: string) => number;
};

/** The board is opened by whoever looks at it first; `close` is for whoever opened the pool. */
export function createScanBoard({path: poolPath, now, typeOf}: Options): ScanBoard & {readonly close: () => void} {
	const file = path.join(path.dirname(poolPath), 'scans.sqlite');
	let opening: Promise<Opened> | undefined;

	const open = async (): Promise<Opened> => {
		let fileMode: number;
		try {
			// Whoever may use the pool may use this: it is made with the same permissions.
			fileMode = statSync(poolPath).mode % 0o1000;
		} catch (error) {
			throw explain(error, poolPath);
		}

		const database = await Database.open({
			path: file,
			create: true,
			directoryMode: 0o700,
			fileMode,
			typeOf,
			prepare: prepareTables,
		});
		return {database, statements: prepareStatements(database.handle), watch: new Watch(database, file)};
	};

	const opened = async (): Promise<Opened> => {
		opening ??= open();
		try {
			return await opening;
		} catch (error) {
			opening = undefined;
			throw error;
		}
	};

	const close = (): void => {
		const last = opening;
		opening = undefined;
		last
			?.then(({database, watch}) => {
				watch.stop();
				database.handle.close();
			})
			// What could not be opened need not be closed.
			.catch(() => undefined);
	};

	/** A file that was removed is made anew, for the next who asks. */
	const write = async (work: (opened: Opened) => number): Promise<boolean> => {
		const board = await opened();
		try {
			return await board.database.transaction('IMMEDIATE', () => ({isKept: true, result: work(board) > 0}));
		} catch (error) {
			close();
			throw error;
		}
	};

	return {
		claim: async ({owner, intervalMs}, seconds) =>
			write(({statements}) => Number(statements.claim.run(owner, intervalMs, now() + seconds, now()).changes)),
		async resign(owner) {
			await write(({statements}) => Number(statements.resign.run(owner).changes));
		},
		async post(owner, text) {
			const isPosted = await write(({statements}) => Number(statements.post.run(owner, now(), text).changes));
			const {watch} = await opened();
			if (isPosted) {
				queueMicrotask(() => {
					watch.tell(undefined);
				});
			}

			return isPosted;
		},
		async latest() {
			if (opening === undefined && !existsSync(file)) {
				return undefined;
			}

			const {database, statements} = await opened();
			const row = await database.transaction('DEFERRED', () => ({isKept: true, result: statements.latest.get()}));
			return row && postedScan(row['time'] as number, row['text'] as string, now());
		},
		async subscribe(posted) {
			const {watch} = await opened();
			try {
				const stop = watch.add({
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
		close,
	};
}

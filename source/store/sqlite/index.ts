/**
The pool in one file, without a server.
*/
import type {Store} from '../../core/ports.js';
import {decodeEvent, mostGpus} from '../codec.js';
import {decodeAuditRows, placeOf} from '../decode-audit.js';
import {decodeHistory} from '../decode-history.js';
import {encodePlan, recentCount} from '../raw-plan.js';
import {decodeSnapshot, type RawSnapshot} from '../raw-snapshot.js';
import {applyPlan} from './commit.js';
import {Database} from './database.js';
import {explain} from './failures.js';
import {fileSystemType} from './files.js';
import {createScanBoard} from './scan-board.js';
import {prepareStatements, type Statements} from './statements.js';
import {Watch} from './watch.js';

export {embeddedPoolExists} from './files.js';

const pageSize = 1000;

export type SqliteStoreOptions = {
	/**
	The database file.
	*/
	readonly path: string;
	/**
	Make the file, and its directory, when there is none. Else that is `no-pool`, and nothing is made.
	*/
	readonly create: boolean;
	/**
	Permissions of a directory made here, whatever the umask; 0o700 by default.
	*/
	readonly directoryMode?: number;
	/**
	Permissions of a file made here, whatever the umask; 0o600 by default.
	*/
	readonly fileMode?: number;
	/**
	The store's clock, in seconds; the clock of this machine by default.
	*/
	readonly now?: () => number;
	/**
	The number of the file system that a directory is on; asks the kernel by default.
	*/
	readonly typeOf?: (directory: string) => number;
};

type Row = Readonly<Record<string, string>>;

function readAll(statements: Statements, user: string | undefined): Omit<RawSnapshot, 'now' | 'storeUptimeSeconds'> {
	const pool = new Map((statements.pool.all() as Row[]).map(({name, raw}) => [name, raw]));
	const gpus = new Map(statements.gpus.all().map(({gpu, raw}) => [gpu as number, raw as string]));
	const size = Math.min(Number(pool.get('gpuCount') ?? 0), mostGpus);
	const usage = user === undefined ? [] : statements.recentUsage.all(recentCount, user.toWellFormed());
	return {
		pool: {gpuCount: pool.get('gpuCount'), provider: pool.get('provider'), machine: pool.get('machine')},
		gpus: Array.from({length: size}, (_, index) => gpus.get(index)),
		queue: (statements.queue.all() as Row[]).map(({id, raw}) => [id!, raw] as const),
		drains: pool.get('drains'),
		notices: pool.get('notices'),
		recentUsage: (usage as Row[]).map(({raw}) => raw!),
	};
}

type TrailRow = {readonly id: number; readonly raw: string};

type UsageRow = {readonly endSecond: number; readonly raw: string};

/**
Streams the stored usage records of the given seconds, oldest first. Each page is a transaction of its own: a long report
holds up nobody.

@yields Pages of records.
*/
async function* readPages(
	database: Database,
	statements: Statements,
	fromTime: number,
	toTime: number,
): AsyncGenerator<readonly string[]> {
	let after: UsageRow = {endSecond: Math.floor(fromTime), raw: ''};
	let isLast = false;
	while (!isLast) {
		const {endSecond, raw} = after;
		const page = await database.transaction('DEFERRED', () => ({
			isKept: true,
			result: statements.usagePage.all(endSecond, raw, Math.floor(toTime), pageSize) as UsageRow[],
		}));
		yield page.map((row) => row.raw);
		isLast = page.length < pageSize;
		after = page.at(-1) ?? after;
	}
}

/**
Opens the pool in a file.

@throws CanhazgpuError `no-pool` when there is no file and none is to be made, `store-unreachable` when it cannot be used.
*/
export async function openSqliteStore({
	path,
	create,
	directoryMode = 0o700,
	fileMode = 0o600,
	now = () => Date.now() / 1000,
	typeOf = fileSystemType,
}: SqliteStoreOptions): Promise<Store> {
	const database = await Database.open({path, create, directoryMode, fileMode, typeOf});
	const statements = await database.transaction('DEFERRED', () => ({
		isKept: true,
		result: prepareStatements(database.handle),
	}));
	const watch = new Watch(database, path);
	const {close: closeScans, ...scans} = createScanBoard({path, now, typeOf});

	return {
		kind: 'embedded',
		location: path,
		async read({user} = {}) {
			const raw = await database.transaction('DEFERRED', () => ({isKept: true, result: readAll(statements, user)}));
			return decodeSnapshot({...raw, now: now(), storeUptimeSeconds: Infinity}, user);
		},
		async commit(plan) {
			const raw = encodePlan(plan);
			const isDone = await database.transaction('IMMEDIATE', () => {
				const result = applyPlan(statements, raw, now());
				return {isKept: result, result};
			});
			if (isDone && raw.event !== undefined) {
				queueMicrotask(() => {
					watch.tell(decodeEvent(raw.event!));
				});
			}

			return isDone ? 'done' : 'conflict';
		},
		async subscribe(listener) {
			try {
				const stop = watch.add(listener);
				return async () => {
					stop();
				};
			} catch (error) {
				throw explain(error, path);
			}
		},
		history(fromTime, toTime) {
			return decodeHistory(() => readPages(database, statements, fromTime, toTime), fromTime, toTime);
		},
		async audit(query = {}) {
			const rows = await database.transaction('DEFERRED', () => ({
				isKept: true,
				result: statements.trail.all(placeOf(query.afterId)) as TrailRow[],
			}));
			return decodeAuditRows(
				rows.map(({id, raw}) => ({id: String(id), raw})),
				query,
			);
		},
		async inspect() {
			const [version, check] = await database.transaction('DEFERRED', () => ({
				isKept: true,
				result: ['SELECT sqlite_version()', 'PRAGMA quick_check(1)'].map((question) =>
					Object.values(database.handle.prepare(question).get() ?? {}).join(''),
				),
			}));
			return {version: `SQLite ${version}`, isDurable: true, evicts: false, damage: check === 'ok' ? undefined : check};
		},
		scans,
		async close() {
			watch.stop();
			closeScans();
			if (database.handle.isOpen) {
				database.handle.close();
			}
		},
	};
}

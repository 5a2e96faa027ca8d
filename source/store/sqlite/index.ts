import {Buffer} from 'node:buffer';
import type {ReadOptions, Store, LoadHistory} from '../../core/model/ports.js';
import {decodeJobIndex, mostGpus} from '../records/index.js';
import {readNumberedRows, type NumberedRow} from '../decode-audit.js';
import {decodeHistory} from '../decode-history.js';
import {encodePlan, recentCount} from '../raw-plan.js';
import {decodeEntry, decodeJobs, decodeSnapshot, type RawSnapshot} from '../raw-snapshot.js';
import {hoursBetween, oldestLoadHour} from '../load-hours.js';
import {applyPlan} from './commit.js';
import {Database, type Form} from './database.js';
import {addEvent, signal} from './events.js';
import {databaseProblem, explain, makeAgain} from './failures.js';
import {fileSystemType, isForOthers, lacksPermissions} from './files.js';
import {createPoolWatch} from './pool-watch.js';
import {createScanBoard} from './scan-board.js';
import {jobName, poolForm, valueNames} from './schema.js';
import {poolStatements, type PoolStatements} from './statements.js';

export {
	changeAudience,
	closeDirectory,
	embeddedPoolExists,
	groupOfDatabase,
	forEveryone,
	forGroup,
	lacksPermissions,
	type Audience,
} from './files.js';

/** Number of usage records to read in one transaction, which takes about 20 ms. */
const pageSize = 5000;

const portionSize = 500;

type SqliteStoreOptions = {
	readonly path: string;
	/** Whether to create the file and its directory if they are missing. Otherwise a missing file is the error `no-pool`. */
	readonly create: boolean;
	/** Permissions of a new directory and a new file, whatever the umask is. Group and others never get write permission for the directory. */
	readonly directoryMode?: number;
	readonly fileMode?: number;
	readonly gid?: number;
	/** The store's clock, in seconds. Default: the clock of this machine. */
	readonly now?: () => number;
	/** Returns the number of a directory's file system. Defaults to asking the kernel. */
	readonly typeOf?: (directory: string) => number;
};

type Row = Readonly<Record<string, string>>;

function readAll(
	statements: PoolStatements,
	{user, change, withoutQueue}: ReadOptions,
): Omit<RawSnapshot, 'now' | 'storeUptimeSeconds'> {
	const pool = new Map((statements.pool.all() as Row[]).map(({name, raw}) => [name, raw]));
	const gpus = new Map(statements.gpus.all().map(({gpu, raw}) => [gpu as number, raw as string]));
	const size = Math.min(Number(pool.get('gpuCount') ?? 0), mostGpus);
	const usage = user === undefined ? [] : statements.recentUsage.all(recentCount, user.toWellFormed());
	return {
		pool: {gpuCount: pool.get('gpuCount'), provider: pool.get('provider'), machine: pool.get('machine')},
		gpus: Array.from({length: size}, (_, index) => gpus.get(index)),
		queue: withoutQueue === true ? [] : (statements.queue.all() as Row[]).map(({id, raw}) => [id!, raw] as const),
		drains: pool.get(valueNames.drains),
		alerts: pool.get(valueNames.alerts),
		policy: pool.get(valueNames.policy),
		revision: pool.get(valueNames.revision),
		run: undefined,
		recentUsage: (usage as Row[]).map(({raw}) => raw!),
		attemptDone: change === undefined ? undefined : statements.change.get(change)?.['attempt']?.toString(),
	};
}

type PoolDatabase = Database<keyof typeof poolStatements>;

const form: Form<keyof typeof poolStatements> = {...poolForm, statements: poolStatements};

type UsageRow = {readonly endSecond: number; readonly raw: string};

/** Whether a record comes after another in SQLite's order, which compares bytes. */
const isLater = (one: UsageRow, other: UsageRow): boolean =>
	one.endSecond > other.endSecond ||
	(one.endSecond === other.endSecond && Buffer.compare(Buffer.from(one.raw), Buffer.from(other.raw)) > 0);

type PageRow = {
	readonly lines: string;
	readonly records: number;
	readonly longRecords: number;
	readonly lastSecond: number;
};

type PageQuestion = readonly [endSecond: number, raw: string, toSecond: number, size: number];

/** Yields the lines of a text, a few at a time, which is cheaper than a list of all lines. Each line is a record, because JSON has no line breaks. */
function* linesOf(text: string): Generator<readonly string[]> {
	let lines: string[] = [];
	let start = 0;
	while (start <= text.length) {
		const lineBreak = text.indexOf('\n', start);
		const end = lineBreak === -1 ? text.length : lineBreak;
		lines.push(text.slice(start, end));
		if (lines.length === portionSize) {
			yield lines;
			lines = [];
		}

		start = end + 1;
	}

	yield lines;
}

/** Streams the usage records of the given seconds in pages, oldest first. Each page is a separate transaction, so long reports block no process. */
async function* readPages(database: PoolDatabase, fromTime: number, toTime: number): AsyncGenerator<readonly string[]> {
	let after: UsageRow = {endSecond: Math.floor(fromTime), raw: ''};
	for (;;) {
		const question: PageQuestion = [after.endSecond, after.raw, Math.floor(toTime), pageSize] as const;
		const endOf = (statements: PoolStatements) => statements.usagePageEnd.get(...question) as UsageRow | undefined;
		const {row, long} = await database.read((statements) => {
			const page = statements.usagePage.get(...question) as PageRow;
			const rows = () => statements.longUsagePage.all(...question) as Row[];
			return {row: page, long: page.longRecords === 0 ? undefined : {rows: rows(), end: endOf(statements)}};
		});
		let lineCount = 0;
		for (const lines of long === undefined ? linesOf(row.lines) : [long.rows.map(({raw}) => raw!)]) {
			lineCount += lines.length;
			yield lines;
		}

		if (row.records < pageSize) {
			return;
		}

		// The last line is the last record, unless a record contains line breaks. Asking SQLite for it would take half as long as reading the page.
		const isLastKnown = long === undefined && lineCount === row.records;
		const end = isLastKnown
			? {endSecond: row.lastSecond, raw: row.lines.slice(row.lines.lastIndexOf('\n') + 1)}
			: (long?.end ?? (await database.read(endOf)));
		if (end === undefined) {
			return;
		}

		if (!isLater(end, after)) {
			throw databaseProblem(database.path, ['is damaged: its history points back to itself', makeAgain]);
		}

		after = end;
	}
}

/** Returns the name of the row with an hour of load history. Six digits are enough until the year 2084. */
const loadNameOf = (hour: number): string => `load:${String(hour).padStart(6, '0')}`;

/** Stores the load history in the table `pool`, with a row for each hour. Writing wakes no listener. */
const createLoadHistory = (database: PoolDatabase): LoadHistory => ({
	async append(hour, line) {
		await database.write((statements) => {
			statements.trimLoads.run(loadNameOf(oldestLoadHour(hour)));
			statements.appendLoad.run(loadNameOf(hour), `${line}\n`);
			return {isKept: true, result: undefined};
		});
	},
	async read(fromHour, toHour) {
		return database.read(
			(statements) =>
				new Map(
					hoursBetween(fromHour, toHour).flatMap((hour) => {
						const text = statements.loadHour.get(loadNameOf(hour))?.['raw'];
						return typeof text === 'string' ? [[hour, text] as const] : [];
					}),
				),
		);
	},
});

/** Opens the pool in a file. Throws `no-pool` if there is no file and none may be created, and `store-unreachable` if the file is unusable. */
export async function openSqliteStore({
	path,
	create,
	directoryMode = 0o700,
	fileMode = 0o600,
	gid,
	now = () => Date.now() / 1000,
	typeOf = fileSystemType,
}: SqliteStoreOptions): Promise<Store> {
	const database: PoolDatabase = await Database.open(
		{path, audience: create ? {directoryMode, fileMode, gid} : undefined, typeOf},
		form,
	);
	const watch = createPoolWatch(database);
	const {close: closeScans, prepare: prepareScans, ...scans} = createScanBoard({path, now, typeOf});
	if (create && isForOthers(path)) {
		await prepareScans();
	}

	return {
		kind: 'embedded',
		location: path,
		shell: `sqlite3 ${path}`,
		async read(options = {}) {
			const raw = await database.read((statements) => readAll(statements, options));
			return decodeSnapshot({...raw, now: now(), storeUptimeSeconds: Infinity}, options.user);
		},
		async readEntry(id) {
			const row = await database.read((statements) => statements.entry.get(id));
			return decodeEntry(id, row?.['raw']?.toString());
		},
		async readJobs(numbers) {
			return database.read((statements) => {
				const rawAt = (name: string) => statements.poolValue.get(name)?.['raw']?.toString();
				const index = rawAt(valueNames.jobs);
				const asked = numbers ?? decodeJobIndex(index).numbers;
				return decodeJobs(
					now(),
					index,
					asked.map((number) => [number, rawAt(jobName(number))] as const),
				);
			});
		},
		async commit(plan) {
			const raw = encodePlan(plan);
			const {event} = raw;
			return database.write((statements) => {
				if (!applyPlan(statements, raw, now())) {
					return {isKept: false, result: 'conflict'};
				}

				const events = event === undefined ? undefined : addEvent(statements, event);
				return {
					isKept: true,
					result: 'done',
					kept:
						events &&
						(() => {
							const signalled = signal(path, events);
							queueMicrotask(() => {
								watch.publishOwn(event!, events.sequence, signalled);
							});
						}),
				};
			});
		},
		async subscribe(listener) {
			try {
				const stop = await watch.add(listener);
				return async () => {
					stop();
				};
			} catch (error) {
				throw explain(error, path);
			}
		},
		history(fromTime, toTime) {
			return decodeHistory(() => readPages(database, fromTime, toTime), fromTime, toTime);
		},
		async audit(query = {}) {
			return database.read(({auditLog}) => readNumberedRows((number) => auditLog.all(number) as NumberedRow[], query));
		},
		async inspect() {
			const [version, check] = await database.read((_, connection) =>
				['SELECT sqlite_version()', 'PRAGMA quick_check(1)'].map((question) =>
					Object.values(connection.prepare(question).get() ?? {}).join(''),
				),
			);
			return {
				version: `SQLite ${version}`,
				isDurable: true,
				evicts: false,
				damage: check === 'ok' ? undefined : check,
				lacksPermissions: lacksPermissions(path),
			};
		},
		scans,
		loads: createLoadHistory(database),
		async close() {
			watch.stop();
			closeScans();
		},
	};
}

/** An account with write access to the pool's files must not be able to make other accounts' SQLite change other files or run forever. */
import {Buffer} from 'node:buffer';
import {
	copyFileSync,
	existsSync,
	linkSync,
	lstatSync,
	mkdtempSync,
	readFileSync,
	rmSync,
	statSync,
	symlinkSync,
	truncateSync,
	watch,
	writeFileSync,
} from 'node:fs';
import {once} from 'node:events';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {DatabaseSync} from 'node:sqlite';
import {text} from 'node:stream/consumers';
import {setTimeout as sleep} from 'node:timers/promises';
import {afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test} from 'vitest';
import {openSqliteStore} from '../../../source/store/sqlite/index.js';
import {audit, leaseWrite, plan, poolWrite, write} from '../samples.js';
import {patienceMs} from '../../_helpers/eventually.js';
import {timed} from '../../_helpers/program/timed.js';
import {slowTest} from '../../_helpers/slow.js';
import {shareChildren, shareIndexChildren, shareSchemaChildren, writeFreeListCycle} from './_spoiled.js';
import {makeWorkshop, type Workshop} from './child.js';

let workshop: Workshop;
beforeAll(async () => {
	workshop = await makeWorkshop();
});
afterAll(() => {
	workshop.remove();
});

let directory: string;
let file: string;
let board: string;
const open = async (create = false) => openSqliteStore({path: file, create, directoryMode: 0o755, fileMode: 0o666});

beforeEach(async () => {
	directory = mkdtempSync(path.join(tmpdir(), 'chg-spoiled-'));
	onTestFinished(() => {
		rmSync(directory, {recursive: true});
	});
	file = path.join(directory, 'pool.sqlite');
	board = path.join(directory, 'scans.sqlite');
	const store = await open(true);
	await write(store, poolWrite(4), leaseWrite(0), leaseWrite(1));
	await store.commit(plan({writes: [], audit: [audit()]}));
	await store.scans.claim({owner: 'ada', intervalMs: 2000}, 10);
	await store.close();
});

/** Runs a script that uses the pool in its own process. Kills the process if it does not end in time. */
async function inProcess(script: string): Promise<unknown[] | 'without end'> {
	const child = workshop.start(script, {file});
	const limit = setTimeout(() => {
		child.kill('SIGKILL');
	}, patienceMs);
	const [output] = await Promise.all([text(child.stdout!), once(child, 'close')]);
	clearTimeout(limit);
	return child.signalCode === 'SIGKILL'
		? 'without end'
		: output
				.split('\n')
				.filter((line) => line !== '')
				.map((line) => JSON.parse(line) as unknown);
}

const useAll = `
	const attempts = [
		async (store) => store.read({user: 'a'}),
		async (store) => store.readEntry('x'),
		async (store) => store.commit(plan({writes: [lease(0, 'new')], audit: [{time: 1, kind: 'released', gpus: [0]}]})),
		async (store) => store.audit(),
		async (store) => Array.fromAsync(store.history(0, 4e9)),
		async (store) => store.scans.claim({owner: 'eve', intervalMs: 1}, 10),
	];
	for (const attempt of attempts) {
		try {
			const store = await openSqliteStore({path: file, create: false});
			await attempt(store);
			say('done');
			await store.close();
		} catch (error) {
			say(error.code ?? String(error));
		}
	}
`;

describe('a malicious empty database in place of a SQLite pool file', () => {
	test.each(
		(['pool.sqlite', 'scans.sqlite'] as const).flatMap((name) => [
			{name, kind: 'a rollback journal', journal: 1 as const},
			{name, kind: 'a WAL', journal: 2 as const},
		]),
	)('is not written to: $name with $kind', async ({name, journal}) => {
		const spoiled = path.join(directory, name);
		writeFreeListCycle(spoiled, {journal, freePages: 50_000_000});
		const before = statSync(spoiled);
		const made = new Set<string>();
		// eslint-disable-next-line n/prefer-promises/fs -- names are to be collected beside the rest
		const watcher = watch(directory, (_, entry) => {
			made.add(entry ?? '');
		});
		const said = await inProcess(useAll);
		for (const create of [false, true]) {
			const using = open(create).then(async (store) => store.scans.claim({owner: 'eve', intervalMs: 1}, 10));
			const {error, ownSeconds} = await timed(using);
			expect(error).toMatchObject({code: 'store-unreachable'});
			expect(ownSeconds).toBeLessThan(1);
		}

		await sleep(50);
		watcher.close();
		expect(said).toEqual(
			Array.from({length: 6}, (_, index) => (name === 'pool.sqlite' || index === 5 ? 'store-unreachable' : 'done')),
		);
		expect([...made].filter((entry) => entry.endsWith('-journal'))).toEqual([]);
		expect(statSync(spoiled)).toMatchObject({size: before.size, mtimeMs: before.mtimeMs});
	});
});

test.each(['pool.sqlite', 'scans.sqlite'])(
	'the SQLite store rejects %s with auto-vacuum, in which SQLite could loop forever',
	async (name) => {
		const spoiled = path.join(directory, name);
		const bytes = readFileSync(spoiled);
		// The field "largest root page", which switches auto-vacuum on.
		bytes.writeUInt32BE(4, 52);
		writeFileSync(spoiled, bytes);
		const using = open().then(async (store) => store.scans.claim({owner: 'eve', intervalMs: 1}, 10));
		await expect(using).rejects.toMatchObject({
			code: 'store-unreachable',
			message: `The GPU pool ${spoiled} has auto_vacuum turned on, which canhazgpu never does`,
		});
		expect(readFileSync(spoiled).equals(bytes)).toBe(true);
	},
);

test.each([1, 511])(
	'a SQLite pool that was truncated to %d byte(s) is reported and can be created again',
	async (size) => {
		truncateSync(file, size);
		await expect(open()).rejects.toMatchObject({
			code: 'store-unreachable',
			message: `The GPU pool ${file} has only ${size} bytes: somebody truncated it`,
			hint: 'Make it again: sudo canhazgpu admin --store embedded',
		});
		const store = await open(true);
		expect((await store.read()).pool).toBeUndefined();
		await store.close();
	},
);

describe('a malicious file next to a SQLite pool', () => {
	/** Creates the database of another program, which has a WAL. */
	const makeVictim = (): string => {
		const victim = path.join(directory, 'victim.db');
		const database = new DatabaseSync(victim);
		database.exec("PRAGMA journal_mode = WAL; CREATE TABLE runs (x); INSERT INTO runs VALUES ('kept')");
		database.close();
		return victim;
	};

	const use = async () => {
		const store = await open();
		await store.read();
		expect(await write(store, leaseWrite(2))).toBe('done');
		await store.close();
	};

	test.each([
		['symbolic link', symlinkSync],
		['hard link', linkSync],
	])('that is a %s in place of the lock file changes no other database', async (_, plant) => {
		const victim = makeVictim();
		const before = readFileSync(victim);
		rmSync(`${file}-lock`);
		plant(victim, `${file}-lock`);
		await use();
		expect(readFileSync(victim).equals(before)).toBe(true);
	});

	test('that is a rollback journal of the lock file is not applied', async () => {
		const database = path.join(directory, 'any.db');
		new DatabaseSync(database).exec('CREATE TABLE x (a)');
		copyFileSync(database, `${file}-lock`);
		const before = readFileSync(database);
		const journal = Buffer.alloc(512);
		journal.write('d9d505f920a163d7', 'hex');
		for (const [index, value] of [0, 12_345, before.length / 4096, 512, 4096].entries()) {
			journal.writeUInt32BE(value, 8 + 4 * index);
		}

		writeFileSync(`${file}-lock-journal`, journal);
		await use();
		expect(readFileSync(`${file}-lock-journal`).equals(journal)).toBe(true);
		expect(readFileSync(`${file}-lock`).equals(before)).toBe(true);
	});

	test('that is a hard link in place of the journal is rejected', async () => {
		const victim = path.join(directory, 'notes.txt');
		writeFileSync(victim, 'kept');
		rmSync(`${file}-signal`);
		linkSync(victim, `${file}-signal`);
		const store = await open();
		expect(await store.commit(plan({writes: [leaseWrite(2)], event: {kind: 'granted', gpus: [2]}}))).toBe('done');
		await store.close();
		expect(readFileSync(victim, 'utf8')).toBe('kept');
		rmSync(`${file}-wal`, {force: true});
		linkSync(victim, `${file}-wal`);
		await expect(open()).rejects.toMatchObject({
			code: 'store-unreachable',
			message: `The GPU pool ${file} has a journal with a second name (a hard link), such as in a copy made with cp -l, so another file could be changed`,
			hint: `Delete the other name. To find it: sudo find "$(stat -c %m ${file}-wal)" -xdev -samefile ${file}-wal`,
		});
		expect(readFileSync(victim, 'utf8')).toBe('kept');
	});
});

describe('endless rows in a SQLite pool', () => {
	test.each(['gpus', 'trail', 'queue', 'changes'])('in the table %s are read only up to a limit', async (table) => {
		const store = await open();
		await store.commit(plan({writes: [], change: {id: 'c', attempt: 1}}));
		await store.close();
		const database = new DatabaseSync(file);
		database.exec("INSERT INTO queue VALUES (1, 'x', '{}')");
		database.close();
		shareChildren(file, table, 5);
		const said = await inProcess(useAll);
		expect(said).toHaveLength(6);
		expect(said).toContain(table === 'changes' ? 'done' : 'store-unreachable');
		for (const word of said) {
			expect(['done', 'store-unreachable']).toContain(word);
		}
	});

	test('in the usage history do not make a report run forever', async () => {
		const database = new DatabaseSync(file);
		for (let second = 1; second <= 20; second++) {
			database.prepare('INSERT INTO history VALUES (?, ?, ?)').run(second, `{"n": ${second}}`, 'a');
		}

		database.close();
		shareIndexChildren(file, 'history', 8);
		const said = await inProcess(useAll);
		expect(said).toEqual(Array.from({length: 6}, () => 'done'));
	});

	test.each(['the file', 'its journal'])(
		'in the schema table of %s are rejected before SQLite reads them',
		async (where) => {
			const whole = readFileSync(file);
			if (where === 'the file') {
				shareSchemaChildren(file, 8);
			} else {
				const spoiled = path.join(directory, 'spoiled.db');
				copyFileSync(file, spoiled);
				shareSchemaChildren(spoiled, 8);
				const pages = readFileSync(spoiled);
				// A change of the first page writes that page to the journal. Then the malicious page replaces it there.
				const database = new DatabaseSync(file);
				database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA user_version = 2');
				const journal = readFileSync(`${file}-wal`);
				database.close();
				expect(journal.readUInt32BE(32)).toBe(1);
				pages.copy(journal, 32 + 24, 0, 4096);
				writeFileSync(file, whole);
				writeFileSync(`${file}-wal`, journal);
			}

			const said = await inProcess(useAll);
			expect(said).toEqual(Array.from({length: 6}, () => 'store-unreachable'));
			await expect(open()).rejects.toMatchObject({
				message: `The GPU pool ${file} has a list of tables that canhazgpu did not make`,
			});
		},
	);
});

slowTest.each([
	["INSERT OR REPLACE INTO pool VALUES ('notices', hex(zeroblob(3000000)))", 'contains text of more than'],
	['INSERT OR REPLACE INTO gpus VALUES (1, hex(zeroblob(300000000)))', 'contains text of more than'],
	["INSERT INTO queue VALUES (9223372036854775807, hex(zeroblob(3000000)), '{}')", 'contains text of more than'],
	[
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 120000) INSERT INTO queue SELECT i, i, '{}' FROM n",
		'contains more than canhazgpu ever writes',
	],
])(
	'a SQLite pool with longer texts or more rows than canhazgpu ever writes leads to a clear error: %s',
	async (sql, words) => {
		const database = new DatabaseSync(file);
		database.exec(sql);
		database.close();
		const store = await open();
		await expect(store.read()).rejects.toMatchObject({
			code: 'store-unreachable',
			message: expect.stringContaining(words) as string,
		});
		await store.close();
	},
);

test('a number that JavaScript cannot represent leads to a clear error', async () => {
	const database = new DatabaseSync(file);
	database.exec("INSERT INTO trail VALUES (9223372036854775800, '{}')");
	database.close();
	const store = await open();
	await expect(store.audit()).rejects.toMatchObject({
		code: 'store-unreachable',
		message: `The GPU pool ${file} contains a value that canhazgpu does not write`,
	});
	await store.close();
});

test('the WAL, the lock file and the scans file of a SQLite pool exist after normal use', async () => {
	const store = await open();
	await store.read();
	await store.close();
	expect(existsSync(`${file}-wal`) && lstatSync(`${file}-lock`).size === 0 && existsSync(board)).toBe(true);
});

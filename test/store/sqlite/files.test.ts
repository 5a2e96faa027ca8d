/** Pool files that are missing, damaged, replaced, locked or of another program. */
import {
	copyFileSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	writeFileSync,
} from 'node:fs';
import {constants, tmpdir} from 'node:os';
import path from 'node:path';
import {DatabaseSync} from 'node:sqlite';
import {setTimeout as sleep} from 'node:timers/promises';
import {afterEach, beforeEach, describe, expect, onTestFinished, test} from 'vitest';
import {explain} from '../../../source/store/sqlite/failures.js';
import {embeddedPoolExists, openSqliteStore} from '../../../source/store/sqlite/index.js';
import {eventually} from '../../_helpers/eventually.js';
import {timed} from '../../_helpers/program/timed.js';
import {audit, leaseWrite, plan, poolWrite, start, stateOf, write} from '../samples.js';
import {isTransient} from '../../../source/errors.js';
import {slowTest} from '../../_helpers/slow.js';

let directory: string;
let file: string;
beforeEach(() => {
	directory = mkdtempSync(path.join(tmpdir(), 'chg-files-'));
	file = path.join(directory, 'pool.db');
});
afterEach(() => {
	rmSync(directory, {recursive: true});
});

/** Creates a pool, uses it and closes it. */
async function makePool(): Promise<void> {
	const store = await openSqliteStore({path: file, create: true});
	await write(store, poolWrite(2));
	await store.close();
}

const open = async (more: Record<string, unknown> = {}) => openSqliteStore({path: file, create: false, ...more});

test('the SQLite store opens a path with characters that are special in a URL', async () => {
	const odd = path.join(directory, 'a b %41#?x\\y\nü;@:[|]');
	mkdirSync(odd);
	file = path.join(odd, 'pool.db');
	await makePool();
	const store = await open();
	expect((await store.read()).pool?.gpuCount).toBe(2);
	await store.close();
	expect(readdirSync(directory)).toEqual([path.basename(odd)]);
	expect(readdirSync(odd)).toContain('pool.db');
});

test('opening a missing SQLite pool creates no files', async () => {
	expect(embeddedPoolExists(file)).toBe(false);
	expect(embeddedPoolExists(path.join(file, 'deeper'))).toBe(false);
	await expect(open()).rejects.toMatchObject({
		code: 'no-pool',
		message: `There is no GPU pool at ${file}`,
		hint: 'Make one with: canhazgpu admin --store embedded',
	});
	expect(readdirSync(directory)).toEqual([]);
	await makePool();
	expect(embeddedPoolExists(file)).toBe(true);
	expect(readdirSync(directory).toSorted()).toEqual(['pool.db', 'pool.db-lock', 'pool.db-signal']);
	const store = await open();
	expect(store.kind).toBe('embedded');
	expect(store.location).toBe(file);
	expect((await store.read()).storeUptimeSeconds).toBe(Infinity);
	await store.close();
});

test('the SQLite store rejects an empty file unless it may create the pool', async () => {
	writeFileSync(file, '');
	await expect(open()).rejects.toMatchObject({
		code: 'store-unreachable',
		message: `The GPU pool ${file} is empty: somebody truncated it`,
	});
	const store = await open({create: true});
	expect((await store.read()).pool).toBeUndefined();
	await store.close();
});

describe('the SQLite store rejects', () => {
	const refusal = (problem: string) => ({code: 'store-unreachable', message: `The GPU pool ${file} ${problem}`});

	test('a file that is not a database', async () => {
		writeFileSync(file, 'not a database at all, just some text\n'.repeat(50));
		await expect(open()).rejects.toMatchObject(refusal('is not a database'));
		await expect(open({create: true})).rejects.toMatchObject(refusal('is not a database'));
	});

	test('a damaged database', async () => {
		await makePool();
		const bytes = readFileSync(file);
		writeFileSync(file, bytes.fill(0xaa, 1000));
		const reading = async () => {
			const store = await open();
			return store.read();
		};

		await expect(reading()).rejects.toMatchObject(refusal('is damaged'));
	});

	test('the database of another program and does not change it', async () => {
		const database = new DatabaseSync(file);
		database.exec('CREATE TABLE cake (recipe)');
		await expect(open({create: true})).rejects.toMatchObject(refusal('is the database of another program'));
		expect(database.prepare('PRAGMA journal_mode').get()).toEqual({journal_mode: 'delete'});
		database.close();
	});

	test('a database of a later version', async () => {
		await makePool();
		const database = new DatabaseSync(file);
		database.exec('PRAGMA user_version = 3');
		database.close();
		await expect(open()).rejects.toMatchObject(
			refusal('was made by a later version of canhazgpu (its format is 3, but this version knows only 2)'),
		);
	});

	test('a directory', async () => {
		mkdirSync(file);
		await expect(open({create: true})).rejects.toMatchObject({code: 'store-unreachable'});
		expect(embeddedPoolExists(file)).toBe(false);
	});

	test('a path below a file', async () => {
		writeFileSync(path.join(directory, 'plain'), '');
		await expect(open({path: path.join(directory, 'plain/pool.db'), create: true})).rejects.toMatchObject({
			code: 'store-unreachable',
		});
	});

	test.each([
		[0x69_69, 'NFS'],
		[0xff_53_4d_42, 'CIFS'],
		[0xfe_53_4d_42, 'SMB'],
		[0x0b_d0_0b_d0, 'Lustre'],
		[0x47_50_46_53, 'GPFS'],
		[0x00_c3_64_00, 'Ceph'],
		[0x19_83_03_26, 'BeeGFS'],
	])('a network file system (%d, %s)', async (type, name) => {
		await makePool();
		await expect(open({typeOf: () => type})).rejects.toMatchObject({
			...refusal(`is on a network file system (${name}), where SQLite is not safe`),
			hint: 'Keep it on a disk of this machine, or use Redis: --store redis',
		});
	});

	test('a network file system before the store creates a file on it', async () => {
		await expect(open({create: true, typeOf: () => 0x69_69})).rejects.toMatchObject({code: 'store-unreachable'});
		expect(embeddedPoolExists(file)).toBe(false);
	});
});

test('the error for a full disk has a hint', () => {
	const database = new DatabaseSync(':memory:');
	database.exec('PRAGMA max_page_count = 3; CREATE TABLE x (y)');
	let error: unknown;
	try {
		database.prepare('INSERT INTO x VALUES (?)').run('x'.repeat(100_000));
	} catch (error_) {
		error = error_;
	}

	expect(explain(error, file)).toMatchObject({
		code: 'store-unreachable',
		message: `The GPU pool ${file} cannot be written: the disk is full`,
	});
	const bug = new TypeError('x');
	expect(explain(bug, file)).toBe(bug);
	database.close();
});

test('the error for a read-only disk suggests dmesg and not a second pool', () => {
	const error = Object.assign(new Error('EROFS: read-only file system'), {code: 'EROFS', syscall: 'access'});
	expect(explain(error, file)).toMatchObject({hint: expect.stringContaining('dmesg') as string});
});

test('explain describes every file system error as temporary, so that requests keep waiting', () => {
	for (const [name, number] of Object.entries(constants.errno)) {
		const error = Object.assign(new Error(`${name}: words of the system, stat '${file}'`), {
			code: name,
			errno: -number,
			syscall: 'stat',
		});
		const explained = explain(error, file);
		expect(explained, name).toMatchObject({code: 'store-unreachable', cause: error});
		expect((explained as Error).message, name).toMatch(/^The GPU pool .*pool\.db \S/v);
		expect(isTransient(explained), name).toBe(true);
	}

	const misuse = Object.assign(new TypeError('The "path" argument must be of type string'), {
		code: 'ERR_INVALID_ARG_TYPE',
	});
	expect(explain(misuse, file)).toBe(misuse);
});

test('a copy of the database file alone contains all committed data', async () => {
	const store = await openSqliteStore({path: file, create: true});
	await write(store, poolWrite(2), leaseWrite(0));
	const copy = path.join(directory, 'copy.db');
	copyFileSync(file, copy);
	const other = await openSqliteStore({path: copy, create: false});
	expect(stateOf(await other.read())).toEqual(stateOf(await store.read()));
	expect(await write(other, poolWrite(3))).toBe('done');
	await Promise.all([store.close(), other.close()]);
});

test('the next process applies the journal of a killed process', async () => {
	await makePool();
	const before = readFileSync(file);
	const other = new DatabaseSync(file);
	other.exec("PRAGMA locking_mode = EXCLUSIVE; INSERT INTO gpus VALUES (0, 'left in the journal')");
	const journal = readFileSync(`${file}-wal`);
	other.close();
	writeFileSync(file, before);
	writeFileSync(`${file}-wal`, journal);
	const store = await open();
	expect((await store.read()).gpus[0]).toMatchObject({kind: 'garbage', raw: 'left in the journal'});
	expect(await write(store, poolWrite(1))).toBe('done');
	await store.close();
});

describe('an open SQLite pool', () => {
	const listen = async () => {
		await makePool();
		const store = await open();
		onTestFinished(async () => store.close());
		const heard: string[] = [];
		await store.subscribe({
			changed(event) {
				heard.push(`changed ${event?.kind}`);
			},
			lost(reason) {
				heard.push(reason);
			},
			restored() {
				heard.push('restored');
			},
		});
		return {store, heard};
	};

	test('fails while its file is missing and works again when the file is back', async () => {
		const {store, heard} = await listen();
		const away = path.join(directory, 'away.db');
		renameSync(file, away);
		const gone = {code: 'store-unreachable', message: `The GPU pool ${file} was removed`};
		await expect(store.read()).rejects.toMatchObject(gone);
		await expect(write(store, poolWrite(3))).rejects.toMatchObject(gone);
		await eventually(() => heard.length > 0);
		renameSync(away, file);
		expect(await write(store, poolWrite(3))).toBe('done');
		await eventually(() => heard.includes('restored'));
		expect(heard.filter((word) => !word.startsWith('changed'))).toEqual([gone.message, 'restored']);
	});

	test('reads the new file if its file was replaced', async () => {
		const {store, heard} = await listen();
		renameSync(file, path.join(directory, 'away.db'));
		const other = await openSqliteStore({path: file, create: true});
		await write(other, poolWrite(7));
		await eventually(() => heard.includes('restored'));
		expect((await store.read()).pool?.gpuCount).toBe(7);
		expect(await write(store, poolWrite(8))).toBe('done');
		expect((await other.read()).pool?.gpuCount).toBe(8);
		await other.close();
	});

	slowTest('that is replaced by an older copy notifies listeners', async () => {
		const {store, heard} = await listen();
		await store.commit(plan({audit: [audit({time: start + 1})]}));
		const older = readFileSync(file);
		const lost = [audit({time: start + 2}), audit({time: start + 3})];
		await store.commit(plan({writes: [leaseWrite(0)], audit: lost, event: {kind: 'granted', gpus: [0]}}));
		await eventually(() => heard.includes('changed granted'));
		const last = (await store.audit()).at(-1)!;
		writeFileSync(file, older);
		await eventually(() => heard.includes('restored'));
		expect((await store.read()).gpus[0]?.kind).toBe('free');
		expect(await store.audit({afterId: last.id})).toEqual([]);
		await store.commit(plan({audit: [audit({time: start + 4})]}));
		expect(await store.audit({afterId: last.id})).toMatchObject([{time: start + 4}]);
	});

	test('reports the events of other processes one by one', async () => {
		const {store, heard} = await listen();
		const other = await open();
		for (let index = 0; index < 40; index++) {
			await write(other, leaseWrite(0, {note: String(index)}));
		}

		const kinds = ['granted', 'extended', 'released'] as const;
		for (const kind of kinds) {
			await other.commit(plan({writes: [leaseWrite(1)], event: {kind, gpus: [1]}}));
		}

		await eventually(() => heard.length >= kinds.length);
		expect(heard).toEqual(kinds.map((kind) => `changed ${kind}`));
		await Promise.all([other.close(), store.close()]);
	});
});

describe('a SQLite pool that another program has locked', () => {
	let other: DatabaseSync;
	beforeEach(async () => {
		await makePool();
		other = new DatabaseSync(file);
		other.exec('BEGIN IMMEDIATE');
	});
	afterEach(() => {
		if (other.isOpen) {
			other.close();
		}
	});

	test('makes requests wait without blocking the process', async () => {
		const opening = open();
		let ticks = 0;
		const timer = setInterval(() => {
			ticks++;
		}, 10);
		await sleep(400);
		other.exec('COMMIT');
		other.close();
		const store = await opening;
		expect(await write(store, poolWrite(3))).toBe('done');
		clearInterval(timer);
		expect(ticks).toBeGreaterThan(2);
		await store.close();
	});

	slowTest('leads to an error after five seconds', async () => {
		const {seconds, ownSeconds, error} = await timed(open());
		expect(error).toMatchObject({
			code: 'store-unreachable',
			message: `The GPU pool ${file} is locked by another program`,
			hint: `Try again. To see which has it open: fuser -v ${file}`,
		});
		expect(seconds).toBeGreaterThan(4);
		expect(ownSeconds).toBeLessThan(6);
		other.close();
		const store = await open();
		expect((await store.read()).pool?.gpuCount).toBe(2);
		await store.close();
	});
});

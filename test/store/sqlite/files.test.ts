/**
Files that are missing, foreign, damaged, replaced or locked.
*/
import {
	copyFileSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	writeFileSync,
} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {DatabaseSync} from 'node:sqlite';
import {setTimeout as sleep} from 'node:timers/promises';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {explain} from '../../../source/store/sqlite/failures.js';
import {embeddedPoolExists, openSqliteStore} from '../../../source/store/sqlite/index.js';
import {eventually} from '../../_helpers/eventually.js';
import {timed} from '../../_helpers/timed.js';
import {leaseWrite, poolWrite, write} from '../samples.js';

let directory: string;
let file: string;
beforeEach(() => {
	directory = mkdtempSync(path.join(tmpdir(), 'chg-files-'));
	file = path.join(directory, 'pool.db');
});
afterEach(() => {
	rmSync(directory, {recursive: true});
});

/** A pool that was used and closed. */
async function makePool(): Promise<void> {
	const store = await openSqliteStore({path: file, create: true});
	await write(store, poolWrite(2));
	await store.close();
}

const open = async (more: Record<string, unknown> = {}) => openSqliteStore({path: file, create: false, ...more});

test('looking for a pool makes nothing', async () => {
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
	expect(readdirSync(directory)).toEqual(['pool.db']);
	const store = await open();
	expect(store.kind).toBe('embedded');
	expect(store.location).toBe(file);
	expect((await store.read()).storeUptimeSeconds).toBe(Infinity);
	await store.close();
});

test('an empty file is a new pool', async () => {
	writeFileSync(file, '');
	const store = await open();
	expect((await store.read()).pool).toBeUndefined();
	await store.close();
});

describe('refused', () => {
	const refusal = (problem: string) => ({code: 'store-unreachable', message: `The GPU pool ${file} ${problem}`});

	test('a file that is no database', async () => {
		writeFileSync(file, 'not a database at all, just some text\n'.repeat(50));
		await expect(open()).rejects.toMatchObject(refusal('is not a database'));
		await expect(open({create: true})).rejects.toMatchObject(refusal('is not a database'));
	});

	test('a database that is damaged', async () => {
		await makePool();
		const bytes = readFileSync(file);
		writeFileSync(file, bytes.fill(0xaa, 1000));
		const reading = async () => {
			const store = await open();
			return store.read();
		};

		await expect(reading()).rejects.toMatchObject(refusal('is damaged'));
	});

	test('the database of another program, which is left alone', async () => {
		const database = new DatabaseSync(file);
		database.exec('CREATE TABLE cake (recipe)');
		await expect(open({create: true})).rejects.toMatchObject(refusal('is the database of another program'));
		expect(database.prepare('PRAGMA journal_mode').get()).toEqual({journal_mode: 'delete'});
		database.close();
	});

	test('one from a later version', async () => {
		await makePool();
		const database = new DatabaseSync(file);
		database.exec('PRAGMA user_version = 3');
		database.close();
		await expect(open()).rejects.toMatchObject(
			refusal('was made by a later version of canhazgpu (its form is 3, this version knows 2)'),
		);
	});

	test('a directory', async () => {
		mkdirSync(file);
		await expect(open({create: true})).rejects.toMatchObject({code: 'store-unreachable'});
		expect(embeddedPoolExists(file)).toBe(false);
	});

	test('a place below a file', async () => {
		writeFileSync(path.join(directory, 'plain'), '');
		await expect(open({path: path.join(directory, 'plain/pool.db'), create: true})).rejects.toMatchObject({
			code: 'store-unreachable',
		});
	});

	test.each([0x69_69, 0xff_53_4d_42, 0xfe_53_4d_42])('a network file system (%d)', async (type) => {
		await makePool();
		await expect(open({typeOf: () => type})).rejects.toMatchObject({
			...refusal('is on a network file system, where SQLite is not safe'),
			hint: 'Keep it on a disk of this machine, or use Redis: --store redis',
		});
	});

	test('a network file system is left as it was: no file in it looks like a pool', async () => {
		await expect(open({create: true, typeOf: () => 0x69_69})).rejects.toMatchObject({code: 'store-unreachable'});
		expect(embeddedPoolExists(file)).toBe(false);
	});
});

test('a full disk is said', () => {
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

test('without its journal it opens as it was before', async () => {
	const store = await openSqliteStore({path: file, create: true});
	await write(store, poolWrite(2), leaseWrite(0));
	const copy = path.join(directory, 'copy.db');
	copyFileSync(file, copy);
	expect(existsSync(`${file}-wal`)).toBe(true);
	const other = await openSqliteStore({path: copy, create: false});
	expect([undefined, 2]).toContain((await other.read()).pool?.gpuCount);
	expect(await write(other, poolWrite(3))).toBe('done');
	await Promise.all([store.close(), other.close()]);
});

test('removed or replaced while open, it is an error for all, until it is back', async () => {
	await makePool();
	const store = await open();
	const heard: string[] = [];
	await store.subscribe({
		changed() {
			heard.push('changed');
		},
		lost(reason) {
			heard.push(reason);
		},
		restored() {
			heard.push('restored');
		},
	});
	const away = path.join(directory, 'away.db');
	renameSync(file, away);
	const gone = {code: 'store-unreachable', message: `The GPU pool ${file} was removed or replaced`};
	await expect(store.read()).rejects.toMatchObject(gone);
	await expect(write(store, poolWrite(3))).rejects.toMatchObject(gone);
	await eventually(() => heard.length > 0);
	writeFileSync(file, '');
	await expect(write(store, poolWrite(3))).rejects.toMatchObject(gone);
	renameSync(away, file);
	expect(await write(store, poolWrite(3))).toBe('done');
	await eventually(() => heard.includes('restored'));
	expect(heard).toEqual([gone.message, 'restored']);
	await store.close();
});

describe('locked by another program', () => {
	let other: DatabaseSync;
	beforeEach(async () => {
		await makePool();
		other = new DatabaseSync(file);
		other.exec('BEGIN IMMEDIATE');
	});
	afterEach(() => {
		other.close();
	});

	test('reading goes on, writing waits, and the process does not stand still', async () => {
		const store = await open();
		expect((await store.read()).pool?.gpuCount).toBe(2);
		const writing = write(store, poolWrite(3));
		let ticks = 0;
		const timer = setInterval(() => {
			ticks++;
		}, 10);
		await sleep(400);
		other.exec('COMMIT');
		expect(await writing).toBe('done');
		clearInterval(timer);
		expect(ticks).toBeGreaterThan(10);
		await store.close();
	});

	test('for too long, it is said', async () => {
		const store = await open();
		const {seconds, ownSeconds, error} = await timed(write(store, poolWrite(3)));
		expect(error).toMatchObject({
			code: 'store-unreachable',
			message: `The GPU pool ${file} is locked by another program`,
			hint: `Try again. To see which has it open: fuser -v ${file}`,
		});
		expect(seconds).toBeGreaterThan(4);
		expect(ownSeconds).toBeLessThan(6);
		other.exec('ROLLBACK');
		expect((await store.read()).pool?.gpuCount).toBe(2);
		await store.close();
	});
});

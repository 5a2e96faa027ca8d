/** The usage history of the SQLite store, which is read page by page. */
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {DatabaseSync} from 'node:sqlite';
import {beforeEach, expect, onTestFinished, test} from 'vitest';
import {loadHours} from '../../../source/core/model/ports.js';
import {encodeUsage} from '../../../source/store/records/index.js';
import {openSqliteStore} from '../../../source/store/sqlite/index.js';
import {poolWrite, write} from '../samples.js';

/** More records than fit on two pages. */
const count = 11_000;
const firstEnd = 1_700_000_000;

let file: string;
const open = async (create = false) => openSqliteStore({path: file, create});

/** Returns the usage record with this number, which is its start time. Ten records end in the same second. */
const raw = (number: number, {note, endTime}: {readonly note?: string; readonly endTime?: number} = {}): string =>
	encodeUsage({
		user: 'ada',
		gpuId: number % 8,
		startTime: number,
		endTime: endTime ?? firstEnd + Math.floor(number / 10),
		durationSeconds: 1,
		reservationType: 'run',
		leaseId: String(number),
		note,
	});

function insert(rows: ReadonlyArray<readonly [second: number, raw: string]>): void {
	const database = new DatabaseSync(file);
	const statement = database.prepare('INSERT INTO history (end_second, raw, user) VALUES (?, ?, ?)');
	database.exec('BEGIN');
	for (const [second, text] of rows) {
		statement.run(second, text, 'ada');
	}

	database.exec('COMMIT');
	database.close();
}

async function numbers(from = 0, to = 4e9): Promise<readonly number[]> {
	const store = await open();
	const records = await Array.fromAsync(store.history(from, to));
	await store.close();
	expect(records.map(({endTime}) => endTime)).toEqual(records.map(({endTime}) => endTime).toSorted((a, b) => a - b));
	return records.map(({startTime}) => startTime).toSorted((a, b) => a - b);
}

const range = (from: number, to: number): readonly number[] => Array.from({length: to - from}, (_, at) => from + at);

beforeEach(async () => {
	const directory = mkdtempSync(path.join(tmpdir(), 'chg-history-'));
	onTestFinished(() => {
		rmSync(directory, {recursive: true});
	});
	file = path.join(directory, 'pool.sqlite');
	const store = await open(true);
	await write(store, poolWrite(8));
	await store.close();
});

test('history returns every record once and in order, across pages', async () => {
	insert(range(0, count).map((number) => [firstEnd + Math.floor(number / 10), raw(number)]));
	expect(await numbers()).toEqual(range(0, count));
	expect(await numbers(firstEnd + 30, firstEnd + 41)).toEqual(range(300, 420));
	expect(await numbers(firstEnd + count, 4e9)).toEqual([]);
});

test('history returns all records of a second that fills more than one page', async () => {
	insert(range(0, count).map((number) => [firstEnd, raw(number, {endTime: firstEnd})]));
	expect(await numbers()).toEqual(range(0, count));
});

test('history ends after a last page that is full', async () => {
	insert(range(0, 5000).map((number) => [firstEnd + Math.floor(number / 10), raw(number)]));
	expect(await numbers()).toEqual(range(0, 5000));
});

test('history returns records with notes longer than the current limit', async () => {
	const long = new Set([0, 5000, 7500, count - 1]);
	insert(
		range(0, count).map((number) => [
			firstEnd + Math.floor(number / 10),
			raw(number, long.has(number) ? {note: 'ü'.repeat(60_000)} : {}),
		]),
	);
	expect(await numbers()).toEqual(range(0, count));
});

test('history skips invalid records and returns all valid records', async () => {
	insert([
		...range(0, 100).map((number) => [firstEnd + Math.floor(number / 10), raw(number)] as const),
		[firstEnd + 1, '\n\n{"user":\n'],
		[firstEnd + 3, ''],
		[firstEnd + 4, `${raw(3)} and more`],
	]);
	expect(await numbers()).toEqual(range(0, 100));
});

test.each([
	['a line break', `~\n${raw(4991)} and more`],
	['a line break at its end', '~\n'],
	['a long text', `~${'x'.repeat(60_000)}`],
])("history continues after a page that ends with another program's record with %s", async (_, foreign) => {
	const rows = range(0, count).map((number) => [firstEnd + Math.floor(number / 10), raw(number)] as const);
	// This record is the last one of its second and of the first page.
	insert([...rows.filter(([, text]) => text !== raw(4999)), [firstEnd + 499, foreign]]);
	expect(await numbers()).toEqual(range(0, count).filter((number) => number !== 4999));
});

test('a new line of load history deletes the hours that are no longer kept', async () => {
	const store = await open();
	const hour = 491_234;
	const old = hour - loadHours;
	await store.loads.append(old, 'old');
	await store.loads.append(old + 1, 'kept');
	await store.loads.append(hour, 'new');
	expect(await store.loads.read(old, old + 1)).toEqual(new Map([[old + 1, 'kept\n']]));
	await store.close();
});

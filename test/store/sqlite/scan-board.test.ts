/** The file next to the SQLite pool in which viewers share their scans. */
import {existsSync, mkdtempSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {eventually} from '../../_helpers/eventually.js';
import {openSqliteStore} from '../../../source/store/sqlite/index.js';

const ada = {owner: 'ada', intervalMs: 2000};

async function openPool(fileMode = 0o660) {
	const directory = mkdtempSync(path.join(tmpdir(), 'chg-board-'));
	const store = await openSqliteStore({path: path.join(directory, 'pool.sqlite'), create: true, fileMode});
	onTestFinished(async () => {
		await store.close();
		rmSync(directory, {recursive: true});
	});
	return {store, file: path.join(directory, 'scans.sqlite')};
}

test.each([0o600, 0o660, 0o666])(
	'the file of shared scans has the same mode as the SQLite pool (%o decimal)',
	async (mode) => {
		const {store, file} = await openPool(mode);
		expect(await store.scans.claim(ada, 10)).toBe(true);
		expect(statSync(file).mode % 0o1000).toBe(mode);
	},
);

test('reading shared scans creates no file in a private pool', async () => {
	const {store, file} = await openPool(0o600);
	expect(await store.scans.latest()).toBeUndefined();
	expect(existsSync(file)).toBe(false);
});

test('the file of shared scans is created again if it was removed', async () => {
	const {store, file} = await openPool();
	await store.scans.claim(ada, 10);
	rmSync(file);
	await expect(store.scans.claim(ada, 10)).rejects.toMatchObject({code: 'store-unreachable'});
	expect(await store.scans.claim(ada, 10)).toBe(true);
	for (const suffix of ['', '-wal', '-shm']) {
		rmSync(`${file}${suffix}`, {force: true});
	}

	writeFileSync(file, 'x'.repeat(4096));
	await expect(store.scans.claim(ada, 10)).rejects.toMatchObject({code: 'store-unreachable'});
	await expect(store.scans.claim(ada, 10)).rejects.toMatchObject({code: 'store-unreachable'});
	expect((await store.read()).gpus).toEqual([]);
});

test('a listener still receives shared scans after their file was created again', async () => {
	const {store, file} = await openPool();
	let heard = 0;
	await store.scans.subscribe(() => {
		heard++;
	});
	await store.scans.claim(ada, 10);
	rmSync(file);
	await expect(store.scans.claim(ada, 10)).rejects.toMatchObject({code: 'store-unreachable'});
	expect(await store.scans.claim(ada, 10)).toBe(true);
	heard = 0;
	await store.scans.post('ada', 'a scan');
	await eventually(() => heard > 0);
});

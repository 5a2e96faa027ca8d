import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {DatabaseSync} from 'node:sqlite';
import {expect, onTestFinished, test} from 'vitest';
import {openSqliteStore} from '../../../source/store/sqlite/index.js';
import {audit, leaseWrite, plan, poolWrite, stateOf, write} from '../samples.js';

test('the SQLite store opens a pool of the first version, which has no audit log', async () => {
	const directory = mkdtempSync(path.join(tmpdir(), 'chg-versions-'));
	onTestFinished(() => {
		rmSync(directory, {recursive: true});
	});
	const file = path.join(directory, 'pool.db');
	const open = async () => openSqliteStore({path: file, create: false});
	const first = await openSqliteStore({path: file, create: true});
	await write(first, poolWrite(2), leaseWrite(0));
	const before = stateOf(await first.read());
	await first.close();
	const database = new DatabaseSync(file);
	database.exec('DROP TABLE trail; PRAGMA user_version = 1');
	database.close();
	const stores = await Promise.all([open(), open(), open()]);
	for (const store of stores) {
		expect(stateOf(await store.read()).gpus[0]).toEqual(before.gpus[0]);
		expect(await store.commit(plan({writes: [leaseWrite(1)], audit: [audit()]}))).toBe('done');
	}

	expect(await stores[0].audit()).toHaveLength(3);
	await Promise.all(stores.map(async (store) => store.close()));
});

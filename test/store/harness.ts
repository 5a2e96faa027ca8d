/** Access to the raw data of every kind of store, for the contract suite. */
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {DatabaseSync} from 'node:sqlite';
import {Redis} from 'ioredis';
import type {Store} from '../../source/core/model/ports.js';
import {createMemoryStore} from '../../source/store/memory/index.js';
import {openRedisStore} from '../../source/store/redis/index.js';
import {openSqliteStore} from '../../source/store/sqlite/index.js';
import {startRedis} from '../_helpers/store/redis-server.js';

export type Harness = {
	/** Opens the pool again, as another process would. */
	readonly open: () => Promise<Store>;
	/** Stores a string as the record of a GPU. */
	readonly setGpu: (index: number, raw: string) => Promise<void>;
	/** Stores a string as a queue entry. */
	readonly setEntry: (id: string, raw: string) => Promise<void>;
	/** Stores strings as the properties of the pool. */
	readonly setPool: (gpuCount: string, provider?: string, machine?: string) => Promise<void>;
	/** Stores a string as the drains, the alerts or the policy. */
	readonly setValue: (name: 'drains' | 'alerts' | 'policy', raw: string) => Promise<void>;
	/** Appends a string to the audit log. */
	readonly addAudit: (raw: string) => Promise<void>;
	/** Stores a text as the shared scan. */
	readonly setScan: (text: string) => Promise<void>;
	/** Stores a text as the load history of an hour. */
	readonly setLoads: (hour: number, text: string) => Promise<void>;
	/** Empties the store. */
	readonly clear: () => Promise<void>;
	readonly close: () => Promise<void>;
};

async function memoryHarness(): Promise<Harness> {
	const store = createMemoryStore();
	const {state} = store;
	return {
		open: async () => store,
		async setGpu(index, raw) {
			state.gpus.set(index, raw);
		},
		async setEntry(id, raw) {
			state.entries.set(id, raw);
		},
		async setPool(gpuCount, provider, machine) {
			state.pool = {gpuCount, provider, machine};
		},
		async setValue(name, raw) {
			state[name] = raw;
		},
		async addAudit(raw) {
			state.auditLog.push({id: (state.auditLog.at(-1)?.id ?? 0) + 1, raw});
		},
		async setScan(text) {
			store.scans.spoil(text);
		},
		async setLoads(hour, text) {
			store.loads.hours.set(hour, text);
		},
		async clear() {
			store.loads.hours.clear();
			state.pool = {gpuCount: undefined, provider: undefined, machine: undefined};
			state.gpus.clear();
			state.entries.clear();
			state.queue.length = 0;
			state.history.length = 0;
			state.auditLog.length = 0;
			state.drains = undefined;
			state.alerts = undefined;
			state.policy = undefined;
			state.jobs = undefined;
			state.jobRecords.clear();
			state.revision = undefined;
			state.scores.clear();
			state.changes.clear();
			store.scans.clear();
		},
		close: async () => store.close(),
	};
}

export async function sqliteHarness(): Promise<Harness> {
	const directory = mkdtempSync(path.join(tmpdir(), 'chg-sqlite-'));
	const file = path.join(directory, 'pool.db');
	const first = await openSqliteStore({path: file, create: true});
	const stores: Store[] = [first];
	// The first reader creates the file for shared scans.
	await first.scans.claim({owner: 'nobody', intervalMs: 1}, 0);
	/** Opens the file like another program, and closes it again, because only one process can use it at a time. */
	const change = (name: string, work: (database: DatabaseSync) => void) => {
		const database = new DatabaseSync(path.join(directory, name), {timeout: 5000});
		work(database);
		database.close();
	};

	const changePool = (sql: string, ...values: Array<string | number>) => {
		change('pool.db', (database) => {
			database.prepare(sql).run(...values);
		});
	};

	return {
		async open() {
			const store = await openSqliteStore({path: file, create: false});
			stores.push(store);
			return store;
		},
		async setGpu(index, raw) {
			changePool('INSERT OR REPLACE INTO gpus (gpu, raw) VALUES (?, ?)', index, raw);
		},
		async setEntry(id, raw) {
			changePool('UPDATE queue SET raw = ? WHERE id = ?', raw, id);
		},
		async setPool(...values) {
			changePool('DELETE FROM pool');
			for (const [position, name] of ['gpuCount', 'provider', 'machine'].entries()) {
				if (values[position] !== undefined) {
					changePool('INSERT INTO pool (name, raw) VALUES (?, ?)', name, values[position]);
				}
			}
		},
		async setValue(name, raw) {
			changePool('INSERT OR REPLACE INTO pool (name, raw) VALUES (?, ?)', name === 'alerts' ? 'notices' : name, raw);
		},
		async addAudit(raw) {
			changePool('INSERT INTO trail (raw) VALUES (?)', raw);
		},
		async setScan(text) {
			change('scans.sqlite', (board) => {
				board.prepare('INSERT OR REPLACE INTO scan (id, time, text) VALUES (0, ?, ?)').run(Date.now() / 1000, text);
			});
		},
		async setLoads(hour, text) {
			changePool('INSERT OR REPLACE INTO pool (name, raw) VALUES (?, ?)', `load:${hour}`, text);
		},
		async clear() {
			change('pool.db', (database) => {
				database.exec(
					'DELETE FROM pool; DELETE FROM gpus; DELETE FROM queue; DELETE FROM history; DELETE FROM trail; DELETE FROM changes',
				);
			});
			change('scans.sqlite', (board) => {
				board.exec('DELETE FROM scanner; DELETE FROM scan');
			});
		},
		async close() {
			await Promise.all(stores.map(async (store) => store.close()));
			rmSync(directory, {recursive: true});
		},
	};
}

export async function redisHarness(): Promise<Harness> {
	const server = await startRedis();
	const client = new Redis({host: server.host, port: server.port});
	const stores: Store[] = [];
	return {
		async open() {
			const store = await openRedisStore({host: server.host, port: server.port, db: 0, keepReconnecting: false});
			stores.push(store);
			return store;
		},
		async setGpu(index, raw) {
			await client.set(`canhazgpu:gpu:${index}`, raw);
		},
		async setEntry(id, raw) {
			await client.set(`canhazgpu:queue:entry:${id}`, raw);
		},
		async setPool(gpuCount, provider, machine) {
			await client.del('canhazgpu:provider', 'canhazgpu:machine');
			await client.set('canhazgpu:gpu_count', gpuCount);
			if (provider !== undefined) {
				await client.set('canhazgpu:provider', provider);
			}

			if (machine !== undefined) {
				await client.set('canhazgpu:machine', machine);
			}
		},
		async setValue(name, raw) {
			const keys = {drains: 'canhazgpu:drain', alerts: 'canhazgpu:notices', policy: 'canhazgpu:policy'};
			await client.set(keys[name], raw);
		},
		async addAudit(raw) {
			await client.xadd('canhazgpu:trail', '*', 'record', raw);
		},
		async setScan(text) {
			await client.set('canhazgpu:scan', `${Math.floor(Date.now() / 1000)} ${text}`);
		},
		async setLoads(hour, text) {
			await client.set(`canhazgpu:load:${hour}`, text);
		},
		async clear() {
			await client.flushall();
		},
		async close() {
			await Promise.all(stores.map(async (store) => store.close()));
			client.disconnect();
			await server.stop();
		},
	};
}

/** Every kind of store that keeps a pool itself. The Slurm store only reads. */
export const harnesses: Readonly<Record<Exclude<Store['kind'], 'slurm'>, () => Promise<Harness>>> = {
	memory: memoryHarness,
	embedded: sqliteHarness,
	redis: redisHarness,
};

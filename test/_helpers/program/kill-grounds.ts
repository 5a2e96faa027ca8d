/** The stores of the kill tests. A process or its server is killed at a chosen point. */
import {existsSync, mkdirSync, statSync} from 'node:fs';
import path from 'node:path';
import {Redis} from 'ioredis';
import {expect, onTestFinished} from 'vitest';
import type {Store} from '../../../source/core/model/ports.js';
import {openRedisStore} from '../../../source/store/redis/index.js';
import {writePoolRecord} from '../../../source/store/pool-records.js';
import {openSqliteStore} from '../../../source/store/sqlite/index.js';
import {openProxy} from '../store/proxy.js';
import {startRedis} from '../store/redis-server.js';
import {createBox, type Box} from './cli.js';
import {start, type Started} from './processes.js';

/** A kind of store, which creates one pool after another. */
export type Ground = {
	/** Creates an empty box. */
	readonly fresh: () => Promise<Box>;
	readonly open: (box: Box) => Promise<Store>;
	/** Whether the box knows the location of a pool. */
	readonly exists: (box: Box) => boolean;
	/** Records the location of the pool like `admin`, if the box does not know it otherwise. */
	readonly announce?: (box: Box) => void;
	/** Checks that every account can use the pool after a complete `admin`. */
	readonly checkSetUp?: (box: Box) => void;
	/** Starts a process, and kills it or its server at point number `at`. */
	readonly startKilled: (box: Box, words: readonly string[], at: number) => Started;
};

/** What is killed. A killed server is restarted, with its data or empty. */
type Killed = 'process' | 'server' | 'server and data';

/** A Redis behind a proxy that stops at a chosen message in either direction. */
export async function redisGround(
	killed: Killed = 'process',
): Promise<Ground & {readonly kills: () => number; readonly port: number}> {
	const server = await startRedis({isDurable: killed === 'server'});
	const proxy = await openProxy(server.port);
	const client = new Redis(server.port, {retryStrategy: () => 20});
	client.on('error', () => undefined);
	const store = await openRedisStore({host: server.host, port: server.port, db: 0, keepReconnecting: true});
	let crash = Promise.resolve();
	let kills = 0;
	onTestFinished(async () => {
		client.disconnect();
		await Promise.all([store.close(), proxy.close()]);
		await server.stop();
	});
	const crashServer = async (): Promise<void> => {
		await server.kill();
		proxy.cut();
		await server.restart();
	};

	return {
		async fresh() {
			await client.flushall();
			return createBox({CANHAZGPU_REDIS_HOST: '127.0.0.1', CANHAZGPU_REDIS_PORT: String(server.port)});
		},
		kills: () => kills,
		port: server.port,
		exists: () => true,
		// All openings share one store.
		open: async () => ({...store, close: async () => undefined}),
		startKilled(box, words, at) {
			proxy.stopAt(at, () => {
				kills++;
				if (killed === 'process') {
					started.kill('SIGKILL');
				} else {
					crash = crashServer();
				}
			});
			const started = start(box, words, {CANHAZGPU_REDIS_PORT: String(proxy.port)});
			const end = async () => {
				const ended = await started.ended;
				await crash;
				proxy.cut();
				return ended;
			};

			return {...started, ended: end()};
		},
	};
}

const databaseOf = ({poolDirectory}: Box): string => path.join(poolDirectory, 'pool.sqlite');

const recordOf = ({poolDirectory}: Box): string => path.join(poolDirectory, 'pool.json');

const killer = path.join(import.meta.dirname, 'kill-at.js');

/** SQLite databases. The process is killed between two calls to SQLite or the file system. */
export const embeddedGround: Ground = {
	async fresh() {
		const box = createBox({CANHAZGPU_STORE: 'embedded'});
		mkdirSync(box.poolDirectory);
		return box;
	},
	announce(box) {
		writePoolRecord(
			recordOf(box),
			{store: 'embedded', directory: box.poolDirectory},
			{directoryMode: 0o755, fileMode: 0o644},
		);
	},
	open: async (box) => openSqliteStore({path: databaseOf(box), create: true}),
	exists: (box) => existsSync(recordOf(box)),
	checkSetUp({poolDirectory}) {
		const modes = ['', 'pool.sqlite'].map((name) => statSync(path.join(poolDirectory, name)).mode % 0o1000);
		expect(modes).toEqual([0o755, 0o666]);
	},
	startKilled: (box, words, at) =>
		start(box, words, {NODE_OPTIONS: `--import=${killer}`, CANHAZGPU_TEST_KILL_AT: String(at)}),
};

/** A redis-server for one test file, with a store and a client. It is emptied before each test. */
import {Redis} from 'ioredis';
import {afterAll, beforeAll, beforeEach} from 'vitest';
import type {Store} from '../../../source/core/model/ports.js';
import {openRedisStore, type RedisStoreOptions} from '../../../source/store/redis/index.js';
import {startRedis} from '../../_helpers/store/redis-server.js';

type EmptyRedis = {
	/** The connection options, for opening another store. */
	readonly options: RedisStoreOptions;
	readonly client: Redis;
	readonly store: Store;
};

/** Starts the server. The fields of the result are set when the first `beforeAll` runs. */
export function emptyRedis(): EmptyRedis {
	const redis: {-readonly [Key in keyof EmptyRedis]?: EmptyRedis[Key]} = {};
	let stop: () => Promise<void>;
	beforeAll(async () => {
		const server = await startRedis();
		stop = async () => server.stop();
		redis.options = {host: server.host, port: server.port, db: 0, keepReconnecting: false};
		redis.client = new Redis({port: server.port});
		redis.store = await openRedisStore(redis.options);
	});
	beforeEach(async () => {
		await redis.client!.flushall();
	});
	afterAll(async () => {
		await redis.store!.close();
		redis.client!.disconnect();
		await stop();
	});
	return redis as EmptyRedis;
}

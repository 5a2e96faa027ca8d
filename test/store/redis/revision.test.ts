/** How readers notice that a Redis server came back without its newest commits. */
import {Redis} from 'ioredis';
import {expect, onTestFinished, test} from 'vitest';
import type {Store} from '../../../source/core/model/ports.js';
import {openRedisStore} from '../../../source/store/redis/index.js';
import {startRedis} from '../../_helpers/store/redis-server.js';
import {join, poolWrite, write} from '../samples.js';

test('each run of a Redis server has its own id and continues from the revision on its disk', async () => {
	const server = await startRedis();
	onTestFinished(async () => server.stop());
	const store: Store = await openRedisStore({host: server.host, port: server.port, db: 0, keepReconnecting: true});
	onTestFinished(async () => store.close());
	const save = async () => {
		const client = new Redis(server.port);
		await client.save();
		client.disconnect();
	};

	// Reads first, because a commit expects the revision that was read.
	await store.read();
	await write(store, poolWrite(1));
	await write(store, join('a'));
	await save();
	await write(store, join('b'));
	const {revision: first} = await store.read();
	expect(first).toMatchObject({count: 3, base: 0});

	// The restart loses the third commit.
	await server.restart();
	const {revision: second} = await store.read();
	expect(second).toMatchObject({count: 2, base: 2, since: undefined});
	expect(second.run).not.toBe(first.run);
	await write(store, join('c'));
	await write(store, join('d'));
	expect((await store.read()).revision).toMatchObject({count: 4, base: 2, run: second.run});

	// A client that has seen four commits finds all of them again.
	await save();
	await server.restart();
	expect((await store.read()).revision).toMatchObject({count: 4, base: 4});
	await write(store, join('e'));
	expect((await store.read()).revision).toMatchObject({count: 5, base: 4});

	const client = new Redis(server.port);
	await client.flushall();
	client.disconnect();
	expect((await store.read()).revision).toMatchObject({count: 0, base: 0});
});

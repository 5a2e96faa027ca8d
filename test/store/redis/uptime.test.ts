import {expect, onTestFinished, test} from 'vitest';
import {openRedisStore} from '../../../source/store/redis/index.js';
import {eventually} from '../../_helpers/eventually.js';
import {startRedis} from '../../_helpers/store/redis-server.js';
import {poolWrite, write} from '../samples.js';

test('storeUptimeSeconds never exceeds the true uptime of the server', async () => {
	const server = await startRedis();
	onTestFinished(async () => server.stop());
	for (let round = 0; round < 3; round++) {
		// The server starts late in one second and is asked early in the next one. Its uptime in whole seconds is least exact then.
		await eventually(() => Date.now() % 1000 > 800);
		const before = Date.now() / 1000;
		await server.restart();
		await eventually(() => Date.now() % 1000 > 150 && Date.now() % 1000 < 600);
		const store = await openRedisStore({host: server.host, port: server.port, db: 0, keepReconnecting: false});
		const {now, storeUptimeSeconds} = await store.read();
		expect(now - storeUptimeSeconds).toBeGreaterThan(before);
		await store.close();
	}
});

test('a store works again after a restart of a server that has no INFO', async () => {
	const server = await startRedis({settings: ['--rename-command', 'INFO', ''], isDurable: true});
	onTestFinished(async () => server.stop());
	const store = await openRedisStore({host: server.host, port: server.port, db: 0, keepReconnecting: true});
	onTestFinished(async () => store.close());
	expect(await write(store, poolWrite(2))).toBe('done');
	expect(await store.inspect?.()).toMatchObject({version: undefined, isDurable: undefined, evicts: undefined});
	await server.restart();
	expect((await store.read()).pool?.gpuCount).toBe(2);
	expect(await write(store, poolWrite(3))).toBe('done');
});

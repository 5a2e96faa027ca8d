import {Redis} from 'ioredis';
import {describe, expect, test} from 'vitest';
import type {Store} from '../../../source/core/model/ports.js';
import {openRedisStore} from '../../../source/store/redis/index.js';
import {startRedis} from '../../_helpers/store/redis-server.js';
import {audit, collect, leaseWrite, plan, poolWrite, usage} from '../samples.js';

const secret = 'very-secret-4711';

describe('an unavailable audit log in Redis', () => {
	const recent = Math.floor(Date.now() / 1000) - 60;
	const grant = plan({
		writes: [poolWrite(2), leaseWrite(0)],
		usage: [usage({endTime: recent})],
		audit: [audit(), audit()],
		grants: true,
	});
	const checkGrant = async (store: Store, problem: Record<string, unknown>) => {
		expect(await store.commit(grant)).toBe('done');
		expect((await store.read()).gpus[0]?.kind).toBe('leased');
		expect(await collect(store.history(0, recent))).toHaveLength(1);
		await expect(store.audit()).rejects.toMatchObject(problem);
		await expect(store.audit({newest: 5})).rejects.toMatchObject(problem);
		await store.close();
	};

	test('does not prevent grants on a Redis version without streams', async () => {
		const server = await startRedis({
			settings: ['XADD', 'XRANGE', 'XREVRANGE'].flatMap((name) => ['--rename-command', name, '']),
		});
		const store = await openRedisStore({host: server.host, port: server.port, db: 0, keepReconnecting: false});
		await checkGrant(store, {
			code: 'store-refused',
			message: `Redis at 127.0.0.1:${server.port} lacks a command that canhazgpu needs`,
			hint: 'Use Redis 5 or later, without rename-command in its configuration.',
		});
		await server.stop();
	});

	test('does not prevent grants if the account may not use streams or the key has the wrong type', async () => {
		const server = await startRedis();
		const client = new Redis({port: server.port});
		await client.call('ACL', 'SETUSER', 'limited', 'on', `>${secret}`, '~*', '&*', '+@all', '-@stream');
		const address = {host: server.host, port: server.port, db: 0, keepReconnecting: false};
		await checkGrant(await openRedisStore({...address, username: 'limited', password: secret}), {
			code: 'store-refused',
			message: `Redis at 127.0.0.1:${server.port} does not give this account all the permissions that canhazgpu needs`,
		});
		await client.flushall();
		await client.set('canhazgpu:trail', 'something else');
		await checkGrant(await openRedisStore(address), {
			code: 'pool-garbage',
			message: 'The GPU pool is damaged: canhazgpu:trail is a key of another type, not a stream',
		});
		expect(await client.get('canhazgpu:trail')).toBe('something else');
		client.disconnect();
		await server.stop();
	});
});

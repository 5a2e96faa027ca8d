import {once} from 'node:events';
import {createServer, type AddressInfo} from 'node:net';
import {expect, test} from 'vitest';
import {refusesConnections} from '../../source/host/connections.js';

test('refusesConnections is true for a port only while nothing listens on it', async () => {
	const server = createServer().listen(0, '127.0.0.1');
	await once(server, 'listening');
	const {port} = server.address() as AddressInfo;
	expect(await refusesConnections('127.0.0.1', port)).toBe(false);
	server.close();
	await once(server, 'close');
	expect(await refusesConnections('127.0.0.1', port)).toBe(true);
	expect(await refusesConnections('localhost', port)).toBe(true);
});

test('refusesConnections is false for a host name without an address', async () => {
	expect(await refusesConnections('no-such-host.invalid', 6379)).toBe(false);
});

import {once} from 'node:events';
import {createServer, type AddressInfo, type Server, type Socket} from 'node:net';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {openRedisStore} from '../../../source/store/redis/index.js';
import {freePort} from '../../_helpers/store/redis-server.js';
import {timed} from '../../_helpers/program/timed.js';

const host = '127.0.0.1';

describe('opening the Redis store', () => {
	const openAndRead = async (port: number, more: Record<string, unknown> = {}) => {
		const store = await openRedisStore({host, port, db: 0, keepReconnecting: false, ...more});
		try {
			await store.read();
		} finally {
			await store.close();
		}
	};

	test.each([false, true])(
		'fails at once if the connection is refused (keepReconnecting: %j)',
		async (keepReconnecting) => {
			const port = await freePort();
			const {ownSeconds, error} = await timed(openAndRead(port, {keepReconnecting}));
			expect(error).toMatchObject({
				code: 'store-unreachable',
				exitCode: 4,
				message: `Cannot reach Redis at 127.0.0.1:${port}: connection refused`,
				hint: 'Is redis-server running there? Name another with --redis-host and --redis-port.',
			});
			expect(ownSeconds).toBeLessThan(1);
		},
	);

	test('fails within 6 s for an unknown host, and names a missing socket', async () => {
		const unknown = await timed(openAndRead(6379, {host: 'no-such-host.invalid'}));
		expect(unknown.error).toMatchObject({code: 'store-unreachable'});
		expect(unknown.ownSeconds).toBeLessThan(6);
		const {error} = await timed(openAndRead(0, {socket: '/nonexistent/redis.sock'}));
		expect(error).toMatchObject({
			code: 'store-unreachable',
			message: 'Cannot reach Redis at /nonexistent/redis.sock: there is no such socket',
		});
	});

	describe('at the address of another kind of server', () => {
		let server: Server;
		let port: number;
		const sockets = new Set<Socket>();
		beforeEach(async () => {
			server = createServer((socket) => {
				sockets.add(socket);
			}).listen(0, host);
			await once(server, 'listening');
			({port} = server.address() as AddressInfo);
		});
		afterEach(() => {
			for (const socket of sockets) {
				socket.destroy();
			}

			sockets.clear();
			server.close();
		});

		test('fails within 6 s if the server accepts the connection but never answers', async () => {
			const ways = [{}, {password: 'x'}, {db: 3}, {password: 'x', db: 3, keepReconnecting: true}];
			for (const {ownSeconds, error} of await Promise.all(ways.map(async (way) => timed(openAndRead(port, way))))) {
				expect(error).toMatchObject({
					code: 'store-unreachable',
					message: `Cannot reach Redis at 127.0.0.1:${port}: no answer in time`,
				});
				expect(ownSeconds).toBeLessThan(6);
			}
		});

		test('reports a server that is not Redis', async () => {
			server.on('connection', (socket) => {
				socket.write('HTTP/1.1 400 Bad Request\r\n\r\n');
			});
			const {ownSeconds, error} = await timed(openAndRead(port));
			expect(error).toMatchObject({
				code: 'store-unreachable',
				message: `Cannot reach Redis at 127.0.0.1:${port}: the server there is not Redis`,
			});
			expect(ownSeconds).toBeLessThan(6);
		});

		test('fails if the server closes the connection at once', async () => {
			server.on('connection', (socket) => {
				socket.destroy();
			});
			const {ownSeconds, error} = await timed(openAndRead(port));
			expect(error).toMatchObject({code: 'store-unreachable'});
			expect(ownSeconds).toBeLessThan(6);
		});
	});
});

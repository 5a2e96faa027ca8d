import {afterAll, beforeAll} from 'vitest';
import {startRedis, type RedisServer} from './redis-server.js';

/** Starts a redis-server before the first test of a file, and stops it after the last. */
export function redisOfFile(options?: Parameters<typeof startRedis>[0]): RedisServer {
	let server: RedisServer | undefined;
	beforeAll(async () => {
		server = await startRedis(options);
	});
	afterAll(async () => server?.stop());

	const running = (): RedisServer => {
		if (server === undefined) {
			throw new Error('Redis runs only while tests do');
		}

		return server;
	};

	return {
		host: '127.0.0.1',
		get port() {
			return running().port;
		},
		get socket() {
			return running().socket;
		},
		get directory() {
			return running().directory;
		},
		pid: () => running().pid(),
		kill: async () => running().kill(),
		restart: async (settings) => running().restart(settings),
		stop: async () => running().stop(),
	};
}

import {expect, test} from 'vitest';
import {endpointOf, isSameServer} from '../../../source/store/redis/address.js';

const place = (host: string, port = 6379, socket?: string) => ({host, port, db: 0, socket});

test.each([
	[place('localhost'), place('127.0.0.1'), true],
	[place('::1'), place('LOCALHOST'), true],
	[place('Box.example'), place('box.example'), true],
	[{...place('box'), db: 3}, place('box'), true],
	[place('localhost'), place('localhost', 6380), false],
	[place('localhost'), place('127.0.0.2'), false],
	[place('localhost.evil'), place('localhost'), false],
	[place('localhost'), place('localhost', 6379, '/run/redis'), false],
	[place('a', 1, '/run/redis'), place('b', 2, '/run/redis'), true],
	[place('localhost', 6379, '/run/redis'), place('localhost', 6379, '/tmp/redis'), false],
])('isSameServer of %j and %j is %j', (a, b, isSame) => {
	expect([isSameServer(a, b), isSameServer(b, a)]).toEqual([isSame, isSame]);
});

test.each([
	[{}, 'redis-cli'],
	[{host: '127.0.0.1', port: 7000, db: 3}, 'redis-cli -p 7000 -n 3'],
	[{host: 'box'}, 'redis-cli -h box'],
	[{url: 'rediss://user:secret@box:7000/2'}, 'redis-cli -h box -p 7000 --tls -n 2'],
	[{socket: '/run/redis.sock', db: 1}, 'redis-cli -s /run/redis.sock -n 1'],
])('endpointOf %j returns the shell command "%s"', (address, shell) => {
	expect(endpointOf({host: 'localhost', port: 6379, db: 0, ...address}).shell).toBe(shell);
});

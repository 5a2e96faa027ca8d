import {expect, test} from 'vitest';
import {isSameServer} from '../../../source/store/redis/address.js';

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
])('%j and %j are one server: %j', (a, b, isSame) => {
	expect([isSameServer(a, b), isSameServer(b, a)]).toEqual([isSame, isSame]);
});

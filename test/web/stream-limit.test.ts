import {spawn, type ChildProcess} from 'node:child_process';
import {once} from 'node:events';
import {createServer, type ServerResponse} from 'node:http';
import {connect, type AddressInfo, type Socket} from 'node:net';
import process from 'node:process';
import {Hono} from 'hono';
import {expect, onTestFinished, test} from 'vitest';
import {slowTest} from '../_helpers/slow.js';
import {callersOf} from '../../source/web/server/callers.js';
import type {Bindings} from '../../source/web/server/guard.js';
import {startLiveView} from '../../source/core/live/live-view.js';
import {startServer} from '../../source/web/server/server.js';
import {createStreams} from '../../source/web/server/stream.js';
import {eventually} from '../_helpers/eventually.js';
import {createLiveWorld, liveViewOptions} from '../_helpers/live-world.js';

const isRoot = process.getuid?.() === 0;

/** Starts a server with a maximum number of event streams, which records refusals. */
async function serveStreams(mostStreams: number, host = '127.0.0.1') {
	const world = await createLiveWorld(2);
	const liveView = startLiveView(
		world,
		liveViewOptions((error) => {
			throw error;
		}),
	);
	onTestFinished(liveView.stop);
	const streams = createStreams(
		{
			liveView,
			hosts: {known: () => [], subscribe: () => () => undefined},
			about: () => ({
				host: 'box',
				version: '1',
				location: 'memory',
				privateLabel: undefined,
				isDemo: false,
				hasPool: true,
				hosts: ['box'],
			}),
			commands: 'full',
			monotonicMs: world.clock.monotonicMs,
		},
		{mostStreams},
	);
	const refused: ServerResponse[] = [];
	const server = createServer((_, response) => {
		if (streams.open(response, {withHosts: false})) {
			return;
		}

		refused.push(response);
		response.writeHead(503).end();
	}).listen(0, host);
	await once(server, 'listening');
	onTestFinished(() => {
		streams.close();
		server.closeAllConnections();
		server.close();
	});
	return {streams, refused, port: (server.address() as AddressInfo).port};
}

/** Opens connections as another account until the test ends, and prints their answers. */
function callAs(uid: number, port: number, count: number, seconds = 60): ChildProcess {
	const script = String.raw`
for number in $(seq ${count}); do
	exec {connection}<>/dev/tcp/127.0.0.1/${port}
	printf 'GET / HTTP/1.1\r\nhost: localhost\r\n\r\n' >&$connection
	read -r status <&$connection && echo "$status"
done
sleep ${seconds}`;
	const child = spawn('bash', ['-c', script], {
		uid,
		gid: uid,
		cwd: '/',
		stdio: ['ignore', 'pipe', 'ignore'],
		detached: true,
	});
	onTestFinished(() => {
		process.kill(-child.pid!, 'SIGKILL');
	});
	return child;
}

/** Returns the first lines of the answers so far. */
function answersOf(child: ChildProcess): () => readonly string[] {
	let output = '';
	child.stdout!.setEncoding('utf8').on('data', (data: string) => {
		output += data;
	});
	return () => output.split('\n').slice(0, -1);
}

test.skipIf(!isRoot)(
	'an account that uses all streams loses some of them when another account connects (needs root)',
	async () => {
		const {streams, refused, port} = await serveStreams(20);
		const greedy = answersOf(callAs(65_001, port, 30));
		await eventually(() => greedy().length === 30);
		expect([streams.count(), refused.length]).toEqual([20, 10]);
		const modest = answersOf(callAs(65_002, port, 3));
		await eventually(() => modest().length === 3);
		expect(modest()).toEqual(Array.from({length: 3}, () => 'HTTP/1.1 200 OK\r'));
		expect(streams.count()).toBe(20);
		const again = answersOf(callAs(65_001, port, 5));
		await eventually(() => again().length === 5);
		expect(again()).toEqual(Array.from({length: 5}, () => 'HTTP/1.1 503 Service Unavailable\r'));
		const third = answersOf(callAs(65_003, port, 20));
		await eventually(() => third().length === 20);
		const taken = third().filter((line) => line.includes('200')).length;
		// The caller gets a fair share: what the first account gave up, and none of the second account's streams.
		expect(taken).toBeGreaterThanOrEqual(7);
		expect(taken).toBeLessThanOrEqual(10);
		expect(streams.count()).toBe(20);
	},
);

test.skipIf(!isRoot)(
	'an account that uses all idle connections loses some of them when another account connects (needs root)',
	async () => {
		const routes = new Hono<Bindings>();
		routes.get('/', (context) => context.text('hello'));
		const limits = {mostConnections: 20, headersMs: 30_000};
		const server = await startServer({host: '127.0.0.1', port: 0}, Promise.resolve(routes), limits);
		onTestFinished(async () => server.close());
		const {port} = server;
		const script = 'for number in $(seq 530); do exec {connection}<>"/dev/tcp/127.0.0.1/$1"; done; echo open; sleep 60';
		const greedy = spawn('bash', ['-c', script, 'bash', String(port)], {
			uid: 65_001,
			gid: 65_001,
			cwd: '/',
			stdio: ['ignore', 'pipe', 'ignore'],
			detached: true,
		});
		onTestFinished(() => {
			process.kill(-greedy.pid!, 'SIGKILL');
		});
		const lines = answersOf(greedy);
		await eventually(() => lines().includes('open'));
		const kept = answersOf(callAs(65_002, port, 10));
		const began = performance.now();
		await eventually(() => kept().length === 10);
		expect(performance.now() - began).toBeLessThan(20_000);
		expect(kept()).toEqual(Array.from({length: 10}, () => 'HTTP/1.1 200 OK\r'));
	},
);

test('streams from several addresses of this machine count for one account', async () => {
	const {streams, refused, port} = await serveStreams(4, '0.0.0.0');
	const open = async (localAddress: string): Promise<Socket> => {
		const socket = connect({port, host: '127.0.0.1', localAddress});
		socket.on('error', () => undefined);
		socket.resume();
		socket.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
		onTestFinished(() => {
			socket.destroy();
		});
		await once(socket, 'data');
		return socket;
	};

	const own = [];
	for (let number = 0; number < 4; number++) {
		own.push(await open('127.0.0.1'));
	}

	// All streams belong to one account, so none is closed.
	await open('127.0.0.2');
	expect([streams.count(), refused.length, own.filter(({destroyed}) => destroyed).length]).toEqual([4, 1, 0]);
});

slowTest('refusing a stream costs little processor time, however many streams are open', async () => {
	const {streams, refused, port} = await serveStreams(600);
	const sockets: Socket[] = [];
	onTestFinished(() => {
		for (const socket of sockets) {
			socket.destroy();
		}
	});
	const open = async (): Promise<void> => {
		const socket = connect({port, host: '127.0.0.1'});
		sockets.push(socket);
		socket.on('error', () => undefined);
		socket.write('GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n');
		await once(socket, 'data');
	};

	/** Returns the processor time of each refusal in milliseconds. */
	const costOf = async (count: number): Promise<number> => {
		const before = process.cpuUsage();
		for (let number = 0; number < count; number++) {
			await open();
		}

		return process.cpuUsage(before).user / 1000 / count;
	};

	await costOf(300);
	const taken = await costOf(300);
	// The first refusal looks up all other callers.
	await open();
	const refusing = await costOf(200);
	expect([streams.count(), refused.length]).toEqual([600, 201]);
	expect(refusing / taken).toBeLessThan(9);
});

const row = (local: string, remote: string, uid: number): string =>
	`   1: ${local} ${remote} 01 00000000:00000000 00:00000000 00000000 ${uid} 0 12345 1 0000000000000000 20 4 30 10 -1\n`;

const tables: Readonly<Record<string, string>> = {
	'/proc/net/tcp': `  sl  local_address rem_address\n${row('0100007F:1F90', '0100007F:C001', 0)}${row('0100007F:C001', '0100007F:1F90', 1001)}${row('0200007F:C001', '0100007F:1F90', 1002)}${row('0501A8C0:C002', '0501A8C0:1F90', 1003)}`,
	'/proc/net/tcp6': `  sl  local_address rem_address\n${row('0000000000000000FFFF00000100007F:C003', '0000000000000000FFFF00000100007F:1F90', 1004)}${row('00000000000000000000000001000000:C004', '00000000000000000000000001000000:1F90', 1005)}`,
};

test.each([
	['127.0.0.1', 0xc0_01, '127.0.0.1', 'uid 1001'],
	['::ffff:127.0.0.1', 0xc0_01, '::ffff:127.0.0.1', 'uid 1001'],
	// The same port of another address is somebody else's.
	['127.0.0.2', 0xc0_01, '127.0.0.1', 'uid 1002'],
	['192.168.1.5', 0xc0_02, '192.168.1.5', 'uid 1003'],
	['::ffff:127.0.0.1', 0xc0_03, '::ffff:127.0.0.1', 'uid 1004'],
	['::1', 0xc0_04, '::1', 'uid 1005'],
	['127.0.0.1', 0xc0_09, '127.0.0.1', '127.0.0.1'],
	['192.168.1.7', 0xc0_01, '192.168.1.5', '192.168.1.7'],
	['2001:db8::1:2:3', 1, '2001:db8::9', '2001:db8:0:0::/64'],
	['2001:db8:0:0:ffff:ffff:ffff:ffff', 1, '2001:db8::9', '2001:db8:0:0::/64'],
])('callersOf identifies %s port %i to %s as %s', (remoteAddress, remotePort, localAddress, caller) => {
	const connection = {remoteAddress, remotePort, localAddress, localPort: 8080};
	expect(callersOf([connection], (file) => tables[file]!)).toEqual([caller]);
});

test('callersOf identifies closed and unreadable connections by address', () => {
	const unreadable = (): string => {
		throw new Error('EACCES');
	};

	expect(callersOf([{}, {remoteAddress: '127.0.0.1', remotePort: 1}], unreadable)).toEqual(['', '127.0.0.1']);
});

/** Fake servers that speak the Redis protocol but give answers that no Redis gives. */
import {once} from 'node:events';
import {createServer, type AddressInfo, type Socket} from 'node:net';
import fc from 'fast-check';
import {expect, onTestFinished, test} from 'vitest';
import type {Store} from '../../../source/core/model/ports.js';
import {CanhazgpuError} from '../../../source/errors.js';
import {openRedisStore} from '../../../source/store/redis/index.js';
import {createBox} from '../../_helpers/program/cli.js';
import {startFakeRedis} from '../../_helpers/store/fake-redis.js';
import {firstCase, isLong} from '../../_helpers/slow.js';

const operations: ReadonlyArray<readonly [name: string, work: (store: Store) => Promise<unknown>]> = [
	['read', async (store) => store.read({user: 'x'})],
	[
		'commit',
		async (store) => store.commit({expect: [], writes: [], usage: [], audit: [], event: undefined, grants: false}),
	],
	['audit', async (store) => store.audit({newest: 5})],
	['history', async (store) => Array.fromAsync(store.history(0, 10))],
	['inspect', async (store) => store.inspect?.()],
	['latest', async (store) => store.scans.latest()],
	['claim', async (store) => store.scans.claim({owner: 'x', intervalMs: 1000}, 1)],
	['takeOverHistory', async (store) => store.takeOverHistory?.()],
];

const bulk = (text: string): string => `$${text.length}\r\n${text}\r\n`;

const {answer} = fc.letrec<{answer: string; list: string}>((tie) => ({
	answer: fc.oneof(
		{depthSize: 'small', withCrossShrink: true},
		fc.constantFrom('+x\r\n', '+OK\r\n', '$-1\r\n', '*-1\r\n', '*0\r\n', ':0\r\n', ':7\r\n', ':-1\r\n'),
		fc.string({unit: fc.constantFrom('0', '7', '-', 'a', 'v', 't', '{', '"'), maxLength: 5}).map((text) => bulk(text)),
		fc.constantFrom(bulk('1-1'), bulk('v1'), bulk('tlist'), bulk('done')),
		tie('list'),
	),
	list: fc.array(tie('answer'), {maxLength: 14}).map((items) => `*${items.length}\r\n${items.join('')}`),
}));

test('the Redis store accepts any answer of a fake server or fails with a clear error', async () => {
	let said = '';
	const redis = await startFakeRedis(() => said);
	await fc.assert(
		fc.asyncProperty(answer, fc.constantFrom(...operations), async (given, [, work]) => {
			said = given;
			let store: Store | undefined;
			try {
				store = await openRedisStore({host: '127.0.0.1', port: redis.port, db: 0, keepReconnecting: false});
				const working = work(store);
				// An endless cursor or history is a valid answer. Only closing the store ends such an operation.
				await Promise.race([
					working,
					new Promise((resolve) => {
						setTimeout(resolve, 300);
					}),
				]);
				await store.close();
				await working;
			} catch (error) {
				expect(error).toBeInstanceOf(CanhazgpuError);
				expect((error as CanhazgpuError).exitCode).toBe(4);
			} finally {
				await store?.close();
			}
		}),
		{
			numRuns: isLong ? 250 : 60,
			examples: operations.flatMap((operation) =>
				['+x\r\n', '$-1\r\n', '*0\r\n', ':7\r\n', '*1\r\n$-1\r\n'].map((given): [string, typeof operation] => [
					given,
					operation,
				]),
			),
		},
	);
});

test.each(
	firstCase([
		'+x\r\n',
		'$-1\r\n',
		'*-1\r\n',
		':7\r\n',
		'*1\r\n$-1\r\n',
		`*13\r\n${':1\r\n'.repeat(13)}`,
		'SSH-2.0-OpenSSH\r\n',
	]),
)('commands exit with 4 and without a stack trace if Redis answers %j', async (given) => {
	const redis = await startFakeRedis(() => given);
	const box = createBox({CANHAZGPU_REDIS_HOST: '127.0.0.1', CANHAZGPU_REDIS_PORT: String(redis.port)});
	onTestFinished(box.remove);
	for (const command of ['status', 'release', 'reserve --nonblock']) {
		const {exitCode, stdout, stderr} = await box.run(command);
		expect({command, exitCode, stdout}).toEqual({command, exitCode: 4, stdout: ''});
		expect(stderr).toMatch(
			/^Error: (?:Cannot reach )?Redis at 127\.0\.0\.1:\d+(?: gives an invalid answer|: the server there is not Redis)\n/v,
		);
		expect(stderr).not.toMatch(/\n *at |bug/v);
	}
});

/** Starts a server that sends as much as the client reads, as soon as the client has sent something. */
async function startFlood(first: string, rest: string) {
	const sockets = new Set<Socket>();
	let sentBytes = 0;
	const server = createServer((socket) => {
		sockets.add(socket);
		const flood = (): void => {
			for (let isTaken = rest !== ''; isTaken && !socket.destroyed;) {
				isTaken = socket.write(rest, 'latin1');
				sentBytes += rest.length;
			}
		};

		socket.on('error', () => undefined).on('drain', flood);
		socket.once('data', () => {
			socket.write(first);
			flood();
		});
	}).listen(0, '127.0.0.1');
	await once(server, 'listening');
	onTestFinished(() => {
		server.close();
		for (const socket of sockets) {
			socket.destroy();
		}
	});
	return {port: (server.address() as AddressInfo).port, sentBytes: () => sentBytes};
}

test.each<[what: string, first: string, rest: string, said: string]>(
	firstCase([
		['an endless line', '+', 'A'.repeat(65_536), 'its answer has no end'],
		['a string of two gigabytes', '$2147483647\r\n', 'A'.repeat(65_536), 'its answer has no end'],
		['an endless list of strings', '*2000000000\r\n', bulk('A'.repeat(65_536)), 'its answer has no end'],
		['deeply nested lists', '*1\r\n'.repeat(3_000_000), '', 'the server there is not Redis'],
	]),
)('commands exit with 4 before they use much memory if Redis answers with %s', async (_, first, rest, said) => {
	const redis = await startFlood(first, rest);
	const box = createBox({CANHAZGPU_REDIS_HOST: '127.0.0.1', CANHAZGPU_REDIS_PORT: String(redis.port)});
	onTestFinished(box.remove);
	for (const command of ['status', ...(isLong ? ['reserve --nonblock'] : [])]) {
		const before = redis.sentBytes();
		const {exitCode, stdout, stderr} = await box.run(command);
		expect({command, exitCode, stdout}).toEqual({command, exitCode: 4, stdout: ''});
		// On a busy machine, the time limit can be reached before the size limit.
		expect(stderr).toMatch(
			new RegExp(`^Error: Cannot reach Redis at 127\\.0\\.0\\.1:\\d+: (?:${said}|no answer in time)\n`, 'v'),
		);
		expect(redis.sentBytes() - before).toBeLessThan(100_000_000);
	}
});

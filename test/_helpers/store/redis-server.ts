/**
A real redis-server of a test's own.
*/
import {spawn, type ChildProcess} from 'node:child_process';
import {randomInt} from 'node:crypto';
import {once} from 'node:events';
import {mkdtempSync, rmSync} from 'node:fs';
import {connect, createServer} from 'node:net';
import {tmpdir} from 'node:os';
import path from 'node:path';
import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import {findRedis} from '../packages/find-redis.js';

export type RedisServer = {
	readonly host: '127.0.0.1';
	readonly port: number;
	/**
	Path of its Unix socket.
	*/
	readonly socket: string;
	/**
	Where it keeps its data; removed by `stop`.
	*/
	readonly directory: string;
	readonly pid: () => number;
	/**
	SIGKILL, as if it crashed. The data on disk stays.
	*/
	readonly kill: () => Promise<void>;
	/**
	Starts it again on the same port with the data it has on disk, after `kill` or instead of the one that runs. While it loads
	them it answers already, but only that; `settings` are more settings for this time.
	*/
	readonly restart: (options?: {
		readonly settings?: readonly string[];
		readonly isLoadingEnough?: boolean;
	}) => Promise<void>;
	/**
	Ends it and removes its data.
	*/
	readonly stop: () => Promise<void>;
};

type Options = {
	/**
	More settings, such as `['--requirepass', 'x']`.
	*/
	readonly settings?: readonly string[];
	/**
	Write everything to disk at once, so that a kill loses nothing.
	*/
	readonly isDurable?: boolean;
	/**
	More variables of its environment.
	*/
	readonly environment?: Readonly<Record<string, string>>;
};

const startTimeoutMs = 20_000;

/** Below those from which the system takes a port for a client: one that is free stays so while its server is away. */
const ports = {from: 12_000, to: 32_000};

/** A port that nobody listens on, now. */
export async function freePort(): Promise<number> {
	for (;;) {
		const port = randomInt(ports.from, ports.to);
		const server = createServer();
		try {
			await once(server.listen(port, '127.0.0.1'), 'listening');
		} catch {
			// Somebody has it.
			continue;
		}

		server.close();
		await once(server, 'close');
		return port;
	}
}

/** What it answers, which may be that it wants a password; undefined when it does not. At its socket nobody else can answer. */
async function answerOf(socket: string): Promise<string | undefined> {
	const connection = connect(socket);
	try {
		await once(connection, 'connect');
		connection.write('PING\r\n');
		const [answer] = (await once(connection, 'data', {signal: AbortSignal.timeout(1000)})) as [Uint8Array];
		return new TextDecoder().decode(answer);
	} catch {
		return undefined;
	} finally {
		connection.destroy();
	}
}

/** Starts a redis-server on a free port, with its data in a new directory. */
export async function startRedis({
	settings = [],
	isDurable = false,
	environment = {},
}: Options = {}): Promise<RedisServer> {
	const program = findRedis();
	if (program === undefined) {
		throw new Error('There is no redis-server: run the tests through vitest, which gets one');
	}

	const directory = mkdtempSync(path.join(tmpdir(), 'chg-redis-'));
	const socket = path.join(directory, 'socket');
	let port = await freePort();
	let child: ChildProcess | undefined;

	const start = async (more: readonly string[] = [], isLoadingEnough = false): Promise<void> => {
		const isUp = (answer: string | undefined) =>
			answer !== undefined && (isLoadingEnough || !answer.includes('LOADING'));
		const server = spawn(
			program.command,
			[
				'--port',
				String(port),
				'--bind',
				'127.0.0.1',
				'--unixsocket',
				socket,
				'--dir',
				directory,
				'--save',
				'',
				'--appendonly',
				isDurable ? 'yes' : 'no',
				'--appendfsync',
				'always',
				'--loglevel',
				'warning',
				...settings,
				...more,
			],
			{env: {...program.environment, ...environment}, stdio: 'ignore'},
		);
		child = server;
		const deadline = performance.now() + startTimeoutMs;
		while (!isUp(await answerOf(socket))) {
			if (server.exitCode !== null || server.signalCode !== null || performance.now() > deadline) {
				throw new Error(`redis-server on port ${port} did not start (exit code ${server.exitCode})`);
			}

			await sleep(10);
		}
	};

	const kill = async (): Promise<void> => {
		if (!(child?.exitCode === null && child.signalCode === null)) {
			return;
		}

		child.kill('SIGKILL');
		await once(child, 'exit');
	};

	const killAtExit = (): void => {
		child?.kill('SIGKILL');
	};

	process.once('exit', killAtExit);
	try {
		await start();
	} catch {
		// Somebody may have taken the port in between.
		await kill();
		port = await freePort();
		await start();
	}

	return {
		host: '127.0.0.1',
		port,
		socket,
		directory,
		pid: () => child!.pid!,
		kill,
		async restart({settings: more, isLoadingEnough} = {}) {
			await kill();
			await start(more, isLoadingEnough);
		},
		async stop() {
			await kill();
			process.off('exit', killAtExit);
			rmSync(directory, {recursive: true, force: true});
		},
	};
}

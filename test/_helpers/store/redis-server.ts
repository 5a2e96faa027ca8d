/** A real redis-server for one test. */
import {spawn, type ChildProcess} from 'node:child_process';
import {randomInt} from 'node:crypto';
import {once} from 'node:events';
import {mkdtempSync, rmSync} from 'node:fs';
import {connect, createServer} from 'node:net';
import {tmpdir} from 'node:os';
import path from 'node:path';
import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import {patienceMs} from '../eventually.js';
import {findRedis} from '../packages/find-redis.js';

export type RedisServer = {
	readonly host: '127.0.0.1';
	readonly port: number;
	/** The path of its Unix socket. */
	readonly socket: string;
	/** The data directory, which `stop` removes. */
	readonly directory: string;
	readonly pid: () => number;
	/** Sends SIGKILL, like a crash. The data on disk remains. */
	readonly kill: () => Promise<void>;
	/**
	Restarts the server on the same port with the data on disk, after `kill` or while it runs. It answers "loading" until the data is loaded.
	`settings` apply only to this start.
	*/
	readonly restart: (options?: {
		readonly settings?: readonly string[];
		readonly isLoadingEnough?: boolean;
	}) => Promise<void>;
	/** Stops the server and removes its data. */
	readonly stop: () => Promise<void>;
};

type Options = {
	/** Additional settings, such as `['--requirepass', 'x']`. */
	readonly settings?: readonly string[];
	/** Whether every write goes to disk at once, so that a kill loses nothing. */
	readonly isDurable?: boolean;
	/** Additional environment variables. */
	readonly environment?: Readonly<Record<string, string>>;
};

/** Ports below those that the system gives to clients, so that a free port stays free while its server is down. */
const ports = {from: 12_000, to: 32_000};

/** Finds a port on which nothing listens. */
export async function freePort(): Promise<number> {
	for (;;) {
		const port = randomInt(ports.from, ports.to);
		const server = createServer();
		try {
			await once(server.listen(port, '127.0.0.1'), 'listening');
		} catch {
			// The port is taken.
			continue;
		}

		server.close();
		await once(server, 'close');
		return port;
	}
}

/**
Returns the reply of the server, which may be an error that demands a password, or undefined if there is none. Uses the server's socket, where no
other program can answer.
*/
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

/** Starts a redis-server on a free port with a new data directory. */
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
		const deadline = performance.now() + patienceMs;
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
		// Another program may have taken the port in the meantime.
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

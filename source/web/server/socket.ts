import {Buffer} from 'node:buffer';
import {once} from 'node:events';
import {chmodSync, linkSync, lstatSync, renameSync, rmSync} from 'node:fs';
import {request, type IncomingMessage, type Server} from 'node:http';
import {connect} from 'node:net';
import {dirname} from 'node:path';
import process from 'node:process';
import {json} from 'node:stream/consumers';
import {CanhazgpuError, codeOf, fileProblemOf} from '../../errors.js';

/** The longest path of a socket. Linux allows 107 bytes, but the socket first has a temporary name, which is longer. */
const longestPathBytes = 100;

/** Whether a server listens on the socket. The file of a socket can still exist after its server has ended. */
async function isLive(file: string): Promise<boolean> {
	const socket = connect(file);
	try {
		await once(socket, 'connect');
		return true;
	} catch (error) {
		// Connecting also fails with one of these codes if the file is not a socket.
		return !['ECONNREFUSED', 'ENOENT', 'ENOTSOCK'].includes(codeOf(error) ?? '');
	} finally {
		socket.destroy();
	}
}

const answerMs = 1000;

async function pidOf(file: string): Promise<number | undefined> {
	const sent = request({
		socketPath: file,
		path: '/api/mine',
		headers: {host: 'localhost'},
		agent: false,
		timeout: answerMs,
	});
	try {
		sent.on('timeout', () => {
			sent.destroy();
		});
		sent.end();
		const [answer] = (await once(sent, 'response')) as [IncomingMessage];
		const {pid} = (await json(answer)) as {readonly pid?: unknown};
		return Number.isSafeInteger(pid) ? (pid as number) : undefined;
	} catch {
		return undefined;
	}
}

async function inUse(file: string): Promise<CanhazgpuError> {
	const pid = await pidOf(file);
	return new CanhazgpuError('failed', `A server already listens at ${file}`, {
		hint: `Your canhazgpu web --mine is already running${pid === undefined ? '. End that one first.' : ` as process ${pid}. Press Enter there for another link, or end it: kill ${pid}`}`,
	});
}

/**
Renames a new socket to its final name. If two servers start at the same time, only one gets the name: a socket is linked only if the name is not in
use, and a dead socket is moved aside and checked again before it is removed.
*/
async function takeName(made: string, file: string): Promise<void> {
	for (;;) {
		try {
			linkSync(made, file);
			return;
		} catch (error) {
			if (codeOf(error) !== 'EEXIST') {
				throw error;
			}
		}

		if (await isLive(file)) {
			throw await inUse(file);
		}

		const aside = `${made}o`;
		try {
			renameSync(file, aside);
		} catch (error) {
			if (codeOf(error) === 'ENOENT') {
				continue;
			}

			throw error;
		}

		if (await isLive(aside)) {
			// Another server took the name in the meantime. Its socket gets the name back.
			linkSync(aside, file);
			rmSync(aside, {force: true});
			throw await inUse(file);
		}

		rmSync(aside, {force: true});
	}
}

/** Returns the error for a socket that could not be created. An error that is already for the user, or no error of the system, stays as it is. */
const socketFailure = (error: unknown, path: string): unknown =>
	error instanceof CanhazgpuError || codeOf(error) === undefined
		? error
		: new CanhazgpuError('failed', `The socket ${path} cannot be created: ${fileProblemOf(error)}`, {
				hint: 'Set XDG_RUNTIME_DIR to another directory in which this account can create files.',
				cause: error,
			});

/**
Listens on a socket with mode 0600, in a directory of mode 0700. Replaces the socket of a server that has ended.
@returns A function that removes the socket. Called when the server is closed.
@throws CanhazgpuError `failed` if a server already listens on the path, the path is too long, or the socket cannot be created.
*/
export async function listenAtSocket(server: Server, path: string): Promise<() => void> {
	if (Buffer.byteLength(path) > longestPathBytes) {
		throw new CanhazgpuError('failed', `${path} is too long for a socket`, {
			hint: 'Set XDG_RUNTIME_DIR to a directory with a shorter path.',
		});
	}

	const made = `${dirname(path)}/.${process.pid}`;
	try {
		rmSync(made, {force: true});
		server.listen(made);
		await once(server, 'listening');
		chmodSync(made, 0o600);
		const {ino} = lstatSync(made);
		await takeName(made, path);
		return () => {
			if (lstatSync(path, {throwIfNoEntry: false})?.ino === ino) {
				rmSync(path, {force: true});
			}
		};
	} catch (error) {
		server.close();
		throw socketFailure(error, path);
	} finally {
		// Removes the temporary name, because the socket now has its final name.
		rmSync(made, {force: true});
	}
}

/** A socket of the file system that only one account can reach, in the place of a port. */
import {Buffer} from 'node:buffer';
import {once} from 'node:events';
import {chmodSync, linkSync, lstatSync, renameSync, rmSync} from 'node:fs';
import {request, type IncomingMessage, type Server} from 'node:http';
import {connect} from 'node:net';
import {dirname} from 'node:path';
import process from 'node:process';
import {json} from 'node:stream/consumers';
import {CanhazgpuError, codeOf} from '../../errors.js';

/** Linux allows 107 bytes; the names under which it is made and put aside may be longer than its own. */
const longestPathBytes = 100;

/** Whether a server listens there. A socket outlives the server that made it. */
async function isLive(file: string): Promise<boolean> {
	const socket = connect(file);
	try {
		await once(socket, 'connect');
		return true;
	} catch (error) {
		// What is there and is no socket refuses, too.
		return !['ECONNREFUSED', 'ENOENT', 'ENOTSOCK'].includes(codeOf(error) ?? '');
	} finally {
		socket.destroy();
	}
}

/** A server that hangs names itself no more. */
const answerMs = 1000;

/** The process of the server there, as it says itself. */
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
	return new CanhazgpuError('failed', `A server listens at ${file} already`, {
		hint: `canhazgpu web --mine of yours runs${pid === undefined ? '. End that one first.' : ` as process ${pid}. Press Enter there for another link, or end it: kill ${pid}`}`,
	});
}

/**
Takes the name for the socket that was made under another name. Of two servers that start at once one gets it: a name is only given where there
is none, and what is put aside is asked once more before it is removed.
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
			// Another server took the name in between: it gets it back.
			linkSync(aside, file);
			rmSync(aside, {force: true});
			throw await inUse(file);
		}

		rmSync(aside, {force: true});
	}
}

/**
Listens at a path, with mode 0600. What a dead server left there is replaced.

@param path - In a directory of mode 0700.
@returns What gives the name up, once the server is closed.
@throws CanhazgpuError `failed` where a server listens there already, or the path is too long for a socket.
*/
export async function listenAtSocket(server: Server, path: string): Promise<() => void> {
	if (Buffer.byteLength(path) > longestPathBytes) {
		throw new CanhazgpuError('failed', `${path} is too long for a socket`, {
			hint: 'Name a directory with a shorter path by XDG_RUNTIME_DIR.',
		});
	}

	const made = `${dirname(path)}/.${process.pid}`;
	rmSync(made, {force: true});
	server.listen(made);
	await once(server, 'listening');
	try {
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
		throw error;
	} finally {
		// From now on it is reached by its name alone.
		rmSync(made, {force: true});
	}
}

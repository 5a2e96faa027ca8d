/** Starts `canhazgpu web --mine` in a box, and sends requests to its socket. */
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {chownSync, mkdtempSync, rmSync} from 'node:fs';
import {request as startRequest, type IncomingMessage} from 'node:http';
import {connect, createServer, type AddressInfo} from 'node:net';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {text} from 'node:stream/consumers';
import {eventually} from '../../_helpers/eventually.js';
import {freePort, startSshServers} from '../../_helpers/machine/ssh-server.js';
import type {Accounts} from '../../_helpers/machine/strangers.js';
import type {Box} from '../../_helpers/program/cli.js';
import {startServerIn} from '../_server.js';

export type Mine = {
	readonly socketPath: string;
	/** The token of the printed link. */
	readonly linkToken: string;
	readonly pid: number;
	readonly stdout: () => string;
	readonly stderr: () => string;
	readonly end: (signal: NodeJS.Signals) => Promise<number | NodeJS.Signals | undefined>;
};

/** Creates a directory for XDG_RUNTIME_DIR with a short path, as sockets need. */
export function createRuntimeDirectory(): {readonly directory: string; readonly remove: () => void} {
	const directory = mkdtempSync(path.join(tmpdir(), 'chg-run-'));
	return {
		directory,
		remove() {
			rmSync(directory, {recursive: true, force: true});
		},
	};
}

export async function startMine(
	box: Box,
	runtimeDirectory: string,
	environment: Readonly<Record<string, string>> = {},
): Promise<Mine> {
	const server = await startServerIn(box, ['--mine'], {
		environment: {XDG_RUNTIME_DIR: runtimeDirectory, ...environment},
		isReady: (stdout) => stdout.includes('Ctrl-C'),
	});
	return {
		...server,
		socketPath: /8080:(?<file>\S+)/v.exec(server.stdout())!.groups!['file']!,
		linkToken: /#token=(?<token>\S+)/v.exec(server.stdout())!.groups!['token']!,
		end: async (signal) => (await server.end(signal)).end,
	};
}

/** Starts `web --mine` as another account, whose pool is that of these accounts. */
export async function startMineAs(
	{words, homeOf, environmentOf}: Accounts,
	uid: number,
	runtimeDirectory: string,
): Promise<Pick<Mine, 'socketPath' | 'linkToken' | 'end'>> {
	const [node, program] = words;
	chownSync(runtimeDirectory, uid, uid);
	const child = spawn(node, [program, 'web', '--mine'], {
		uid,
		gid: uid,
		cwd: homeOf(uid),
		env: {...environmentOf(uid), XDG_RUNTIME_DIR: runtimeDirectory},
		stdio: ['ignore', 'pipe', 'pipe'],
	});
	let stdout = '';
	let stderr = '';
	child.stdout.setEncoding('utf8').on('data', (data: string) => {
		stdout += data;
	});
	child.stderr.setEncoding('utf8').on('data', (data: string) => {
		stderr += data;
	});
	await eventually(() => {
		if (child.exitCode !== null) {
			throw new Error(stderr);
		}

		return stdout.includes('Ctrl-C');
	});
	return {
		socketPath: /8080:(?<file>\S+)/v.exec(stdout)!.groups!['file']!,
		linkToken: /#token=(?<token>\S+)/v.exec(stdout)!.groups!['token']!,
		async end(signal) {
			const ended = once(child, 'exit');
			child.kill(signal);
			await ended;
			return child.exitCode ?? child.signalCode ?? undefined;
		},
	};
}

export type SocketAnswer = {
	readonly status: number;
	readonly headers: IncomingMessage['headers'];
	readonly text: string;
	readonly json: () => Readonly<Record<string, unknown>>;
};

export type SocketRequest = {
	readonly method?: string;
	/** Overrides of the page's headers. Empty ones are omitted. */
	readonly headers?: Readonly<Record<string, string>>;
	readonly body?: string;
};

/** Headers of each request from the page. */
export const pageHeaders = {
	host: 'localhost:8080',
	origin: 'http://localhost:8080',
	'sec-fetch-site': 'same-origin',
	'content-type': 'application/json',
} as const;

export async function askSocket(
	socketPath: string,
	address: string,
	{method = 'GET', headers = {}, body}: SocketRequest = {},
): Promise<SocketAnswer> {
	const all = {
		...(method === 'POST' ? pageHeaders : {host: 'localhost:8080'}),
		...(body !== undefined && {'content-length': String(new TextEncoder().encode(body).length)}),
		...headers,
	};
	const sent = startRequest({
		socketPath,
		path: address,
		method,
		headers: Object.fromEntries(Object.entries(all).filter(([, value]) => value !== '')),
		agent: false,
	});
	sent.end(body);
	const [answer] = (await once(sent, 'response')) as [IncomingMessage];
	const words = await text(answer);
	return {
		status: answer.statusCode!,
		headers: answer.headers,
		text: words,
		json: () => JSON.parse(words) as Readonly<Record<string, unknown>>,
	};
}

/** Opens the link, and returns functions that send requests like the page. */
export async function signIn({socketPath, linkToken}: Pick<Mine, 'socketPath' | 'linkToken'>) {
	const opened = await askSocket(socketPath, '/api/session', {
		method: 'POST',
		body: JSON.stringify({token: linkToken}),
	});
	if (opened.status !== 200) {
		throw new Error(opened.text);
	}

	const token = String(opened.json()['token']);
	const headers = {authorization: `Bearer ${token}`};
	return {
		token,
		act: async (name: string, request: Readonly<Record<string, unknown>>, more: SocketRequest = {}) =>
			askSocket(socketPath, `/api/act/${name}`, {
				method: 'POST',
				body: JSON.stringify({id: crypto.randomUUID(), ...request}),
				...more,
				headers: {...headers, ...more.headers},
			}),
	};
}

/** Starts `ssh -L` through a real OpenSSH server, as `web --mine` prints it. */
export async function startSshTunnel(
	box: Box,
	{socketPath}: Pick<Mine, 'socketPath'>,
): Promise<{readonly url: string; readonly close: () => Promise<void>}> {
	const directory = mkdtempSync(path.join(tmpdir(), 'chg-ssh-'));
	const servers = await startSshServers(path.join(directory, 'ssh'), {box});
	const port = await freePort();
	const tunnel = spawn(
		path.join(servers.directory, 'ssh'),
		['-N', '-o', 'ExitOnForwardFailure=yes', '-L', `${port}:${socketPath}`, 'box'],
		{stdio: 'ignore'},
	);
	const ended = once(tunnel, 'exit');
	await eventually(async () => {
		const socket = connect(port, '127.0.0.1');
		const [kind] = (await Promise.race([
			once(socket, 'connect').then(() => ['connected']),
			once(socket, 'error').then(() => ['refused']),
		])) as [string];
		socket.destroy();
		return kind === 'connected';
	});
	return {
		url: `http://localhost:${port}/`,
		async close() {
			tunnel.kill('SIGKILL');
			await ended;
			await servers.stopAll();
			rmSync(directory, {recursive: true, force: true});
		},
	};
}

/** Forwards a local port to the socket, like an ssh tunnel. */
export async function startTunnel(socketPath: string): Promise<{
	readonly url: string;
	/** The status of each answer, in order. */
	readonly answers: readonly number[];
	readonly close: () => void;
}> {
	const answers: number[] = [];
	const server = createServer((near) => {
		const far = connect(socketPath);
		for (const [one, other] of [
			[near, far],
			[far, near],
		] as const) {
			one.on('error', () => {
				other.destroy();
			});
			one.on('close', () => {
				other.destroy();
			});
		}

		far.on('data', (data: Uint8Array) => {
			for (const {groups} of new TextDecoder('latin1').decode(data).matchAll(/HTTP\/1\.1 (?<status>\d{3}) /gv)) {
				answers.push(Number(groups!['status']));
			}
		});
		near.pipe(far).pipe(near);
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	return {
		url: `http://localhost:${(server.address() as AddressInfo).port}/`,
		answers,
		close() {
			server.close();
		},
	};
}

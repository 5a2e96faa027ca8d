import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {request, type IncomingHttpHeaders, type IncomingMessage} from 'node:http';
import {connect} from 'node:net';
import process from 'node:process';
import {text} from 'node:stream/consumers';
import {starter, starterText, type Box} from '../_helpers/program/cli.js';
import {eventually} from '../_helpers/eventually.js';

export type Web = {
	readonly url: string;
	readonly port: number;
	readonly pid: number;
	readonly stdout: () => string;
	readonly stderr: () => string;
	/** The exit code, after the end of all output. Undefined if a signal ended the server. */
	readonly ended: Promise<number | undefined>;
	/** Sends the signal, and resolves with the exit code or signal and the milliseconds until then. */
	readonly end: (
		signal: NodeJS.Signals,
	) => Promise<{readonly end: number | NodeJS.Signals | undefined; readonly ms: number}>;
};

/**
Starts `canhazgpu web` with these words, and waits for its first output.

@throws Error with the output if it ends before.
*/
export async function startServerIn(
	box: Box,
	words: readonly string[],
	{
		environment = {},
		isReady,
	}: {
		readonly environment?: Readonly<Record<string, string>> | undefined;
		readonly isReady: (stdout: string) => boolean;
	},
): Promise<Omit<Web, 'url' | 'port'>> {
	const child = spawn(starter, [...starterText, 'web', ...words], {
		cwd: box.home,
		env: {...box.environment, ...environment},
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
	const {promise: ended, resolve: resolveEnded} = Promise.withResolvers<number | undefined>();
	child.once('close', (code) => {
		resolveEnded(code ?? undefined);
	});
	const kill = (): void => {
		child.kill('SIGKILL');
	};

	process.once('exit', kill);
	child.once('exit', () => {
		process.off('exit', kill);
	});
	await eventually(() => {
		if (child.exitCode !== null) {
			throw new Error(stderr);
		}

		return isReady(stdout);
	});
	return {
		pid: child.pid!,
		stdout: () => stdout,
		stderr: () => stderr,
		ended,
		async end(signal) {
			const started = performance.now();
			if (child.exitCode === null && child.signalCode === null) {
				child.kill(signal);
				await once(child, 'exit');
			}

			return {end: child.exitCode ?? child.signalCode ?? undefined, ms: performance.now() - started};
		},
	};
}

export async function startWeb(
	box: Box,
	words: readonly string[] = [],
	environment: Readonly<Record<string, string>> = {},
): Promise<Web> {
	const server = await startServerIn(box, [...(words.includes('--port') ? [] : ['--port', '0']), ...words], {
		environment,
		isReady: (stdout) => stdout.includes('\n'),
	});
	const url = /http:\S+/v.exec(server.stdout())![0];
	return {...server, url, port: Number(new URL(url).port)};
}

export type Answer = {readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: string};

/** Sends a request with an unmodified path and headers, unlike fetch. */
export async function ask(
	port: number,
	path: string,
	{method = 'GET', headers = {}}: {readonly method?: string; readonly headers?: Readonly<Record<string, string>>} = {},
): Promise<Answer> {
	const sent = request({host: '127.0.0.1', port, path, method, headers, agent: false});
	sent.end();
	const [answer] = (await once(sent, 'response')) as [IncomingMessage];
	return {status: answer.statusCode!, headers: answer.headers, body: await text(answer)};
}

export const askJson = async <Value>(port: number, path: string): Promise<Value> =>
	JSON.parse((await ask(port, path)).body) as Value;

/** Returns the paths of this server in the page. */
export const pathsIn = (html: string): readonly string[] =>
	html
		.matchAll(/(?:href|src)="(?<path>\/[^"]*)"/gv)
		.map((match) => match.groups!['path']!)
		.toArray();

/** Returns the path of the page's script, whose name has a hash. */
export async function scriptOf(port: number): Promise<string> {
	const {body} = await ask(port, '/');
	return pathsIn(body).find((path) => path.endsWith('.js'))!;
}

/** Sends bytes and reads until the other side closes. */
export async function rawExchange(
	port: number,
	bytes: string,
): Promise<{readonly answer: string; readonly ms: number}> {
	const started = performance.now();
	const socket = connect(port, '127.0.0.1');
	socket.on('error', () => undefined);
	let answer = '';
	socket.setEncoding('utf8').on('data', (data: string) => {
		answer += data;
	});
	const {promise: closed, resolve: close} = Promise.withResolvers<void>();
	socket.on('close', () => {
		close();
	});
	socket.write(bytes);
	await closed;
	return {answer, ms: performance.now() - started};
}

export type StreamMessage = {
	/** Undefined for a heartbeat. */
	readonly id: number | undefined;
	readonly event: string;
	readonly data: Readonly<Record<string, unknown>>;
};

/** Listens to `/api/events`, optionally like a page that shows the hosts. */
export function listenTo(
	port: number,
	query: '' | '?hosts' = '',
): {
	readonly messages: readonly StreamMessage[];
	readonly closed: Promise<unknown>;
	readonly close: () => void;
} {
	const messages: StreamMessage[] = [];
	const {promise: closed, resolve: close} = Promise.withResolvers<unknown>();
	const sent = request({host: '127.0.0.1', port, path: `/api/events${query}`, agent: false});
	let rest = '';
	sent.on('response', (answer) => {
		answer.setEncoding('utf8').on('data', (data: string) => {
			const blocks = (rest + data).split('\n\n');
			rest = blocks.pop()!;
			for (const block of blocks) {
				const fields = Object.fromEntries(
					block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
				) as Record<string, string>;
				if (fields['event'] !== undefined) {
					messages.push({
						id: fields['id'] === undefined ? undefined : Number(fields['id']),
						event: fields['event'],
						data: JSON.parse(fields['data']!) as Readonly<Record<string, unknown>>,
					});
				}
			}
		});
		answer.on('close', close);
	});
	sent.on('error', close);
	sent.end();
	return {
		messages,
		closed,
		close() {
			sent.destroy();
		},
	};
}

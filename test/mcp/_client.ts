/** The client of the official SDK, connected to `canhazgpu mcp` in a box. */
import {Client, type CallToolResult, type Progress} from '@modelcontextprotocol/client';
import {StdioClientTransport, type StdioServerParameters} from '@modelcontextprotocol/client/stdio';
import {expect, onTestFinished} from 'vitest';
import {commandAs, directoryOf, type Account} from '../_helpers/machine/accounts.js';
import {starter, starterText, type Box} from '../_helpers/program/cli.js';

export type Answer = {
	readonly isError: boolean;
	readonly words: string;
	readonly json: unknown;
};

export type Agent = {
	/** The process of the server. */
	readonly pid: number;
	readonly client: Client;
	readonly call: (
		tool: string,
		input?: Readonly<Record<string, unknown>>,
		options?: {readonly signal?: AbortSignal; readonly onprogress?: (progress: Progress) => void},
	) => Promise<Answer>;
	readonly stderr: () => string;
	readonly notices: () => readonly string[];
	/** Closes the connection, as a client that quits. */
	readonly close: () => Promise<void>;
};

export const answerOf = ({isError, content, structuredContent}: CallToolResult): Answer => ({
	isError: isError === true,
	words: content.map((part) => (part.type === 'text' ? part.text : part.type)).join('\n'),
	// In the older protocol, structured content is an object, so the SDK wraps a list.
	json:
		Object.keys(structuredContent ?? {}).join(',') === 'result'
			? (structuredContent as {result: unknown}).result
			: structuredContent,
});

export function expectError({isError, words, json}: Answer, pattern: RegExp, about?: string): void {
	expect(isError, about).toBe(true);
	expect(words, about).toMatch(pattern);
	expect(json, about).toBeUndefined();
}

type Options = {readonly name?: string; readonly flags?: readonly string[]};

/** Starts a server and connects to it. Both end with the test. */
export const connect = async (box: Box, {name = 'claude-code', flags = []}: Options = {}): Promise<Agent> =>
	connectTo(name, {
		command: starter,
		args: [...starterText, 'mcp', ...flags],
		env: {...box.environment},
		cwd: box.home,
	});

/** Starts a server of another account on the Redis pool of a box, and connects to it. Needs root. */
export async function connectAs(account: Account, box: Box, {name = 'claude-code', flags = []}: Options = {}) {
	const home = directoryOf(account);
	const [command, ...args] = commandAs(account, ['mcp', ...flags]);
	return connectTo(name, {
		command,
		args,
		env: {...box.environment, HOME: home, XDG_CACHE_HOME: home, CANHAZGPU_POOL_DIRECTORY: home},
		cwd: '/',
	});
}

async function connectTo(name: string, server: StdioServerParameters): Promise<Agent> {
	const client = new Client({name, version: '1.0.0'});
	const notices: string[] = [];
	client.setNotificationHandler('notifications/message', ({params}) => {
		notices.push(String(params.data));
	});
	const transport = new StdioClientTransport({...server, stderr: 'pipe'});
	let stderr = '';
	transport.stderr?.on('data', (data: Uint8Array) => {
		stderr += data.toString();
	});
	onTestFinished(async () => client.close());
	await client.connect(transport);
	return {
		pid: transport.pid!,
		client,
		call: async (tool, input = {}, options = {}) =>
			answerOf(await client.callTool({name: tool, arguments: {...input}}, {timeout: 80_000, ...options})),
		stderr: () => stderr,
		notices: () => notices,
		close: async () => client.close(),
	};
}

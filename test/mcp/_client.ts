/** The client of the official SDK, connected to `canhazgpu mcp` in a box. */
import {Client, type CallToolResult, type Progress} from '@modelcontextprotocol/client';
import {StdioClientTransport} from '@modelcontextprotocol/client/stdio';
import {expect, onTestFinished} from 'vitest';
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

/** Starts a server and connects to it. Both end with the test. */
export async function connect(
	box: Box,
	{name = 'claude-code', flags = []}: {readonly name?: string; readonly flags?: readonly string[]} = {},
): Promise<Agent> {
	const client = new Client({name, version: '1.0.0'});
	const notices: string[] = [];
	client.setNotificationHandler('notifications/message', ({params}) => {
		notices.push(String(params.data));
	});
	const transport = new StdioClientTransport({
		command: starter,
		args: [...starterText, 'mcp', ...flags],
		env: {...box.environment},
		cwd: box.home,
		stderr: 'pipe',
	});
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

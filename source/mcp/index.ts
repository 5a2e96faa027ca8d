import type {Readable, Writable} from 'node:stream';
import {
	CLIENT_INFO_META_KEY,
	McpServer,
	type CallToolResult,
	type Implementation,
	type ServerContext,
	type Tool as ListedTool,
} from '@modelcontextprotocol/server';
import {serveStdio} from '@modelcontextprotocol/server/stdio';
import {worldVia} from '../core/operations/world-via.js';
import type {EngineWorld} from '../core/operations/engine.js';
import type {Requester} from '../core/model/types.js';
import {viaMcp} from '../core/rules/leases/via.js';
import {saysMoved} from '../core/rules/pool/pool.js';
import type {Report} from '../core/rules/pool/report.js';
import {CanhazgpuError, messageOf, quoted} from '../errors.js';
import {progressText} from '../format/queue/waiting-progress.js';
import {sanitize, shorten} from '../format/text/text.js';
import {schemas} from '../help/schema/index.js';
import type {AgentJobs} from './agent-jobs.js';
import {createHeldLeases} from './held-leases.js';
import {inputSchemaOf, parseInput} from './input.js';
import {failureOf, resultOf} from './results.js';
import type {Call} from './tool.js';
import {ClientTransport} from './transport.js';
import {tools} from './tools/index.js';

type OpenPool = EngineWorld & {readonly close: () => Promise<void>};

export type McpOptions = {
	/** Opens the pool. Called for the first tool, and again after a failure. */
	readonly open: () => Promise<OpenPool>;
	/** Returns the account of this process. Called when the pool is open. */
	readonly requester: () => Requester;
	readonly jobs: AgentJobs;
	readonly report: (world: EngineWorld, question: Parameters<Call['report']>[0]) => Promise<Report>;
	readonly version: string;
	readonly remark: (text: string) => void;
	readonly failed: (error: unknown) => void;
	/** Aborted to end the connection. */
	readonly signal: AbortSignal;
	readonly input: Readable;
	readonly output: Writable;
};

/** Maximum length of the name of a client, which the client chooses. */
const longestClient = 40;

const instructions =
	'GPUs of this machine are shared. Call gpu_status to see what is free, gpu_reserve before you use a GPU, and gpu_release when you are done. For long work, gpu_run starts a job with its own GPUs, which continues when you disconnect.';

/** Lists the tools with their schemas. The results have the same schemas as the `--json` output of the commands. */
async function toolList(): Promise<ListedTool[]> {
	return Promise.all(
		tools.map(async (tool) => {
			const output = tool.output === undefined ? undefined : (await schemas[tool.output]!()).default;
			return {
				name: tool.name,
				title: tool.title,
				description: tool.description,
				inputSchema: inputSchemaOf(tool) as ListedTool['inputSchema'],
				...(output !== undefined && {outputSchema: output}),
				annotations: {
					readOnlyHint: tool.isReadOnly,
					destructiveHint: tool.isDestructive === true,
					openWorldHint: false,
				},
			};
		}),
	);
}

function createPool(open: McpOptions['open']) {
	const opened: OpenPool[] = [];
	let opening: Promise<OpenPool> | undefined;
	return {
		async world(): Promise<OpenPool> {
			opening ??= open().then((pool) => {
				opened.push(pool);
				return pool;
			});
			try {
				return await opening;
			} catch (error) {
				opening = undefined;
				throw error;
			}
		},
		/** Lets the next call look up the pool again. The pool that is open stays open, because the leases of earlier calls use it. */
		forget(): void {
			opening = undefined;
		},
		async close(): Promise<void> {
			await opening?.catch(() => undefined);
			await Promise.all(opened.map(async (pool) => pool.close()));
		},
	};
}

/**
Serves one client until it closes the connection or `signal` is aborted. Then releases everything that the client holds.
@returns Whether the client has read all messages. If not, the caller must end the process, because unread messages keep it running.
*/
export async function runMcp({
	open,
	requester,
	jobs,
	report,
	version,
	remark,
	failed,
	signal,
	input,
	output,
}: McpOptions): Promise<boolean> {
	const pool = createPool(open);
	const ended = new AbortController();
	const servers = new Set<McpServer>();
	const notices: string[] = [];
	const running = new Set<Promise<unknown>>();
	const listed = await toolList();

	const notice = (words: string): void => {
		notices.push(words);
		for (const server of servers) {
			// The next answer repeats the words, because clients may ignore this notification, and the newer protocol does not have it.
			// eslint-disable-next-line @typescript-eslint/no-deprecated -- most clients speak the older protocol
			void server.sendLoggingMessage({level: 'warning', logger: 'canhazgpu', data: words}).catch(() => undefined);
		}
	};

	const held = createHeldLeases(notice, remark);

	async function callOf({server}: McpServer, context: ServerContext): Promise<Call> {
		const {mcpReq} = context;
		// Each request of the newer protocol names the client. In the older protocol, only the first request does.
		const envelope: Readonly<Record<string, unknown>> = mcpReq.envelope ?? {};
		// eslint-disable-next-line @typescript-eslint/no-deprecated -- as above
		const client = (envelope[CLIENT_INFO_META_KEY] as Implementation | undefined) ?? server.getClientVersion();
		const via = viaMcp(shorten(sanitize(client?.name ?? ''), longestClient));
		const world = worldVia(await pool.world(), via);
		const token = mcpReq._meta?.progressToken;
		let steps = 0;
		return {
			world,
			requester: requester(),
			via,
			held,
			jobs,
			report: async (question) => report(world, question),
			signal: AbortSignal.any([mcpReq.signal, ended.signal]),
			connectionEnd: ended.signal,
			progress(progress) {
				if (token === undefined) {
					return;
				}

				steps++;
				void mcpReq
					.notify({
						method: 'notifications/progress',
						params: {progressToken: token, progress: steps, message: progressText(progress)},
					})
					.catch(() => undefined);
			},
			failed,
		};
	}

	async function answer(
		mcpServer: McpServer,
		name: string,
		typed: unknown,
		context: ServerContext,
	): Promise<CallToolResult> {
		const tool = tools.find((one) => one.name === name);
		// The client gets no answer to a canceled call, so the notices wait for the next answer.
		const takeNotices = (): readonly string[] => (context.mcpReq.signal.aborted ? [] : notices.splice(0));
		try {
			if (tool === undefined) {
				throw new CanhazgpuError('usage', `There is no tool ${quoted(sanitize(name))}`, {
					hint: `The tools are: ${tools.map((one) => one.name).join(', ')}.`,
				});
			}

			const parsed = parseInput(tool, typed);
			const call = async () => tool.call(await callOf(mcpServer, context), parsed);
			const done = await call().catch(async (error: unknown) => {
				if (!saysMoved(error)) {
					throw error;
				}

				// The call has changed nothing in the former pool, so it is repeated in the new one.
				pool.forget();
				return call();
			});
			return mcpServer.server.projectCallToolResult(
				resultOf(done, takeNotices()),
				listed.find((one) => one.name === name)!.outputSchema,
			);
		} catch (error) {
			return failureOf(error, takeNotices(), failed);
		}
	}

	const createServer = (): McpServer => {
		const mcpServer = new McpServer(
			{name: 'canhazgpu', title: 'canhazgpu', version},
			{capabilities: {tools: {}, logging: {}}, instructions},
		);
		// McpServer itself would answer wrong arguments with messages that have no hint.
		const {server} = mcpServer;
		server.setRequestHandler('tools/list', () => ({tools: listed}));
		server.setRequestHandler('tools/call', async ({params}, context) => {
			const work = answer(mcpServer, params.name, params.arguments, context);
			running.add(work);
			try {
				return await work;
			} finally {
				running.delete(work);
			}
		});
		servers.add(mcpServer);
		return mcpServer;
	};

	const transport = new ClientTransport(input, output);
	const connection = serveStdio(createServer, {
		transport,
		onerror(error) {
			remark(`canhazgpu: ${sanitize(messageOf(error))}`);
		},
	});
	const interrupted = Promise.withResolvers<void>();
	signal.addEventListener('abort', () => {
		interrupted.resolve();
	});
	if (signal.aborted) {
		interrupted.resolve();
	}

	await Promise.race([transport.closed, interrupted.promise]);
	ended.abort();
	await connection.close();
	await Promise.allSettled(running);
	await held.end();
	await pool.close();
	return transport.flush();
}

/** Every tool of `mcp`, called with the command line of the Model Context Protocol's Inspector. */
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdirSync} from 'node:fs';
import {homedir, tmpdir} from 'node:os';
import path from 'node:path';
import process from 'node:process';
import {text} from 'node:stream/consumers';
import {afterAll, beforeAll, expect, test} from 'vitest';
import {starter, starterText, type Box, type Ran} from '../_helpers/program/cli.js';
import {freshEmbeddedBox, freshRedisBox, holders, peek} from '../_helpers/program/processes.js';
import {eventually} from '../_helpers/eventually.js';
import {startRedis, type RedisServer} from '../_helpers/store/redis-server.js';

/** Not among the development dependencies, because it is larger than all of them together. */
const inspector = '@modelcontextprotocol/inspector@2.12.0';

const cache = path.join(tmpdir(), 'canhazgpu-inspector');

/** The exit code for a tool that answers with an error. */
const toolError = 5;

async function runInspector(home: string, words: readonly string[]): Promise<Ran> {
	const child = spawn('npx', ['--yes', inspector, '--cli', ...words], {
		cwd: home,
		env: {
			...process.env,
			HOME: home,
			npm_config_cache: cache,
			// The registry can be set there.
			npm_config_userconfig: process.env['npm_config_userconfig'] ?? path.join(homedir(), '.npmrc'),
		},
		stdio: ['ignore', 'pipe', 'pipe'],
		timeout: 300_000,
	});
	const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
	return {exitCode: child.exitCode ?? undefined, stdout, stderr};
}

let redis: RedisServer;

/** Why the Inspector cannot be downloaded. */
let missing: string | undefined;

beforeAll(async () => {
	redis = await startRedis();
	mkdirSync(cache, {recursive: true, mode: 0o700});
	const {exitCode, stderr} = await runInspector(cache, ['--help']);
	const offline = /E(?:AI_AGAIN|CONNREFUSED|CONNRESET|HOSTUNREACH|NETUNREACH|NOTFOUND|TIMEDOUT)\b/v.exec(stderr)?.[0];
	if (exitCode !== 0 && offline === undefined) {
		throw new Error(`npx ${inspector} --cli --help failed: ${stderr}`);
	}

	missing = exitCode === 0 ? undefined : `the npm registry cannot be reached: ${offline}`;
}, 400_000);

afterAll(async () => {
	await redis.stop();
});

type Answer = {
	readonly exitCode: number | undefined;
	readonly words: string;
	readonly json: unknown;
};

/** Calls a tool. Each call starts a server, which ends with the call. */
async function call(box: Box, tool: string, input: Readonly<Record<string, unknown>> = {}): Promise<Answer> {
	const {exitCode, stdout, stderr} = await runInspector(box.home, [
		'--format',
		'json',
		'--method',
		'tools/call',
		'--tool-name',
		tool,
		...Object.entries(input).flatMap(([name, value]) => ['--tool-arg', `${name}=${JSON.stringify(value)}`]),
		...serverOf(box),
	]);
	expect(stdout, stderr).toMatch(/^\{/v);
	const {result} = JSON.parse(stdout) as {
		readonly result: {readonly content: ReadonlyArray<{readonly text: string}>; readonly structuredContent?: unknown};
	};
	const {structuredContent: json} = result;
	return {exitCode, words: result.content.map((part) => part.text).join('\n'), json};
}

/** The Inspector passes on only a few variables of its own environment. */
const serverOf = ({environment}: Box): readonly string[] => [
	'--',
	'env',
	...Object.entries(environment).map(([name, value]) => `${name}=${value}`),
	starter,
	...starterText,
	'mcp',
];

test.for([
	['redis', async () => freshRedisBox(redis.port, 3)],
	['embedded', async () => freshEmbeddedBox(3)],
] as const)(
	'the command line of the Inspector lists and calls every tool on %s',
	{timeout: 600_000},
	async ([, createBox], {skip}) => {
		skip(missing !== undefined, missing);
		const box = await createBox();
		const listing = await runInspector(box.home, ['--method', 'tools/list', ...serverOf(box)]);
		const {tools} = JSON.parse(listing.stdout) as {readonly tools: ReadonlyArray<{readonly name: string}>};
		const called = new Set<string>();
		const use = async (tool: string, input?: Readonly<Record<string, unknown>>): Promise<Answer> => {
			called.add(tool);
			const answer = await call(box, tool, input);
			expect([tool, answer.words, answer.exitCode]).toEqual([tool, answer.words, 0]);
			return answer;
		};

		expect((await use('gpu_status')).words).toMatch(/^3 of 3 GPUs are free: GPUs 0-2\. /v);
		const reserved = await use('gpu_reserve', {count: 2, duration: '1h', note: 'Inspector', detached: true});
		expect(reserved.json).toMatchObject({gpu_ids: [0, 1], note: 'Inspector', type: 'MANUAL'});
		const {lease_id: id} = reserved.json as {readonly lease_id: string};
		expect(await holders(box)).toBe('0:MANUAL 1:MANUAL 2:-');
		expect((await use('gpu_renew', {lease_id: id, duration: '2h'})).json).toMatchObject({
			extended: [{gpu_id: 0}, {gpu_id: 1}],
		});
		expect((await use('gpu_queue')).words).toBe('Nobody waits.');
		expect((await use('gpu_why')).words).toBe('Nobody waits.');
		expect((await use('gpu_report', {days: 1, by: 'gpu'})).words).toMatch(/ GPU hours in the last 1 day, /v);
		expect((await use('gpu_release', {lease_id: id})).words).toBe('Released 2 GPU(s): [0 1].');

		const submitted = await use('gpu_run', {command: ['sh', '-c', 'echo hello; exec sleep 600'], timeout: '10m'});
		expect(submitted.json).toMatchObject({job_id: '1'});
		await eventually(async () => (await holders(box)) === '0:RUN 1:- 2:-');
		expect((await use('gpu_job', {job_id: '1'})).words).toMatch(/^Job 1 is RUNNING: GPU 0; /v);
		expect((await use('gpu_logs', {job_id: '1'})).words).toBe('Job 1 is RUNNING. Its output:\nhello');
		expect((await use('gpu_cancel', {job_id: '1'})).words).toMatch(/^Cancelled job 1\. /v);
		expect(called).toEqual(new Set(tools.map(({name}) => name)));

		// Without `detached`, a reservation ends with the connection, which is this call.
		expect((await use('gpu_reserve', {count: 3})).json).toMatchObject({gpu_ids: [0, 1, 2]});
		expect(await call(box, 'gpu_reserve', {count: 9})).toMatchObject({
			exitCode: toolError,
			words: expect.stringMatching(/^Cannot reserve 9 GPUs: the pool has 3\. /v) as string,
		});
		expect(await holders(box)).toBe('0:- 1:- 2:-');
		expect((await peek(box)).queue).toEqual([]);
	},
);

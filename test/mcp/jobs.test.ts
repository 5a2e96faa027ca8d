/** The jobs of agents outlive the connection, belong to one account, and obey the limits for agents. */
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {existsSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {directoryOf, isRoot, mallory, runAs} from '../_helpers/machine/accounts.js';
import {account, starter, starterText, type Box} from '../_helpers/program/cli.js';
import {freshEmbeddedBox, freshRedisBox, holders, isAlive, peek} from '../_helpers/program/processes.js';
import {eventually} from '../_helpers/eventually.js';
import {firstCase, isLong, slowTest} from '../_helpers/slow.js';
import {startRedis, type RedisServer} from '../_helpers/store/redis-server.js';
import {connect, expectError, type Agent} from './_client.js';

let redis: RedisServer;

beforeAll(async () => {
	redis = await startRedis();
});

afterAll(async () => {
	await redis.stop();
});

type Row = Readonly<Record<string, unknown>> & {readonly id: string; readonly state: string};

const jobOf = async (agent: Agent, id: string): Promise<Row> =>
	((await agent.call('gpu_job', {job_id: id})).json as readonly Row[])[0]!;

const untilState = async (agent: Agent, id: string, state: string): Promise<Row> => {
	await eventually(async () => (await jobOf(agent, id)).state === state);
	return jobOf(agent, id);
};

/** Submits a job, which is cancelled when the test ends. */
async function submit(box: Box, agent: Agent, input: Readonly<Record<string, unknown>>): Promise<string> {
	const answer = await agent.call('gpu_run', {timeout: '10m', ...input});
	expect(answer.isError, answer.words).toBe(false);
	const {job_id: id} = answer.json as {readonly job_id: string};
	onTestFinished(async () => {
		await box.run(`cancel ${id}`);
	});
	return id;
}

describe.each(
	firstCase([
		['redis', async () => freshRedisBox(redis.port, 3)],
		['embedded', async () => freshEmbeddedBox(3)],
	] as const),
)('gpu_run on %s', (_, createBox) => {
	test('starts a job that outlives the server and that another connection can read and cancel', async () => {
		const box = await createBox();
		const one = await connect(box, {flags: ['--user', 'agent of alice']});
		const submitted = await one.call('gpu_run', {
			command: ['sh', '-c', 'echo "$GREETING on $CUDA_VISIBLE_DEVICES"; pwd; exec sleep 600'],
			count: 2,
			timeout: '1h',
			note: 'sweep',
			cwd: '/tmp',
			// The wrapper of the job still finds the pool, which is below the home directory of the server.
			env: {GREETING: 'hello', HOME: '/', NODE_OPTIONS: '--no-such-option'},
		});
		onTestFinished(async () => {
			await box.run('cancel 1');
		});
		expect(submitted).toMatchObject({isError: false, json: {job_id: '1', jobs: ['1']}});
		expect(submitted.words).toMatch(
			/^Submitted job 1, which waits for 2 GPUs and then runs for at most 1h 0m 0s\. It continues when this connection ends\. /v,
		);
		const {output} = submitted.json as {readonly output: string};
		await untilState(one, '1', 'running');
		await eventually(() => readFileSync(output, 'utf8').includes('/tmp'));
		process.kill(one.pid, 'SIGKILL');
		await eventually(() => !isAlive(one.pid));

		const other = await connect(box, {name: 'codex'});
		const seen = await other.call('gpu_job');
		const printed = JSON.parse((await box.run('jobs --json')).stdout) as readonly Row[];
		expect(seen.json).toEqual(printed);
		expect(printed).toMatchObject([
			{id: '1', state: 'running', directory: '/tmp', gpu_ids: [0, 1], via: 'mcp claude-code', requested_count: 2},
		]);
		expect(seen.words).toMatch(/^Job 1 is RUNNING: GPUs 0,1; sh -c '.*' \(via mcp claude-code\)\.$/v);
		expect(await holders(box)).toBe('0:RUN 1:RUN 2:-');
		const {gpus} = await peek(box);
		expect(gpus[0]).toMatchObject({lease: {via: 'mcp claude-code', note: 'sweep', user: 'agent of alice'}});
		expect(gpus[0]?.kind === 'leased' && gpus[0].lease.endsBy! - gpus[0].lease.startTime - 3600).toBeLessThanOrEqual(1);
		const logs = await other.call('gpu_logs', {job_id: '1'});
		expect(logs.words).toBe('Job 1 is RUNNING. Its output:\nhello on 0,1\n/tmp');
		expect((await other.call('gpu_logs', {job_id: '1', lines: 1})).words).toBe(
			`Job 1 is RUNNING. The last 1 line of its output, which is in ${output}:\n/tmp`,
		);
		expect(logs.json).toBeUndefined();

		const cancelled = await other.call('gpu_cancel', {job_id: '1'});
		expect(cancelled.words).toMatch(/^Cancelled job 1\. Job 1 is CANCELLED: /v);
		expect(cancelled.json).toMatchObject([
			{id: '1', state: 'cancelled', reason: `cancelled by ${account} via mcp codex`},
		]);
		expect((await other.call('gpu_cancel', {job_id: '1'})).words).toMatch(
			/^Nothing was cancelled, because the job has already ended\. /v,
		);
		await eventually(async () => (await holders(box)) === '0:- 1:- 2:-');
		const events = JSON.parse((await box.run('events --json')).stdout) as readonly Row[];
		expect(events.filter(({via}) => via === 'mcp claude-code').map(({kind}) => kind)).toEqual(
			expect.arrayContaining(['submitted', 'granted']),
		);
	});

	slowTest('applies the limits that the policy sets for agents', async () => {
		const box = await createBox();
		await box.run('admin --set agents.max-gpus=2 --set agents.max-duration=2h');
		const agent = await connect(box);
		for (const [input, words] of [
			[{timeout: '3h'}, /^Agents may hold GPUs for at most 2h at a time\. /v],
			[{count: 3}, /^All agents together may hold at most 2 GPUs, not 3\. /v],
		] as const) {
			expectError(await agent.call('gpu_run', {command: ['true'], timeout: '1h', ...input}), words);
		}

		expect((await agent.call('gpu_job')).words).toBe(
			'You have no waiting or running jobs, and none that ended in the last day.',
		);
		await agent.call('gpu_reserve', {count: 1});
		const id = await submit(box, agent, {command: ['sleep', '600'], count: 2});
		await eventually(async () => (await peek(box)).queue.length === 1);
		// The third GPU is free, but the job waits for another agent.
		expect((await peek(box)).queue[0]).toMatchObject({entry: {via: 'mcp claude-code'}});
		expect((await agent.call('gpu_job', {job_id: id})).words).toMatch(/^Job 1 is QUEUED: waits for 2 GPUs; /v);
		expect(await holders(box)).toBe('0:RUN 1:- 2:-');
		// A person does not wait behind the job.
		expect((await box.run('run --gpus 2 --nonblock -- true')).exitCode).toBe(0);
		await agent.call('gpu_release');
		await untilState(agent, id, 'running');
		expectError(
			await agent.call('gpu_reserve'),
			/^Not enough GPUs available\. Requested: 1 \(agents hold 2 of at most 2 GPUs together\)\. /v,
		);
		await agent.call('gpu_cancel', {job_id: id});
	});
});

slowTest("a job of gpu_run still counts as the agent's job after a person has retried it", async () => {
	const box = await freshEmbeddedBox(1);
	const agent = await connect(box);
	const id = await submit(box, agent, {command: ['false']});
	expect(await untilState(agent, id, 'failed')).toMatchObject({exit_code: 1});
	await box.run('reserve --gpus 1 --duration 1h');
	await box.run(`retry ${id}`);
	await eventually(async () => (await peek(box)).queue.length === 1);
	expect((await peek(box)).queue[0]).toMatchObject({entry: {via: 'mcp claude-code'}});
	await agent.call('gpu_cancel', {job_id: id});
	await eventually(async () => (await peek(box)).queue.length === 0);
});

test('gpu_run cancels its job if the client cancels the call', async () => {
	const box = await freshEmbeddedBox(1);
	const server = spawn(starter, [...starterText, 'mcp'], {cwd: box.home, env: {...box.environment}});
	const ended = once(server, 'close');
	const messages = [
		{
			id: 1,
			method: 'initialize',
			params: {protocolVersion: '2025-06-18', capabilities: {}, clientInfo: {name: 'raw', version: '1'}},
		},
		{method: 'notifications/initialized'},
		{id: 2, method: 'tools/call', params: {name: 'gpu_run', arguments: {command: ['sleep', '600'], timeout: '1h'}}},
		{method: 'notifications/cancelled', params: {requestId: 2}},
	];
	// In one piece, so that the cancellation arrives while the job is being submitted.
	server.stdin.write(messages.map((message) => `${JSON.stringify({jsonrpc: '2.0', ...message})}\n`).join(''));
	await eventually(async () => {
		const jobs = JSON.parse((await box.run('jobs --json')).stdout) as readonly Row[];
		return jobs.length === 1 && jobs[0]!.state === 'cancelled';
	});
	await eventually(async () => (await holders(box)) === '0:-');
	server.stdin.end();
	expect(await ended).toEqual([0, null]);
});

slowTest('gpu_logs returns the end of the output without terminal control sequences', async () => {
	const box = await freshEmbeddedBox(1);
	const agent = await connect(box);
	const script = String.raw`printf 'a\tb\n  indented \033[31mred\033[0m \033]0;owned\007\n 10%%\r 50%%\r100%%\n\377\342\200\256end'`;
	const id = await submit(box, agent, {command: ['sh', '-c', script]});
	await untilState(agent, id, 'completed');
	expect((await agent.call('gpu_logs', {job_id: id})).words).toBe(
		`Job ${id} is COMPLETED. Its output:\na\tb\n  indented red \n100%\n\u{FFFD} end`,
	);

	const {output} = (await jobOf(agent, id)) as unknown as {readonly output: string};
	writeFileSync(output, `${'x'.repeat(70_000)}\n${'y'.repeat(9000)}\n`.repeat(3) + 'last\n');
	const {words} = await agent.call('gpu_logs', {job_id: id, lines: 1000});
	expect(words).toMatch(/^Job \d+ is COMPLETED\. The last 2 lines of its output, which is in \S+:\ny{9000}\nlast$/v);
	writeFileSync(output, 'z'.repeat(1_000_000));
	expect((await agent.call('gpu_logs', {job_id: id})).words).toMatch(/The last 1 line of its output, .*\nz{65536}$/v);
	writeFileSync(output, '');
	expect((await agent.call('gpu_logs', {job_id: id})).words).toBe(
		`Job ${id} is COMPLETED. It has not written any output.`,
	);
});

const wrongRuns: ReadonlyArray<readonly [input: Readonly<Record<string, unknown>>, words: RegExp]> = [
	[{command: undefined}, /^gpu_run: command: /v],
	[{command: []}, /^gpu_run: command: Invalid length: /v],
	[{command: ['']}, /^gpu_run: command: The first word is the program, and must not be empty\. /v],
	[{command: 'rm -rf /'}, /^gpu_run: command: Invalid type: Expected Array but received "rm -rf \/"\. /v],
	[{command: ['true', 7]}, /^gpu_run: command\.1: Invalid type: Expected string but received 7\. /v],
	[{command: ['no-such-command']}, /^Command not found: "no-such-command"\.$/v],
	[{command: ['./no-such-command'], cwd: '/tmp'}, /^Command not found: "\/tmp\/no-such-command"/v],
	[{command: ['/etc/passwd']}, /^[^\n]*\/etc\/passwd[^\n]*$/v],
	[{command: ['echo', 'x'.repeat(1_000_000)]}, /^gpu_run: command\.1: Invalid bytes: Expected <=100000 but received /v],
	[
		{command: ['echo', ...Array.from({length: 40}, () => 'x'.repeat(9000))]},
		/^The command of a detached job has more than 100000 characters\. /v,
	],
	[{command: Array.from({length: 5000}, () => 'x')}, /^gpu_run: command: Invalid length: /v],
	[{command: ['echo', 'a\0b']}, /^gpu_run: a value contains a NUL character/v],
	[{command: ['echo', '\u{D800}']}, /^gpu_run: command\.1: It must be well-formed Unicode\. /v],
	[{note: 'a\0b'}, /^gpu_run: a value contains a NUL character/v],
	[{note: 'x'.repeat(501)}, /^The note has 501 characters, but the limit is 500\. /v],
	[{cwd: '/no/such/directory'}, /^cwd: "\/no\/such\/directory" does not exist\. .* Nothing was started\.$/v],
	[{cwd: '/etc/passwd'}, /^cwd: "\/etc\/passwd" is not a directory\. /v],
	[{cwd: 'x'.repeat(5000)}, /^gpu_run: cwd: Invalid length: /v],
	[{env: {CUDA_VISIBLE_DEVICES: '0,1,2,3'}}, /^env: CUDA_VISIBLE_DEVICES is set by canhazgpu\. /v],
	[{env: {CANHAZGPU_DETACHED: '1:x'}}, /^env: CANHAZGPU_DETACHED is set by canhazgpu\. /v],
	[{env: {'A=B': '1'}}, /^gpu_run: env\.[^\n]*A name must consist of letters, digits and _\. /v],
	[{env: {A: 'x'.repeat(1_000_000)}}, /^gpu_run: env\.A: Invalid bytes: /v],
	[
		{env: {A: 'x'.repeat(32_000), B: 'x'.repeat(32_000), C: 'x'.repeat(32_000)}},
		/^env: the variables have more than /v,
	],
	[{timeout: undefined}, /^gpu_run: timeout: /v],
	[{timeout: '0s'}, /^timeout must be more than zero, not "0s"\. /v],
	[{timeout: 'soon'}, /^timeout: "soon" is not a duration\. /v],
	[{timeout: '31d'}, /^Agents may hold GPUs for at most 30d at a time\. /v],
	[{count: 5}, /^Cannot reserve 5 GPUs: the pool has 1\. /v],
	[{gpu_ids: [7]}, /^GPU 7 is out of range\. /v],
	[{detached: true}, /^gpu_run has no field "detached"\. Its fields are: command, /v],
];

test('the tools for jobs answer invalid arguments with an error and a hint, and start nothing', async () => {
	const box = await freshEmbeddedBox(1);
	const agent = await connect(box);
	for (const [input, words] of wrongRuns) {
		const answer = await agent.call('gpu_run', {command: ['true'], timeout: '1h', ...input});
		const about = JSON.stringify(input).slice(0, 80);
		expectError(answer, words, about);
		expect(answer.words, about).not.toMatch(/\p{Control}/v);
		expect(answer.words.length, about).toBeLessThan(800);
	}

	for (const tool of ['gpu_job', 'gpu_logs', 'gpu_cancel']) {
		expectError(await agent.call(tool, {job_id: '99'}), /^There is no job 99\. See the ids: gpu_job\.$/v);
		expectError(await agent.call(tool, {job_id: '../x'}), /job_id: It must be a job id from gpu_job\. /v);
		expectError(await agent.call(tool, {job_id: '[]'}), /^"\[\]" is not the id of a job\. /v);
		expectError(await agent.call(tool, {id: '1'}), /has no field "id"\. |: job_id: /v);
	}

	expectError(await agent.call('gpu_logs', {job_id: '1', lines: 1e9}), /^gpu_logs: lines: /v);
	expect((await agent.call('gpu_job')).json).toEqual([]);
	expect(await holders(box)).toBe('0:-');
	expect((await peek(box)).queue).toEqual([]);
	expect(existsSync(path.join(box.home, '.local/state/canhazgpu/jobs/1.log'))).toBe(false);
	expect(agent.stderr()).toBe('');
});

test('gpu_run runs a command relative to cwd on GPUs that meet the requirements', async () => {
	const box = await freshEmbeddedBox(1);
	const agent = await connect(box);
	const directory = path.join(box.home, 'project');
	mkdirSync(directory);
	writeFileSync(path.join(directory, 'work.sh'), '#!/bin/sh\necho works\n', {mode: 0o755});
	const id = await submit(box, agent, {
		command: ['./work.sh'],
		cwd: 'project',
		gpu_ids: [0],
		min_memory: '40G',
		models: ['h100'],
		min_compute: '8.0',
		note: '--help',
	});
	expect(await untilState(agent, id, 'completed')).toMatchObject({gpu_ids: [0], directory});
	expect((await agent.call('gpu_logs', {job_id: id})).words).toMatch(/\nworks$/v);
	const {stdout} = await box.run([
		'run',
		'--detach',
		'--array',
		'0-1',
		'--',
		'rm',
		'.local/state/canhazgpu/jobs/2_1.log',
	]);
	const array = stdout.trim();
	expectError(
		await agent.call('gpu_logs', {job_id: array}),
		/^2 is an array, and each of its jobs has its own output\. /v,
	);
	await box.run(`wait ${array}`);
	expect((await agent.call('gpu_job', {job_id: array})).json).toMatchObject([{id: '2_0'}, {id: '2_1'}]);
	expectError(
		await agent.call('gpu_logs', {job_id: '2_1'}),
		/2_1\.log does not exist\. The job was never started, or somebody has removed the file\.$/v,
	);
});

test.runIf(isLong && isRoot)(
	'an agent can neither see, read nor cancel the job of another account, not even as root',
	async () => {
		const box = await freshRedisBox(redis.port, 1);
		const environment = {
			...box.environment,
			HOME: directoryOf(mallory),
			XDG_CACHE_HOME: directoryOf(mallory),
			CANHAZGPU_POOL_DIRECTORY: directoryOf(mallory),
		};
		const theirs = {cwd: '/', environment};
		expect(await runAs(mallory, ['run', '--detach', '--', 'sleep', '600'], theirs)).toMatchObject({stdout: '1\n'});
		onTestFinished(async () => {
			await runAs(mallory, ['cancel', '1'], theirs);
		});
		const agent = await connect(box);
		expect((await agent.call('gpu_job')).json).toEqual([]);
		for (const tool of ['gpu_job', 'gpu_logs', 'gpu_cancel']) {
			expectError(
				await agent.call(tool, {job_id: '1'}),
				/^Job 1 belongs to another account\. See the jobs of your account: gpu_job/v,
			);
		}

		expect(JSON.parse((await box.run('jobs --all --json')).stdout)).not.toMatchObject([{state: 'cancelled'}]);
	},
);

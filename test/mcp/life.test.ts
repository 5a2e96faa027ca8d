/** A reservation of an agent lasts as long as the agent's connection. */
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import process from 'node:process';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {starter, starterText} from '../_helpers/program/cli.js';
import {freshEmbeddedBox, freshRedisBox, holders, isAlive, peek, start} from '../_helpers/program/processes.js';
import {eventually} from '../_helpers/eventually.js';
import {firstCase, slowTest} from '../_helpers/slow.js';
import {startRedis, type RedisServer} from '../_helpers/store/redis-server.js';
import {startTop} from '../tui/program/_program.js';
import {connect, expectError, type Agent} from './_client.js';

let redis: RedisServer;

beforeAll(async () => {
	redis = await startRedis();
});

afterAll(async () => {
	await redis.stop();
});

const signalled = (signal: NodeJS.Signals) => async (agent: Agent) => {
	process.kill(agent.pid, signal);
};

const ends = [
	['its server is killed', signalled('SIGKILL'), 'holder-died'],
	['the client quits', async (agent: Agent) => agent.close(), 'released'],
	['its server gets SIGTERM', signalled('SIGTERM'), 'released'],
	['its server gets SIGHUP', signalled('SIGHUP'), 'released'],
	['its server gets SIGINT', signalled('SIGINT'), 'released'],
] as const;

describe('a reservation via mcp', () => {
	test.each(firstCase(ends))('ends at the next read of the pool after %s', async (_, end, reason) => {
		const box = await freshRedisBox(redis.port, 3);
		const agent = await connect(box);
		await agent.call('gpu_reserve', {count: 2});
		await agent.call('gpu_reserve', {count: 1, detached: true, duration: '1h'});
		const waiting = agent.call('gpu_reserve', {count: 3, wait_seconds: 600}).catch(() => undefined);
		await eventually(async () => (await peek(box)).queue.length === 1);
		await end(agent);
		await eventually(() => !isAlive(agent.pid));
		// The next read of the pool releases the GPUs of a killed server.
		expect((await box.run('status --json')).exitCode).toBe(0);
		expect(await holders(box)).toBe('0:- 1:- 2:MANUAL');
		const {queue, gpus} = await peek(box);
		expect(queue).toEqual([]);
		expect(gpus[0]).toMatchObject({kind: 'free', ended: {reason}});
		expect((await box.run('release')).exitCode).toBe(0);
		await waiting;
	});

	test('is released when the client closes stdin in the middle of a message', async () => {
		const box = await freshEmbeddedBox(1);
		const server = spawn(starter, [...starterText, 'mcp'], {cwd: box.home, env: {...box.environment}});
		const ended = once(server, 'close');
		let stdout = '';
		server.stdout.setEncoding('utf8').on('data', (data: string) => {
			stdout += data;
		});
		const send = (message: unknown): void => {
			server.stdin.write(`${JSON.stringify(message)}\n`);
		};

		const clientInfo = {name: '\u{1B}[31mred\u{202E}', version: '1'};
		send({
			jsonrpc: '2.0',
			id: 1,
			method: 'initialize',
			params: {protocolVersion: '2025-06-18', capabilities: {}, clientInfo},
		});
		send({jsonrpc: '2.0', method: 'notifications/initialized'});
		send({
			jsonrpc: '2.0',
			id: 2,
			method: 'tools/call',
			params: {name: 'gpu_reserve', arguments: {note: 'n\u{1B}]0;x\u{7}\u{9B}31m'}},
		});
		await eventually(() => stdout.includes('"id":2'));
		expect(await holders(box)).toBe('0:RUN');
		expect((await box.run('status')).stdout).toMatch(/ n \(via mcp red\)/v);
		server.stdin.end('{"jsonrpc":"2.0","id":3,"meth');
		expect(await ended).toEqual([0, null]);
		expect(await holders(box)).toBe('0:-');
		// Stdout contains only messages of the protocol, without control characters.
		for (const line of stdout.trim().split('\n')) {
			expect(JSON.parse(line)).toMatchObject({jsonrpc: '2.0'});
		}

		expect(stdout).not.toMatch(/[[\p{Control}\p{Format}]--\n]/v);
	});

	slowTest('is shown in top with the name of the client until the server is killed', async () => {
		const box = await freshRedisBox(redis.port, 2);
		const agent = await connect(box, {name: 'codex'});
		await agent.call('gpu_reserve', {gpu_ids: [0], note: 'sweep'});
		const monitor = startTop(box, {size: {columns: 160, rows: 30}});
		await monitor.waitFor(/sweep \(via mcp codex\)/v);
		process.kill(agent.pid, 'SIGKILL');
		await monitor.waitFor(/no longer has GPU 0: its process was gone/v);
		// Only the event still names the client.
		await monitor.waitFor((screen) => !screen.includes('sweep (via mcp codex)'));
		await monitor.close();
		expect(await holders(box)).toBe('0:- 1:-');
	});

	slowTest('notifies the client when it expires', async () => {
		const box = await freshRedisBox(redis.port, 1);
		const agent = await connect(box);
		await agent.call('gpu_reserve', {duration: '2s'});
		await eventually(() => agent.notices().length > 0);
		expect(agent.notices()[0]).toMatch(/^Reservation \S+ has ended: GPU 0 was released at the end of its time\.$/v);
		expect(await holders(box)).toBe('0:-');
		expect((await agent.call('gpu_queue')).words).toMatch(
			/ has ended: GPU 0 was released at the end of its time\. Nobody waits\.$/v,
		);
		expect((await agent.call('gpu_queue')).words).toBe('Nobody waits.');
	});

	test('that expires during a canceled call is reported in the next result', async () => {
		const box = await freshEmbeddedBox(2);
		await box.run('reserve --gpu-ids 1 --duration 1h');
		const agent = await connect(box);
		await agent.call('gpu_reserve', {duration: '2s'});
		const cancellation = new AbortController();
		const canceled = agent
			.call('gpu_reserve', {gpu_ids: [1], wait_seconds: 600}, {signal: cancellation.signal})
			.catch(() => 'canceled');
		await eventually(() => agent.notices().length > 0);
		cancellation.abort();
		expect(await canceled).toBe('canceled');
		await eventually(async () => (await peek(box)).queue.length === 0);
		expect((await agent.call('gpu_queue')).words).toMatch(/^Reservation \S+ has ended: GPU 0 .* Nobody waits\.$/v);
	});

	test('can be released from another connection only by its lease_id', async () => {
		const box = await freshEmbeddedBox(2);
		// Two clients with the same label.
		const [one, other] = [await connect(box, {flags: ['--user', 'ci']}), await connect(box, {flags: ['--user', 'ci']})];
		const {lease_id: id} = (await one.call('gpu_reserve')).json as {readonly lease_id: string};
		await other.call('gpu_reserve');
		expect((await other.call('gpu_release')).words).toBe('Released 1 GPU(s): [1].');
		expect(await holders(box)).toBe('0:RUN 1:-');
		expectError(await other.call('gpu_renew', {lease_id: id}), /Only the process that holds it can renew it/v);
		expect((await other.call('gpu_release', {lease_id: id})).words).toBe('Released 1 GPU(s): [0].');
		await eventually(() => one.notices().length > 0);
		expect(one.notices()[0]).toMatch(
			/^Reservation \S+ no longer has GPU 0: somebody released it or created the pool again\.$/v,
		);
		expectError(await other.call('gpu_release', {lease_id: id}), /has already ended/v);
	});

	slowTest('outlives its connection with detached: true and can then be released by its lease_id', async () => {
		const box = await freshEmbeddedBox(1);
		const one = await connect(box);
		const {lease_id: id} = (await one.call('gpu_reserve', {detached: true})).json as {readonly lease_id: string};
		await one.close();
		await eventually(() => !isAlive(one.pid));
		expect(await holders(box)).toBe('0:MANUAL');
		const other = await connect(box);
		expect((await other.call('gpu_renew', {lease_id: id, duration: '2h'})).json).toMatchObject({
			extended: [{gpu_id: 0}],
		});
		expect((await box.run('status')).stdout).toContain('via mcp claude-code');
		expect(await other.call('gpu_release', {lease_id: id})).toMatchObject({isError: false});
		expect(await holders(box)).toBe('0:-');
	});

	slowTest('survives a restart of Redis', async () => {
		const box = await freshRedisBox(redis.port, 1);
		const agent = await connect(box);
		await agent.call('gpu_reserve');
		await redis.restart();
		await eventually(async () => !(await agent.call('gpu_status')).isError);
		expect(await holders(box)).toBe('0:RUN');
		await agent.close();
		await eventually(async () => (await holders(box)) === '0:-');
	});

	slowTest('ends when its mcp server is killed, so that a waiting request gets the GPU', async () => {
		const box = await freshRedisBox(redis.port, 1);
		const agent = await connect(box);
		await agent.call('gpu_reserve');
		const waiting = start(box, 'reserve --short');
		await waiting.says(/Waiting for 1 GPU/v);
		process.kill(agent.pid, 'SIGKILL');
		expect(await waiting.ended).toMatchObject({exitCode: 0, stdout: '0\n'});
	});
});

/** Calls of agents while the store cannot be reached. */
import {spawn} from 'node:child_process';
import {expect, onTestFinished, test} from 'vitest';
import {starter, starterText} from '../_helpers/program/cli.js';
import {freshRedisBox, holders, isAlive, peek} from '../_helpers/program/processes.js';
import {eventually} from '../_helpers/eventually.js';
import {slowTest} from '../_helpers/slow.js';
import {startRedis} from '../_helpers/store/redis-server.js';
import {openRequestProxy} from '../_helpers/store/request-proxy.js';
import {connect, expectError} from './_client.js';

async function startWaiting() {
	const redis = await startRedis({isDurable: true});
	onTestFinished(async () => redis.stop());
	const box = await freshRedisBox(redis.port, 2);
	await box.run('reserve --gpu-ids 1 --duration 1h');
	const agent = await connect(box);
	const cancellation = new AbortController();
	const progress: string[] = [];
	const wait = async (seconds: number) =>
		agent.call(
			'gpu_reserve',
			{count: 2, wait_seconds: seconds},
			{
				signal: cancellation.signal,
				onprogress({message = ''}) {
					progress.push(message);
				},
			},
		);

	return {redis, box, agent, cancellation, progress, wait};
}

test('a gpu_reserve that is canceled while Redis is down leaves the queue and frees its GPU once Redis is back', async () => {
	const {redis, box, agent, cancellation, progress, wait} = await startWaiting();
	const canceled = wait(600).catch(() => 'canceled');
	await eventually(() => progress.some((words) => words.includes('got 1/2')));
	await redis.kill();
	await eventually(() => progress.some((words) => words.includes('Cannot reach')));
	cancellation.abort();
	expect(await canceled).toBe('canceled');
	await redis.restart();
	await eventually(async () => (await peek(box)).queue.length === 0);
	expect(await holders(box)).toBe('0:- 1:MANUAL');
	expect(isAlive(agent.pid)).toBe(true);
});

slowTest('a gpu_reserve whose time ends while Redis is down says that it will leave the queue', async () => {
	const {redis, box, progress, wait} = await startWaiting();
	const answer = wait(8);
	await eventually(() => progress.some((words) => words.includes('got 1/2')));
	await redis.kill();
	expectError(
		await answer,
		/^The GPUs did not become free in time\. The store cannot be reached\. Once it is back, this request leaves the queue/v,
	);
	await redis.restart();
	await eventually(async () => (await peek(box)).queue.length === 0);
	expect(await holders(box)).toBe('0:- 1:MANUAL');
});

slowTest('the server of an agent ends with its client, even if Redis went down right after a grant', async () => {
	const redis = await startRedis();
	onTestFinished(async () => redis.stop());
	const box = await freshRedisBox(redis.port, 1);
	const proxy = await openRequestProxy(redis.port);
	onTestFinished(async () => proxy.close());
	// Not a client of the SDK, because that client would kill the server.
	const server = spawn(starter, [...starterText, 'mcp'], {
		cwd: box.home,
		env: {...box.environment, CANHAZGPU_REDIS_PORT: String(proxy.port)},
		stdio: ['pipe', 'ignore', 'ignore'],
	});
	onTestFinished(() => {
		server.kill('SIGKILL');
	});
	proxy.failAt('"lease_id"', {forMs: 120_000, isAnswered: true});
	const call = {jsonrpc: '2.0', id: 1, method: 'tools/call', params: {name: 'gpu_reserve', arguments: {}}};
	server.stdin.write(`${JSON.stringify(call)}\n`);
	await eventually(async () => (await holders(box)) !== '0:-');
	server.stdin.end();
	await eventually(() => server.exitCode === 0, 25_000);
});

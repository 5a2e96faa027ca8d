/** Clients that do not read the answers of `canhazgpu mcp`. */
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {expect, onTestFinished, test} from 'vitest';
import {starter, starterText, type Box} from '../_helpers/program/cli.js';
import {freshEmbeddedBox, freshRedisBox, holders, recordsOf} from '../_helpers/program/processes.js';
import {eventually} from '../_helpers/eventually.js';
import {startRedis} from '../_helpers/store/redis-server.js';

/** Starts a server whose client has reserved a GPU. */
async function startServer(box: Box) {
	const child = spawn(starter, [...starterText, 'mcp'], {cwd: box.home, env: {...box.environment}});
	onTestFinished(() => {
		child.kill('SIGKILL');
	});
	let id = 0;
	const request = (method: string, parameters: unknown): void => {
		id++;
		child.stdin.write(`${JSON.stringify({jsonrpc: '2.0', id, method, params: parameters})}\n`);
	};

	let stderr = '';
	child.stderr.setEncoding('utf8').on('data', (data: string) => {
		stderr += data;
	});
	// A write can fail when the server has ended.
	child.stdin.on('error', () => undefined);
	const clientInfo = {name: 'silent', version: '1'};
	request('initialize', {protocolVersion: '2025-06-18', capabilities: {}, clientInfo});
	request('tools/call', {name: 'gpu_reserve', arguments: {}});
	await eventually(async () => (await holders(box)) === '0:RUN');
	return {child, request, ended: once(child, 'exit'), stderr: () => stderr};
}

const endsOf = async (box: Box) => (await recordsOf(box)).map(({endReason}) => endReason);

test('mcp releases its reservations and ends on SIGTERM although the client reads nothing', async () => {
	const box = await freshEmbeddedBox(1);
	const {child, request, ended, stderr} = await startServer(box);
	// More answers than the pipe and the buffers can hold.
	for (let index = 0; index < 40; index++) {
		request('tools/list', {});
	}

	await eventually(() => child.stdin.writableLength === 0);
	child.kill('SIGTERM');
	expect(await ended).toEqual([0, null]);
	expect(await holders(box)).toBe('0:-');
	expect(await endsOf(box)).toEqual(['released']);
	expect(stderr()).toBe('');
});

test('mcp releases its reservations and ends if the client closes only the output of the server', async () => {
	const redis = await startRedis();
	onTestFinished(async () => redis.stop());
	const box = await freshRedisBox(redis.port, 1);
	const {child, request, ended} = await startServer(box);
	child.stdout.destroy();
	request('tools/list', {});
	expect(await ended).toEqual([0, null]);
	expect(await holders(box)).toBe('0:-');
	expect(await endsOf(box)).toEqual(['released']);
});

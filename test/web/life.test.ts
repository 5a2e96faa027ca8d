import {createServer, Server} from 'node:http';
import {Hono} from 'hono';
import {expect, onTestFinished, test, vi} from 'vitest';
import {listenAtSocket} from '../../source/web/server/socket.js';
import {startServer} from '../../source/web/server/server.js';
import type {Bindings} from '../../source/web/server/guard.js';
import {createBox, withoutRedis} from '../_helpers/program/cli.js';
import {eventually} from '../_helpers/eventually.js';
import {freshEmbeddedBox} from '../_helpers/program/processes.js';
import {redisOfFile} from '../_helpers/store/redis-of-file.js';
import {firstCase, slowTest} from '../_helpers/slow.js';
import {ask, askJson, listenTo, startWeb} from './_server.js';

const password = 'correct-horse-battery-staple';
/** Immediately, on a machine that is busy with other tests. */
const soonMs = 4000;
const redis = redisOfFile({settings: ['--requirepass', password], isDurable: true});

test('web on a port that is in use exits with an error and a hint', async () => {
	const box = await freshEmbeddedBox(1);
	const web = await startWeb(box);
	onTestFinished(async () => {
		await web.end('SIGKILL');
	});
	expect(await box.run(`web --port ${web.port}`)).toEqual({
		exitCode: 1,
		stdout: '',
		stderr: `Error: Port ${web.port} of 127.0.0.1 is in use by another program\nChoose another with --port 8081, or let the system pick a free port with --port 0\n`,
	});
});

test.each([
	['EINVAL', 'fe80::1 is not an address of this machine'],
	['EAFNOSUPPORT', 'fe80::1 is not an address of this machine'],
	['EAI_AGAIN', 'fe80::1 is not a host name that this machine knows'],
	['EMFILE', 'The dashboard cannot listen at port 80 of fe80::1: listen EMFILE'],
])('startServer reports %s of the system as an error for the user', async (code, message) => {
	const listen = vi.spyOn(Server.prototype, 'listen').mockImplementation(function (this: Server) {
		setImmediate(() => {
			this.emit('error', Object.assign(new Error(`listen ${code}`), {code, errno: -1}));
		});
		return this;
	});
	onTestFinished(() => {
		listen.mockRestore();
	});
	const starting = startServer({host: 'fe80::1', port: 80}, Promise.resolve(new Hono<Bindings>()));
	await expect(starting).rejects.toMatchObject({name: 'CanhazgpuError', code: 'failed', message});
});

test('listenAtSocket names the socket and the problem if it cannot create the socket', async () => {
	await expect(listenAtSocket(createServer(), '/nowhere/web.sock')).rejects.toMatchObject({
		code: 'failed',
		message: 'The socket /nowhere/web.sock cannot be created: permission denied',
		hint: expect.stringContaining('XDG_RUNTIME_DIR') as string,
	});
});

test.each(firstCase(['SIGINT', 'SIGTERM', 'SIGHUP']))('%s ends web at once, even with open streams', async (signal) => {
	const box = await freshEmbeddedBox(1);
	const web = await startWeb(box);
	const streams = [listenTo(web.port), listenTo(web.port)];
	await eventually(() => streams.every(({messages}) => messages.length > 0));
	const {end, ms} = await web.end(signal);
	expect(end).toBe(0);
	expect(ms).toBeLessThan(soonMs);
	await Promise.all(streams.map(async ({closed}) => closed));
	expect(web.stderr()).toBe('');
});

slowTest('web --demo needs no pool and stores nothing', async () => {
	const box = createBox(withoutRedis);
	onTestFinished(box.remove);
	const web = await startWeb(box, ['--demo']);
	expect((await askJson<readonly unknown[]>(web.port, '/api/status')).length).toBeGreaterThan(3);
	expect((await web.end('SIGTERM')).end).toBe(0);
	const after = await box.run('status');
	expect(after.exitCode).toBe(4);
});

test('web warns if it is open to the network', async () => {
	const box = await freshEmbeddedBox(1);
	const web = await startWeb(box, ['--host', '0.0.0.0']);
	await eventually(() => web.stderr().includes('Everyone who can reach this machine can view it'));
	await web.end('SIGTERM');
});

test('web reports an outage of Redis without showing the password, and recovers by itself', async () => {
	const credentials = {CANHAZGPU_REDIS_PASSWORD: password};
	const made = createBox({CANHAZGPU_REDIS_HOST: '127.0.0.1', CANHAZGPU_REDIS_PORT: String(redis.port), ...credentials});
	onTestFinished(made.remove);
	expect((await made.run('admin --gpus 2 --provider fake')).exitCode).toBe(0);
	const web = await startWeb(made);
	onTestFinished(async () => {
		await web.end('SIGKILL');
	});
	const stream = listenTo(web.port);
	onTestFinished(stream.close);
	await eventually(() => stream.messages.length > 0);
	await redis.kill();
	await eventually(async () => (await ask(web.port, '/healthz')).status === 503);
	const seen = [
		await ask(web.port, '/healthz'),
		await ask(web.port, '/api/status'),
		await ask(web.port, '/api/report'),
	];
	for (const {status, body} of seen) {
		expect(status).toBe(503);
		expect(body).toMatch(/Redis|connection/v);
		expect(body).not.toContain(password);
		expect(body).not.toMatch(/\.js:\d|\bat .*\(/v);
	}

	expect((await ask(web.port, '/metrics')).body).toContain('canhazgpu_store_up 0');
	await eventually(() =>
		stream.messages.some(({data}) => (data['store'] as {live?: boolean} | undefined)?.live === false),
	);
	await redis.restart({settings: ['--requirepass', password]});
	await eventually(async () => (await ask(web.port, '/healthz')).status === 200);
	await eventually(
		() =>
			stream.messages.findLast(({data}) => data['store'] !== undefined)?.data['store'] !== undefined &&
			(stream.messages.findLast(({data}) => data['store'] !== undefined)!.data['store'] as {live: boolean}).live,
	);
	await made.run('reserve --gpu-ids 1');
	expect(await askJson(web.port, '/api/status')).toMatchObject([{status: 'AVAILABLE'}, {status: 'IN_USE'}]);
	expect(web.stdout() + web.stderr()).not.toContain(password);
	expect((await web.end('SIGTERM')).ms).toBeLessThan(soonMs);
});

slowTest('web ends after the pool was moved to another store, so that its service uses the new location', async () => {
	const box = await freshEmbeddedBox(1);
	const web = await startWeb(box);
	const environment = {CANHAZGPU_STORE: '', CANHAZGPU_REDIS_PASSWORD: password};
	const move = `admin --store redis --redis-port ${redis.port} --gpus 1 --provider fake --force`;
	expect(await box.run(move, environment)).toMatchObject({exitCode: 0});
	expect(await web.ended).toBe(4);
	expect(web.stderr()).toMatch(/^Error: The pool that was in \S+ is in redis \S+ now\nRestart programs/v);
});

slowTest('web ends at once on SIGTERM while Redis is down', async () => {
	const box = await createRedisBoxWithPassword();
	const web = await startWeb(box);
	await redis.kill();
	await eventually(async () => (await ask(web.port, '/healthz')).status === 503);
	const {end, ms} = await web.end('SIGTERM');
	expect(end).toBe(0);
	expect(ms).toBeLessThan(soonMs);
	await redis.restart();
});

async function createRedisBoxWithPassword() {
	const box = createBox({
		CANHAZGPU_REDIS_HOST: '127.0.0.1',
		CANHAZGPU_REDIS_PORT: String(redis.port),
		CANHAZGPU_REDIS_PASSWORD: password,
	});
	onTestFinished(box.remove);
	await box.run('admin --gpus 2 --provider fake --force');
	return box;
}

/** Failures of `canhazgpu web --mine`: each request happens once or not at all, and other accounts have no access. */
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {chmodSync} from 'node:fs';
import path from 'node:path';
import {text} from 'node:stream/consumers';
import {describe, expect, onTestFinished} from 'vitest';
import {accountsOfFile, alice, canBeOthers, mallory} from '../../_helpers/machine/strangers.js';
import type {Box} from '../../_helpers/program/cli.js';
import {freshEmbeddedBox, freshRedisBox} from '../../_helpers/program/processes.js';
import {slowTest} from '../../_helpers/slow.js';
import {eventually} from '../../_helpers/eventually.js';
import {redisOfFile} from '../../_helpers/store/redis-of-file.js';
import {openRequestProxy, type CommitFate} from '../../_helpers/store/request-proxy.js';
import {askSocket, createRuntimeDirectory, signIn, startMine, startMineAs} from './_mine.js';

const redis = redisOfFile({isDurable: true});

async function start(box: Box, environment: Readonly<Record<string, string>> = {}) {
	const runtime = createRuntimeDirectory();
	const mine = await startMine(box, runtime.directory, environment);
	onTestFinished(async () => {
		await mine.end('SIGKILL');
		runtime.remove();
	});
	return {runtime, mine, page: await signIn(mine)};
}

async function leases(box: Box): Promise<readonly string[]> {
	const rows = JSON.parse((await box.run('status --json')).stdout) as ReadonlyArray<{readonly lease_id?: string}>;
	return [...new Set(rows.map((row) => row.lease_id).filter((id) => id !== undefined))];
}

const fates: readonly CommitFate[] = [
	'is carried out and its connection is cut',
	'is carried out and not answered',
	'never arrives',
	'arrives before the next',
	'arrives after the next',
];

describe('web --mine when answers of Redis are lost', () => {
	for (const fate of fates) {
		slowTest(`reserves once and tells the page if a commit ${fate}`, async () => {
			const box = await freshRedisBox(redis.port, 4);
			const proxy = await openRequestProxy(redis.port);
			onTestFinished(async () => proxy.close());
			const {page} = await start(box, {CANHAZGPU_REDIS_PORT: String(proxy.port)});
			const request = {id: crypto.randomUUID(), count: 1, duration: '1h'};
			proxy.meet([fate]);
			const answer = await page.act('reserve', request);
			const again = await page.act('reserve', request);
			expect([again.status, again.text]).toEqual([answer.status, answer.text]);
			expect(answer.status).toBe(200);
			await proxy.deliver();
			expect((await leases(box)).length).toBe(1);
			const events = JSON.parse((await box.run('events --json')).stdout) as ReadonlyArray<
				Readonly<Record<string, unknown>>
			>;
			expect(events.filter(({kind, via}) => kind === 'granted' && via === 'web').length).toBe(1);
		});
	}
});

slowTest('web --mine tells the page that Redis is down, and recovers by itself', async () => {
	const box = await freshRedisBox(redis.port, 4);
	const {page, mine} = await start(box);
	await redis.kill();
	const refused = await page.act('reserve', {count: 1, duration: '1h'});
	expect([refused.status, refused.json()['code']]).toEqual([503, 'store-unreachable']);
	await redis.restart();
	await eventually(async () => (await askSocket(mine.socketPath, '/healthz')).status === 200);
	expect(await leases(box)).toEqual([]);
	expect((await page.act('reserve', {count: 1, duration: '1h'})).status).toBe(200);
	expect((await leases(box)).length).toBe(1);
});

slowTest('a web --mine that is killed during a request has reserved once or not at all', async () => {
	const box = await freshEmbeddedBox(4);
	const seen = new Set<string>();
	for (const afterMs of [0, 2, 5, 8, 12, 20, 30, 45, 70, 120]) {
		const runtime = createRuntimeDirectory();
		onTestFinished(runtime.remove);
		const mine = await startMine(box, runtime.directory);
		const page = await signIn(mine);
		const request = {id: crypto.randomUUID(), count: 2, duration: '1h'};
		const ask = async (): Promise<number | 'no answer'> => {
			try {
				const {status} = await page.act('reserve', request);
				return status;
			} catch {
				return 'no answer';
			}
		};

		const asked = ask();
		await new Promise((resolve) => {
			setTimeout(resolve, afterMs);
		});
		await mine.end('SIGKILL');
		const answer = await asked;
		const held = await leases(box);
		expect([afterMs, answer, held.length]).toEqual([afterMs, answer, answer === 200 ? 1 : expect.toBeOneOf([0, 1])]);
		seen.add(`${answer} ${held.length}`);
		const next = await startMine(box, runtime.directory);
		const late = await askSocket(next.socketPath, '/api/act/reserve', {
			method: 'POST',
			headers: {authorization: `Bearer ${page.token}`},
			body: JSON.stringify(request),
		});
		expect(late.status).toBe(401);
		await next.end('SIGKILL');
		expect(await leases(box)).toEqual(held);
		await box.run('release');
	}

	// Both outcomes occurred.
	expect([...seen].some((way) => way.startsWith('no answer'))).toBe(true);
	expect(seen).toContain('200 1');
});

slowTest('a queue entry of web --mine ends when the server ends by SIGTERM or SIGKILL', async () => {
	const box = await freshEmbeddedBox(1);
	await box.run('reserve --duration 1h');
	for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
		const {mine, page} = await start(box);
		expect((await page.act('join', {count: 1, duration: '1h'})).status).toBe(200);
		expect((JSON.parse((await box.run('queue --json')).stdout) as {readonly total_waiting: number}).total_waiting).toBe(
			1,
		);
		await mine.end(signal);
		expect((JSON.parse((await box.run('queue --json')).stdout) as {readonly total_waiting: number}).total_waiting).toBe(
			0,
		);
	}
});

describe.skipIf(!canBeOthers)('other accounts', () => {
	const accounts = accountsOfFile();

	slowTest('cannot reach the socket of web --mine', async () => {
		await accounts.run(0, 'admin --gpus 2 --provider fake --store embedded');
		const [node] = accounts.words;
		const runtime = createRuntimeDirectory();
		onTestFinished(runtime.remove);
		const {socketPath: socket, end} = await startMineAs(accounts, alice, runtime.directory);
		onTestFinished(async () => {
			await end('SIGKILL');
		});
		const ask = async (uid: number): Promise<string> => {
			const script = `require('node:http').get({socketPath: ${JSON.stringify(socket)}, path: '/api/mine', headers: {host: 'localhost'}}, (answer) => { console.log(answer.statusCode); }).on('error', (error) => { console.log(error.code); });`;
			const asked = spawn(node, ['-e', script], {
				uid,
				gid: uid,
				cwd: '/',
				env: {},
				stdio: ['ignore', 'pipe', 'inherit'],
			});
			const [answer] = await Promise.all([text(asked.stdout), once(asked, 'close')]);
			return answer.trim();
		};

		expect(await ask(alice)).toBe('200');
		expect(await ask(mallory)).toBe('EACCES');
		// The mode of the directory and the mode of the socket are each enough.
		chmodSync(socket, 0o666);
		expect(await ask(mallory)).toBe('EACCES');
		chmodSync(socket, 0o600);
		chmodSync(path.dirname(socket), 0o755);
		chmodSync(runtime.directory, 0o755);
		expect(await ask(mallory)).toBe('EACCES');
	});
});

/** The API for other hosts, and a server without its own pool. */
import {writeFileSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, onTestFinished} from 'vitest';
import {slowTest} from '../../_helpers/slow.js';
import {createBox, type Box} from '../../_helpers/program/cli.js';
import {eventually} from '../../_helpers/eventually.js';
import {freshEmbeddedBox} from '../../_helpers/program/processes.js';
import {startRedis} from '../../_helpers/store/redis-server.js';
import {browserForAll, chromiumProgram, openPage} from '../page/_browser.js';
import {ask, askJson, listenTo, startWeb, type Web} from '../_server.js';
import {playHosts} from './_hosts.js';

type Row = Readonly<Record<string, unknown>>;

async function startWith(
	box: Box,
	environment: Readonly<Record<string, string>>,
	words: readonly string[] = [],
): Promise<Web> {
	const web = await startWeb(box, words, environment);
	onTestFinished(async () => {
		await web.end('SIGKILL');
	});
	return web;
}

slowTest("/api/hosts/status has the form of the Go canhazgpu's API", async () => {
	const box = await freshEmbeddedBox(2);
	const others = playHosts(box, ['good', 'lost', 'shared']);
	const web = await startWith(box, others.environment);
	const [own, good, lost, shared] = await askJson<readonly Row[]>(web.port, '/api/hosts/status');
	expect(own).toMatchObject({summary: {total: 2, available: 2, in_use: 0}});
	expect(good).toMatchObject({host: 'good', summary: {total: 2, available: 1, in_use: 1}});
	expect(good!['statuses']).toMatchObject([{gpu_id: 0, status: 'IN_USE', user: 'carol'}, {gpu_id: 1}]);
	// A shared GPU has the names of its sharers.
	expect(shared!['statuses']).toMatchObject([{gpu_id: 0, status: 'IN_USE', user: 'dan, erin'}]);
	expect(lost).toEqual({host: 'lost', statuses: [], error: 'lost: No route to host'});
	expect(await askJson(web.port, '/api/hosts/status?host=good')).toMatchObject({host: 'good', statuses: [{}, {}]});
	const {status, body} = await ask(web.port, '/api/hosts/status?host=lost');
	expect([status, JSON.parse(body)]).toEqual([503, {host: 'lost', statuses: [], error: 'lost: No route to host'}]);
});

slowTest('/api/report?host returns the report of that host or an error, never the report of this host', async () => {
	const box = await freshEmbeddedBox(2);
	const others = playHosts(box, ['good', 'lost', 'rude']);
	const web = await startWith(box, others.environment);
	const report = await askJson<{users: readonly Row[]}>(web.port, '/api/report?host=good&days=7');
	expect(report.users).toEqual([{name: 'carol', gpu_hours: 12.5, percentage: 100, run_count: 3, manual_count: 1}]);
	expect(others.calls().at(-1)).toMatch(/ -- good canhazgpu report --json --days 7$/v);
	await askJson(web.port, '/api/report?host=good&days=7&by=gpu');
	expect(others.calls().at(-1)).toMatch(/ report --json --days 7 --by gpu$/v);
	for (const [host, error] of [
		['lost', 'lost: No route to host'],
		['rude', 'rude: its report is not valid JSON'],
	]) {
		const {status, body} = await ask(web.port, `/api/report?host=${host}`);
		expect([status, JSON.parse(body)]).toEqual([503, {error}]);
	}

	const asked = others.calls().length;
	expect((await ask(web.port, '/api/report?host=good&by=a%3Breboot')).status).toBe(400);
	expect(others.calls()).toHaveLength(asked);
	expect(await askJson(web.port, '/api/report?host=localhost')).toMatchObject({users: []});
});

const secret = 'hf_AbCdEfGhIjKl0123456789';

slowTest.each([
	['full', 'python eval.py --hf-token ***', 'python', 'known secrets masked'],
	['short', undefined, 'python', 'names of programs without their arguments'],
	['none', undefined, undefined, 'nothing about running programs'],
] as const)('the server shows command lines with web.commands set to %s', async (commands, line, name, remark) => {
	const box = await freshEmbeddedBox(1);
	const file = path.join(box.home, 'scenario.yaml');
	writeFileSync(file, `processes: [{gpu: 0, user: bob, command: python eval.py --hf-token ${secret}, memory: 9000}]`);
	const others = playHosts(box, ['good']);
	writeFileSync(
		path.join(box.home, 'good.json'),
		JSON.stringify([
			{
				gpu_id: 0,
				status: 'UNRESERVED',
				process_info: '9000MB used by PID 1 (python)',
				processes: [{pid: 1, name: 'python', command: `python eval.py --hf-token ${secret}`}],
			},
		]),
	);
	const environment = {...others.environment, CANHAZGPU_SIMULATED_SCENARIO: file, CANHAZGPU_WEB_COMMANDS: commands};
	const web = await startWith(box, environment, ['--host', '0.0.0.0']);
	await eventually(() => web.stderr().includes(remark));
	const stream = listenTo(web.port, '?hosts');
	onTestFinished(stream.close);
	await eventually(() =>
		stream.messages.some(({event}) => event === 'hosts' && JSON.stringify(stream.messages).includes('"age_ms"')),
	);
	const [row] = await askJson<ReadonlyArray<{processes: readonly Row[]}>>(web.port, '/api/status');
	expect([row!.processes[0]!['command'], row!.processes[0]!['name']]).toEqual([line, name]);
	const {statuses} = await askJson<{statuses: ReadonlyArray<{processes: readonly Row[]}>}>(
		web.port,
		'/api/hosts/status?host=good',
	);
	expect([statuses[0]!.processes[0]!['command'], statuses[0]!.processes[0]!['name']]).toEqual([line, name]);
	const received = JSON.stringify([stream.messages, row, statuses]);
	expect(received).not.toContain(secret);
	expect((await ask(web.port, '/api/report?by=model')).status).toBe(commands === 'full' ? 200 : 400);
	expect(received.includes('eval.py')).toBe(commands === 'full');
	expect(received.includes('python')).toBe(commands !== 'none');
});

slowTest('a server that is open to the network says that it shows short command lines by default', async () => {
	const box = await freshEmbeddedBox(1);
	const web = await startWith(box, {}, ['--host', '0.0.0.0']);
	await eventually(() => web.stderr().includes('(web.commands: short)'));
});

slowTest('a server without a pool shows the other hosts, and finds a pool that is created later', async () => {
	const box = createBox({CANHAZGPU_STORE: 'embedded'});
	onTestFinished(box.remove);
	const others = playHosts(box, ['good']);
	const web = await startWith(box, others.environment);
	expect(web.stderr()).toContain('The dashboard shows the other hosts.');
	expect(await askJson(web.port, '/api/hosts')).toEqual([{name: 'good', is_local: false}]);
	expect(await askJson(web.port, '/api/hosts/status')).toMatchObject([{host: 'good', summary: {total: 2}}]);
	expect((await ask(web.port, '/api/status')).status).toBe(503);
	expect(await askJson(web.port, '/healthz')).toEqual({status: 'ok', pool: false});
	// Otherwise, an alert for an unreadable pool would never end.
	expect((await ask(web.port, '/metrics')).body).not.toMatch(/^canhazgpu_(?:store|scan)_up /mv);
	const stream = listenTo(web.port);
	onTestFinished(stream.close);
	await eventually(() => stream.messages.length > 0);
	expect(stream.messages[0]!.data).toMatchObject({gpu_count: 0, about: {has_pool: false, hosts: ['good']}});
	expect((await box.run('admin --store embedded --gpus 2 --provider fake')).exitCode).toBe(0);
	await eventually(() => stream.messages.some(({data}) => (data['gpus'] as readonly Row[] | undefined)?.length === 2));
	expect((await ask(web.port, '/metrics')).body).toContain('canhazgpu_store_up 1');
	expect((await web.end('SIGTERM')).end).toBe(0);
});

slowTest('web starts even if Redis is unreachable, and waits for Redis', async () => {
	const redis = await startRedis({isDurable: true});
	onTestFinished(async () => redis.stop());
	const box = createBox({CANHAZGPU_REDIS_HOST: '127.0.0.1', CANHAZGPU_REDIS_PORT: String(redis.port)});
	onTestFinished(box.remove);
	expect((await box.run('admin --gpus 2 --provider fake')).exitCode).toBe(0);
	await redis.kill();
	const web = await startWith(box, {});
	expect(web.stderr()).toMatch(/^Cannot reach Redis .* The dashboard waits until the pool can be reached\.\n$/v);
	expect((await ask(web.port, '/healthz')).status).toBe(503);
	await redis.restart();
	await eventually(async () => (await ask(web.port, '/healthz')).status === 200);
	expect(await askJson<readonly Row[]>(web.port, '/api/status')).toHaveLength(2);
});

slowTest('web exits with an error if there is neither a pool nor another host', async () => {
	const box = createBox({CANHAZGPU_STORE: 'embedded'});
	onTestFinished(box.remove);
	const ran = await box.run('web --port 0');
	expect(ran).toMatchObject({exitCode: 4, stdout: ''});
	expect(ran.stderr).toContain('Error: There is no GPU pool on this machine yet');
});

describe.skipIf(chromiumProgram === undefined)('the page without a pool in Chromium', () => {
	const browser = browserForAll();

	slowTest('shows the other hosts and no error', async () => {
		const box = createBox({CANHAZGPU_STORE: 'embedded'});
		onTestFinished(box.remove);
		const web = await startWith(box, playHosts(box, ['good']).environment);
		const {page, problems} = await openPage(browser, web.url);
		await page.locator('.host-card', {hasText: '1 of 2 GPUs free'}).waitFor();
		expect(await page.locator('.tabs a').allTextContents()).toEqual(['Hosts', 'Report']);
		expect(problems).toEqual([]);
	});
});

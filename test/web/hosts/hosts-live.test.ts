/** The other hosts in the running program: on the stream, in Chromium, and with hostile answers. */
import {hostname} from 'node:os';
import {setTimeout as sleep} from 'node:timers/promises';
import {describe, expect, onTestFinished, test} from 'vitest';
import {isLong, slowTest} from '../../_helpers/slow.js';
import {eventually} from '../../_helpers/eventually.js';
import {freshEmbeddedBox} from '../../_helpers/program/processes.js';
import {chromiumProgram, browserForAll, expectFits, openPage, turn} from '../page/_browser.js';
import {askJson, listenTo, startWeb, type StreamMessage} from '../_server.js';
import {playHosts} from './_hosts.js';

type HostUpdate = {readonly name: string; readonly error?: string; readonly gpus?: readonly unknown[]};

async function start(names: readonly string[]) {
	const box = await freshEmbeddedBox(2);
	const others = playHosts(box, names);
	const web = await startWeb(box, [], others.environment);
	onTestFinished(async () => {
		await web.end('SIGKILL');
	});
	return {box, others, web};
}

const updatesIn = (messages: readonly StreamMessage[]): readonly HostUpdate[] =>
	messages.flatMap(({event, data}) => (event === 'hosts' ? (data['hosts'] as readonly HostUpdate[]) : []));

/** Long enough for another round. */
const aRoundMs = 1500;

slowTest('the server queries only hosts that a stream shows, and each of them once for all streams', async () => {
	const {others, web} = await start(['good', 'lost', 'slow']);
	const plain = listenTo(web.port);
	onTestFinished(plain.close);
	await eventually(() => plain.messages.length > 0);
	const streams = Array.from({length: 5}, () => listenTo(web.port, '?hosts'));
	const started = performance.now();
	// Answers are sent while another host is silent.
	await eventually(() =>
		streams.every(({messages}) => {
			const updates = updatesIn(messages);
			return (
				updates.some(({gpus}) => gpus?.length === 2) && updates.some(({error}) => error === 'lost: No route to host')
			);
		}),
	);
	expect(performance.now() - started).toBeLessThan(8000);
	// A later client gets everything immediately.
	const late = listenTo(web.port, '?hosts');
	await eventually(() => late.messages.length > 1);
	expect(updatesIn(late.messages).map(({name}) => name)).toEqual(['good', 'lost']);
	await askJson(web.port, '/api/hosts/status?host=good');
	await eventually(() => others.asked('lost') >= 3);
	const seconds = (performance.now() - started) / 1000;
	expect(others.asked('good')).toBeLessThanOrEqual(seconds + 2);
	expect(['good', 'slow'].map((host) => others.mostAtOnce(host))).toEqual([1, 1]);
	for (const stream of [...streams, late]) {
		stream.close();
	}

	// Pending answers may still arrive. The plain stream stays open.
	await sleep(500);
	const asked = others.asked('good');
	await sleep(aRoundMs);
	expect(others.asked('good')).toBe(asked);
	expect(updatesIn(plain.messages)).toEqual([]);
});

test('web ends at once during a query of another host, and leaves no ssh process', async () => {
	const {others, web} = await start(['slow']);
	const stream = listenTo(web.port, '?hosts');
	onTestFinished(stream.close);
	await eventually(() => others.asked('slow') === 1);
	const {end, ms} = await web.end('SIGTERM');
	expect(end).toBe(0);
	expect(ms).toBeLessThan(8000);
	await eventually(() => others.running().length === 0);
});

test('/api/hosts/status has a row with an error for each hostile host', async () => {
	const {web} = await start(['huge', 'deep', 'many', 'rude', hostname()]);
	const [own, ...others] = await askJson<ReadonlyArray<Readonly<Record<string, unknown>>>>(
		web.port,
		'/api/hosts/status',
	);
	// An endless answer is cut before the time limit.
	expect(others).toEqual([
		{host: 'huge', statuses: [], error: 'huge: its answer is longer than 4 MB'},
		{host: 'deep', statuses: [], error: 'deep: its answer is not a list of GPUs'},
		{host: 'many', statuses: [], error: 'many: its answer is not a list of GPUs'},
		{
			host: 'rude',
			statuses: [{gpu_id: 0, status: 'ERROR', state: 'error', user: '<img src=x onerror=xss=1>', note: 'abc'}],
			summary: {total: 1, available: 0, in_use: 0, unreserved: 0, error: 1},
		},
	]);
	// A shared config also names this host.
	expect(own).toMatchObject({host: hostname(), statuses: [{}, {}]});
	expect(await askJson(web.port, '/api/hosts')).toHaveLength(5);
});

describe.runIf(isLong && chromiumProgram !== undefined)('the page of other hosts in Chromium', () => {
	const browser = browserForAll();

	test('shows a change on another host without a request', async () => {
		const {others, web} = await start(['good', 'lost', 'rude']);
		const {page, problems} = await openPage(browser, `${web.url}#/hosts`);
		const other = await openPage(browser, web.url);
		await other.page.locator('.tabs a[data-view="hosts"]').click();
		await other.page.getByRole('list').getByRole('link', {name: 'good'}).click();
		await other.page.locator('#view-hosts [data-gpu="0"]', {hasText: 'carol'}).waitFor();
		const card = page.locator('[data-host="good"]');
		await page.locator('[data-host="lost"]', {hasText: 'No route to host'}).waitFor();
		await card.locator('.square[data-state="in-use"]').waitFor();
		const requests: string[] = [];
		for (const opened of [page, other.page]) {
			opened.on('request', (request) => {
				requests.push(request.url());
			});
		}

		others.say('dave');
		await other.page.locator('#view-hosts [data-gpu="0"]', {hasText: 'dave'}).waitFor();
		others.say('erin');
		await other.page.locator('#view-hosts [data-gpu="0"]', {hasText: 'erin'}).waitFor();
		expect(requests).toEqual([]);
		expect(others.mostAtOnce('good')).toBe(1);
		// No visible page shows the hosts: one page shows its GPUs, and the other tab is hidden.
		await page.locator('.tabs a[data-view="overview"]').click();
		await turn(other.page, true);
		await sleep(500);
		const asked = others.asked('good');
		await sleep(aRoundMs);
		expect(others.asked('good')).toBe(asked);
		await turn(other.page, false);
		others.say('frank');
		await other.page.locator('#view-hosts [data-gpu="0"]', {hasText: 'frank'}).waitFor();
		expect(requests.filter((url) => url.includes('/api/hosts'))).toEqual([]);
		expect([...problems, ...other.problems]).toEqual([]);
	});

	test('shows the last values of a failed host without accessibility problems', async () => {
		const {others, web} = await start(['good']);
		const {page} = await openPage(browser, `${web.url}#/hosts`, {isMotionReduced: true});
		await page.locator('.all-gpus tr', {hasText: 'carol'}).waitFor();
		others.fall();
		await page.locator('.all-gpus tr[data-old]', {hasText: 'carol'}).waitFor();
		await expectFits(page, 'a host that fails');
	});

	slowTest('shows the age of the values while the server or the other host is down', async () => {
		const {box, others, web} = await start(['good', 'slow']);
		const {page} = await openPage(browser, `${web.url}#/hosts/good`);
		const gpu = page.locator('#view-hosts [data-gpu="0"]');
		await gpu.filter({hasText: 'carol'}).waitFor();
		await web.end('SIGKILL');
		await page.locator('#view-hosts .section-head', {hasText: /as it was [1-9]s ago/v}).waitFor();
		expect(await gpu.textContent()).toContain('carol');
		others.say('frank');
		const again = await startWeb(box, ['--port', String(web.port)], others.environment);
		onTestFinished(async () => {
			await again.end('SIGKILL');
		});
		await gpu.filter({hasText: 'frank'}).waitFor();
		others.fall();
		await page.locator('#view-hosts .banner', {hasText: /^its status is not valid JSON/v}).waitFor();
		await page.locator('#view-hosts .section-head', {hasText: /as it was [1-9]s ago/v}).waitFor();
		expect(await gpu.textContent()).toContain('frank');
		await page.getByRole('link', {name: '← All hosts'}).click();
		const card = page.locator('[data-host="good"][data-state="error"]');
		await card.filter({hasText: /as it was \d+s ago/v}).waitFor();
		expect(await card.locator('.square').count()).toBe(2);
	});
});

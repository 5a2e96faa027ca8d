import {hostname} from 'node:os';
import type {Page} from 'playwright-core';
import {describe, expect, onTestFinished, test} from 'vitest';
import {isLong, slowTest} from '../../_helpers/slow.js';
import {freshEmbeddedBox} from '../../_helpers/program/processes.js';
import {playHosts} from '../hosts/_hosts.js';
import {ask, startWeb, type Web} from '../_server.js';
import {browserForAll, cardOf, chromiumProgram, openPage, turn} from './_browser.js';

const streamsOf = async (web: Web): Promise<number> =>
	Number(/streams (?<count>\d+)/v.exec((await ask(web.port, '/metrics')).body)!.groups!['count']);

const isLive = async (page: Page): Promise<void> => page.locator('#pill[data-kind="live"]').waitFor();

const iconOf = async (page: Page) => page.locator('link[rel="icon"]').getAttribute('href');

describe.runIf(isLong && chromiumProgram !== undefined)('browser tabs in Chromium', () => {
	const browser = browserForAll();

	async function start(names: readonly string[] = []) {
		const box = await freshEmbeddedBox(2);
		const others = playHosts(box, names);
		const web = await startWeb(box, [], others.environment);
		onTestFinished(async () => {
			await web.end('SIGKILL');
		});
		return {box, web, others};
	}

	slowTest('share one stream, and another tab takes over when the streaming tab closes', async () => {
		const {box, web} = await start();
		const {page: first} = await openPage(browser, web.url);
		const tabs = [first];
		for (let count = 1; count < 10; count++) {
			const page = await first.context().newPage();
			await page.goto(web.url);
			tabs.push(page);
		}

		await Promise.all(tabs.map(async (page) => isLive(page)));
		expect(await streamsOf(web)).toBe(1);
		await box.run('reserve --gpu-ids 1');
		await Promise.all(tabs.map(async (page) => cardOf(page, 1).locator('.state', {hasText: 'Reserved'}).waitFor()));
		// Other requests still work within the browser's six connections.
		await tabs[9]!.locator('.tabs a[data-view="report"]').click();
		await tabs[9]!.locator('.report tbody tr').first().waitFor();
		await first.close();
		await expect.poll(async () => streamsOf(web)).toBe(1);
		await box.run('release');
		await Promise.all(
			tabs
				.slice(1)
				.map(async (page) => cardOf(page, 1).locator('.state', {hasText: 'Free'}).waitFor({state: 'attached'})),
		);
	});

	test('each have their own stream over plain http, without browser warnings', async () => {
		const {box, web} = await start();
		const url = `http://${hostname()}:${web.port}/`;
		const {page: first, problems} = await openPage(browser, url);
		const second = await first.context().newPage();
		await second.goto(url);
		await isLive(second);
		expect(await first.evaluate('isSecureContext')).toBe(false);
		expect(await streamsOf(web)).toBe(2);
		await box.run('reserve --gpu-ids 1');
		for (const page of [first, second]) {
			await cardOf(page, 1).locator('.state', {hasText: 'Reserved'}).waitFor();
		}

		expect(problems).toEqual([]);
	});

	test('receive the values of other hosts through the stream of another tab', async () => {
		const {web, others} = await start(['good']);
		const {page: first} = await openPage(browser, web.url);
		const second = await first.context().newPage();
		await second.goto(`${web.url}#/hosts`);
		await second.locator('.host-card', {hasText: '1 of 2 GPUs free'}).waitFor();
		expect(await streamsOf(web)).toBe(1);
		await second.locator('.tabs a[data-view="overview"]').click();
		// A host is asked once a second while a page shows it.
		await expect
			.poll(async () => {
				const before = others.asked('good');
				await second.waitForTimeout(2500);
				return others.asked('good') - before;
			})
			.toBe(0);
	});

	test('keep showing the other hosts when the streaming tab closes', async () => {
		const {web, others} = await start(['good']);
		const {page: first} = await openPage(browser, web.url);
		const [second, third] = [await first.context().newPage(), await first.context().newPage()];
		await second.goto(web.url);
		await isLive(second);
		await third.goto(`${web.url}#/hosts`);
		await third.locator('.host-card', {hasText: '1 of 2 GPUs free'}).waitFor();
		await first.close();
		await expect.poll(async () => streamsOf(web)).toBe(1);
		const before = others.asked('good');
		await expect.poll(() => others.asked('good')).toBeGreaterThan(before + 2);
		await third.close();
		await expect
			.poll(async () => {
				const known = others.asked('good');
				await second.waitForTimeout(2500);
				return others.asked('good') - known;
			})
			.toBe(0);
		expect(await streamsOf(web)).toBe(1);
		await isLive(second);
	});

	test('that are hidden hand their stream to a visible tab, and stay live', async () => {
		const {box, web} = await start();
		const {page: first} = await openPage(browser, web.url, {hasOwnClock: true});
		const second = await first.context().newPage();
		await second.goto(web.url);
		await isLive(second);
		await turn(first, true);
		await first.clock.fastForward(11_000);
		await expect.poll(async () => streamsOf(web)).toBe(1);
		await box.run('reserve --gpu-ids 0');
		await cardOf(second, 0).locator('.state', {hasText: 'Reserved'}).waitFor();
		await cardOf(first, 0).locator('.state', {hasText: 'Reserved'}).waitFor();
		await turn(second, true);
		await turn(first, false);
		await isLive(first);
	});

	test('show in the title and the icon how many GPUs are free, or that this is unknown', async () => {
		const {box, web} = await start();
		const {page} = await openPage(browser, web.url);
		await expect.poll(async () => page.title()).toMatch(/^2 free · /v);
		expect(await iconOf(page)).toBe('/icon.svg');
		await box.run('reserve --gpus 2');
		await expect.poll(async () => page.title()).toMatch(/^0 free · /v);
		expect(await iconOf(page)).toBe('/icon-taken.svg');
		expect((await ask(web.port, '/icon-taken.svg')).status).toBe(200);
		await page.locator('.tabs a[data-view="report"]').click();
		await expect.poll(async () => page.title()).toMatch(/^Report · 0 free · /v);
		await web.end('SIGKILL');
		await expect.poll(async () => page.title()).toMatch(/^Report · Reconnecting · /v);
		expect(await iconOf(page)).toBe('/icon-stale.svg');
	});
});

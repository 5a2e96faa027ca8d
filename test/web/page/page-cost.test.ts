import {describe, expect, onTestFinished, test} from 'vitest';
import {isLong} from '../../_helpers/slow.js';
import {freshEmbeddedBox} from '../../_helpers/program/processes.js';
import {ask, scriptOf, startWeb} from '../_server.js';
import {browserForAll, cardOf, chromiumProgram, openPage} from './_browser.js';

describe.runIf(isLong && chromiumProgram !== undefined)('the loaded page in Chromium', () => {
	const browser = browserForAll();

	async function start() {
		const box = await freshEmbeddedBox(8);
		await box.run('reserve --gpus 5');
		const web = await startWeb(box);
		onTestFinished(async () => {
			await web.end('SIGKILL');
		});
		return web;
	}

	test('has a script that names the license of its bundled packages at the start', async () => {
		const {port} = await start();
		const {body} = await ask(port, await scriptOf(port));
		expect(body.slice(0, 100)).toMatch(/^\/\* Contains packages under the MIT licence: see third-party-licenses\.txt/v);
	});

	test('has no endless animation, and no layout shift when a reading changes', async () => {
		const web = await start();
		const {page} = await openPage(browser, web.url);
		const share = async () => cardOf(page, 0).locator('.meter-bar').first().getAttribute('style');
		const before = await share();
		await expect.poll(share).not.toBe(before);
		// Scaling leaves the layout box as wide as its track.
		const widths =
			"[...document.querySelectorAll('#cards .meter-fill')].map((fill) => fill.offsetWidth - fill.parentElement.clientWidth)";
		expect(new Set(await page.evaluate<readonly number[]>(widths))).toEqual(new Set([0]));
		await page.mouse.move(0, 0);
		await expect.poll(async () => page.evaluate('document.getAnimations().length')).toBe(0);
	});

	test('needs few requests and causes no layout shifts on the first visit', async () => {
		const web = await start();
		const context = await browser().newContext({viewport: {width: 1280, height: 800}});
		onTestFinished(async () => context.close());
		const page = await context.newPage();
		await page.addInitScript(`
			window.shift = 0;
			new PerformanceObserver((list) => {
				for (const entry of list.getEntries()) {
					window.shift += entry.hadRecentInput ? 0 : entry.value;
				}
			}).observe({type: 'layout-shift', buffered: true});
		`);
		const requests: string[] = [];
		page.on('request', (request) => {
			requests.push(new URL(request.url()).pathname);
		});
		await page.goto(web.url);
		await page.locator('#pill[data-kind="live"]').waitFor();
		await page.locator('.spark-line[d^=M]').first().waitFor({state: 'attached'});
		expect(await page.evaluate('window.shift')).toBeLessThan(0.05);
		expect(requests.length).toBeLessThanOrEqual(8);
		expect(requests.filter((path) => path.endsWith('.svg')).length).toBeLessThanOrEqual(1);
		// The page, its icon, one script and one style. The rest follows the first view.
		expect(
			requests.filter((path) => path.startsWith('/page/')).map((path) => path.replace(/\/[\w\-]{8}\//v, '/')),
		).toEqual(['/page/page.css', '/page/page.js', '/page/follow-up.js', '/page/late-follow-up.css']);
		const bytesOf = async (files: string) =>
			page.evaluate<number>(
				`performance.getEntries().reduce((sum, {name, encodedBodySize = 0}) => sum + (/${files}/v.test(name) ? encodedBodySize : 0), 0)`,
			);
		const first = await bytesOf(String.raw`\bpage[.](js|css)$|[.]svg$|:\d+.$`);
		expect(first).toBeGreaterThan(10_000);
		expect(first).toBeLessThan(15_600);
		expect(await bytesOf('follow-up')).toBeLessThan(2800);
		await page.reload();
		await page.locator('#pill[data-kind="live"]').waitFor();
		const sizes = await page.evaluate<ReadonlyArray<readonly [name: string, size: number]>>(
			"performance.getEntriesByType('resource').filter(({name}) => name.includes('/page/')).map(({name, transferSize}) => [name, transferSize])",
		);
		expect(sizes.length).toBe(4);
		expect(sizes.filter(([, size]) => size > 0)).toEqual([]);
	});
});

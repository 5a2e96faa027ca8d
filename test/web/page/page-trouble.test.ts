/** The page during failures: a restarted server, a missing store, and hostile text. */
import {describe, expect, onTestFinished, test} from 'vitest';
import type {Plan, Write} from '../../../source/core/model/plan.js';
import type {AuditRecord} from '../../../source/core/model/types.js';
import {sanitize} from '../../../source/format/text/text.js';
import {createEmbeddedBox} from '../../_helpers/program/cli.js';
import {freshEmbeddedBox, freshRedisBox, openStoreOf} from '../../_helpers/program/processes.js';
import {isLong} from '../../_helpers/slow.js';
import {startRedis} from '../../_helpers/store/redis-server.js';
import {ask, startWeb} from '../_server.js';
import {chromiumProgram, cardOf, browserForAll, openPage, turn} from './_browser.js';

const hostileCount = 1000;
const gpuCount = 250;

/** Payloads that run `window.xss` if the page treats them as markup, an address or a script. */
const payloads = [
	'<script>xss=1</script>',
	'<img src=x onerror=xss=1>',
	'<svg onload=xss=1>',
	'"><svg/onload=xss=1>',
	"'-xss=1-'",
	'</title><script>xss=1</script>',
	'</script><script>xss=1</script>',
	'<iframe srcdoc="<script>parent.xss=1</script>">',
	// eslint-disable-next-line no-script-url -- what must not run
	'javascript:xss=1',
	'<a href="javascript:xss=1" autofocus onfocus=xss=1>x</a>',
	'<style>@import "//evil.example/x.css";</style>',
	'<base href="//evil.example/">',
	'<meta http-equiv=refresh content="0;url=//evil.example">',
	'{{constructor.constructor("xss=1")()}}',
	// eslint-disable-next-line no-template-curly-in-string -- what must not run
	'${xss=1}',
	'<details open ontoggle=xss=1>',
	'<object data="javascript:xss=1">',
	'<form action="javascript:xss=1"><button autofocus>',
	'&lt;img src=x onerror=xss=1&gt;',
	'\u{3C}img src=x onerror=xss=1\u{3E}',
	'--><script>xss=1</script>',
	']]><script>xss=1</script>',
	'\n\ndata: {"gpus":[]}\n\nevent: state\ndata: <script>xss=1</script>\n\n',
];

const hostile = (number: number): string => {
	const payload = payloads[number % payloads.length]!;
	const disguises = [
		payload,
		payload.toUpperCase().replaceAll('XSS', 'xss'),
		`${number} ${payload}`,
		`${payload}${payload}`,
		`"'\`>${payload}`,
	];
	return disguises[Math.floor(number / payloads.length) % disguises.length]!;
};

/** Returns the expected text in the page: one line. */
const shown = (number: number): string => sanitize(hostile(number));

/** Returns a plan with hostile holders of every GPU, hostile queue entries and hostile events. */
function hostilePlan(from: number, now: number): Plan {
	const numbers = Array.from({length: gpuCount}, (_, position) => from + position);
	const leases = numbers.map((number, index): Write => ({
		kind: 'lease',
		index,
		lease: {
			user: hostile(number + 1),
			actualUser: hostile(number + 2),
			note: hostile(number),
			type: 'manual',
			startTime: Math.floor(now),
			expiryTime: Math.floor(now) + 3600,
			leaseId: `lease-${number}`,
		},
	}));
	const waiters = numbers.slice(0, from === 0 ? 50 : 0).map((number): Write => ({
		kind: 'join',
		entry: {
			id: `entry-${number}`,
			user: hostile(number + 1),
			actualUser: hostile(number),
			requestedCount: 1,
			requestedIds: [],
			allocatedGpus: [],
			reservationType: 'manual',
			note: hostile(number),
			enqueueTime: now,
			lastHeartbeat: now,
		},
	}));
	const audit = numbers.slice(0, 50).map((number): AuditRecord => ({
		time: now,
		kind: 'released',
		account: hostile(number),
		label: hostile(number + 1),
		gpus: [number],
		reason: hostile(number + 2),
		note: hostile(number + 3),
	}));
	return {
		expect: [],
		writes: [...leases, ...waiters],
		usage: [],
		audit,
		event: {kind: 'granted', gpus: []},
		grants: false,
	};
}

describe.runIf(isLong && chromiumProgram !== undefined)('the page during failures in Chromium', () => {
	const browser = browserForAll();

	test('reconnects to a restarted server and catches up', async () => {
		const box = await freshEmbeddedBox(2);
		const first = await startWeb(box);
		const {page, problems} = await openPage(browser, first.url);
		await page.evaluate('window.marker = "same page"');
		await cardOf(page, 0).locator('button').first().click();
		await first.end('SIGTERM');
		await page
			.locator('#banners [data-kind="link"]', {hasText: /STALE.*The values are \d+s old\. Reconnecting/v})
			.waitFor();
		expect(await page.locator('#pill-text').textContent()).toBe('Reconnecting');
		await box.run('reserve --gpu-ids 1');
		const second = await startWeb(box, ['--port', String(first.port)]);
		onTestFinished(async () => {
			await second.end('SIGKILL');
		});
		await page.locator('#pill[data-kind="live"]').waitFor();
		await page.locator('#banners [data-kind="link"]').waitFor({state: 'detached'});
		await cardOf(page, 1).locator('.state', {hasText: 'Reserved'}).waitFor();
		expect(await page.evaluate('window.marker')).toBe('same page');
		expect(await cardOf(page, 0).locator('.card-body').isVisible()).toBe(true);
		expect(problems).toEqual([]);
	});

	test('closes its connection when hidden, and reconnects when visible', async () => {
		const box = await freshEmbeddedBox(1);
		const web = await startWeb(box);
		onTestFinished(async () => {
			await web.end('SIGKILL');
		});
		const {page} = await openPage(browser, web.url, {hasOwnClock: true});
		const streams = async () => /streams (?<count>\d+)/v.exec((await ask(web.port, '/metrics')).body)!.groups!['count'];
		expect(await streams()).toBe('1');
		await turn(page, true);
		await page.clock.fastForward(9000);
		expect(await streams()).toBe('1');
		await page.clock.fastForward(2000);
		await expect.poll(streams).toBe('0');
		await turn(page, false);
		await expect.poll(streams).toBe('1');
		await page.locator('#pill[data-kind="live"]').waitFor();
	});

	test('shows an error if a part of the page fails to load, and loads that part later', async () => {
		const box = await freshEmbeddedBox(1);
		const web = await startWeb(box);
		onTestFinished(async () => {
			await web.end('SIGKILL');
		});
		const {page, problems} = await openPage(browser, web.url);
		for (const [kind, view] of [
			['js', 'report'],
			['css', 'hosts'],
		] as const) {
			const part = new RegExp(String.raw`/(late-)?${view}\.${kind}(\?.*)?$`, 'v');
			await page.route(part, async (route) => route.abort());
			await page.evaluate(`location.hash = '#/${view}'`);
			const words = page.locator(`#view-${view} .quiet`, {hasText: 'This part cannot be loaded now.'});
			await words.waitFor();
			expect(await words.getByRole('button', {name: 'Reload the page'}).count()).toBe(1);
			await page.unroute(part);
			await page.locator(`#${view}-title`).waitFor();
			expect(await page.evaluate('document.activeElement.id')).toBe(`${view}-title`);
		}

		expect(problems).toEqual([]);
	});

	test('shows and announces that its values are old while Redis is down, then recovers', async () => {
		const redis = await startRedis({isDurable: true});
		onTestFinished(async () => redis.stop());
		const box = await freshRedisBox(redis.port, 2);
		const web = await startWeb(box);
		onTestFinished(async () => {
			await web.end('SIGKILL');
		});
		const {page} = await openPage(browser, web.url);
		await page.evaluate(`
			window.announced = [];
			const announcer = document.querySelector('#announcer');
			new MutationObserver(() => announced.push(announcer.textContent)).observe(announcer, {subtree: true, childList: true, characterData: true});
		`);
		const announced = async () => page.evaluate<string>(String.raw`announced.join('\n')`);
		await page.locator('#pill[data-kind="live"]').waitFor();
		await redis.kill();
		await page
			.locator('#banners [data-kind="store"]', {
				hasText: /STALE.*The values are \d+s old.*The page updates when the store is back/v,
			})
			.waitFor();
		await page
			.locator('#banners [data-kind="scan"]', {
				hasText: /No new readings for \d+s: The simulated GPUs cannot be counted: /v,
			})
			.waitFor();
		await page.locator('#pill-text', {hasText: /Stale \d+s/v}).waitFor();
		await expect.poll(announced).toContain('The values are no longer updated: Cannot reach Redis');
		await expect.poll(announced).toContain('There are no new readings of the GPUs: ');
		// Old values are paler than live ones, in either layout.
		for (const list of ['cards', 'rows']) {
			await page.evaluate(`location.hash = '#/gpus?as=${list}'`);
			await page.locator(`.${list}`).waitFor();
			const filter = await page.evaluate(`getComputedStyle(document.querySelector('.${list}')).filter`);
			expect([list, filter]).toEqual([list, 'saturate(0.25)']);
		}

		await page.evaluate("location.hash = '#/'");
		await redis.restart();
		await page.locator('#pill[data-kind="live"]').waitFor();
		await page.locator('#banners [data-kind="store"]').waitFor({state: 'detached'});
		await expect.poll(announced).toContain('The values are updated again');
		await box.run('reserve --gpu-ids 1');
		await cardOf(page, 1).locator('.state', {hasText: 'Reserved'}).waitFor();
	});

	test('shows no counts or states before the first message', async () => {
		const box = await freshEmbeddedBox(2);
		const web = await startWeb(box);
		onTestFinished(async () => {
			await web.end('SIGKILL');
		});
		const page = await browser().newPage();
		onTestFinished(async () => page.close());
		// The stream is never answered.
		await page.route('**/api/events*', async () => undefined);
		await page.goto(web.url);
		await page.locator('#pill[data-kind="connecting"]').waitFor();
		expect(await page.locator('#summary dt + dd').allTextContents()).toEqual(Array.from({length: 8}, () => '–'));
		expect(await page.locator('#queue, #recent').allTextContents()).toEqual(['–', '–']);
	});

	test(`shows ${hostileCount} hostile notes, names and reasons as text`, async () => {
		const box = await createEmbeddedBox(gpuCount);
		onTestFinished(box.remove);
		const store = await openStoreOf(box);
		const web = await startWeb(box);
		onTestFinished(async () => {
			await web.end('SIGKILL');
		});
		const {page, problems, strangers} = await openPage(browser, new URL('#/?as=cards', web.url).href);
		const made = async () =>
			page.evaluate(
				'[window.xss, document.querySelectorAll("main :is(script, img, iframe, object, style, base, meta, form, link)").length]',
			);
		for (let from = 0; from < hostileCount; from += gpuCount) {
			expect(await store.commit(hostilePlan(from, (await store.read()).now))).toBe('done');
			const last = page.locator(`[data-gpu="${gpuCount - 1}"]`).locator('.note');
			await expect.poll(async () => last.textContent()).toBe(shown(from + gpuCount - 1));
			expect(await made()).toEqual([undefined, 0]);
		}

		for (let gpu = 0; gpu < payloads.length; gpu++) {
			await page.locator(`[data-gpu="${gpu}"]`).locator('button').first().evaluate('(button) => button.click()');
		}

		expect(await page.locator('#queue .waiter').count()).toBe(50);
		for (const view of ['events', 'report']) {
			await page.locator(`.tabs a[data-view="${view}"]`).click();
			await page.locator(`#view-${view} :is(.event, .report-name)`).first().waitFor();
			expect(await made()).toEqual([undefined, 0]);
		}

		expect(await page.locator('#view-report .report-name').first().textContent()).toContain('xss');
		expect({problems, strangers}).toEqual({problems: [], strangers: []});
	});
});

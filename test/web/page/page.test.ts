import {chmodSync, mkdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import axe from 'axe-core';
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {createEmbeddedBox, type Box} from '../../_helpers/program/cli.js';
import {slowTest} from '../../_helpers/slow.js';
import {startWeb, type Web} from '../_server.js';
import {accessProblems, browserForAll, cardOf, chromiumProgram, openPage, overflow} from './_browser.js';

const longWord = 'unbreakable-'.repeat(30);

/** The hosts: one answers like the Go program, one is unreachable, one never answers. */
const ssh = `#!/bin/sh
for word do if [ "$host" = next ]; then host="$word"; fi; if [ "$word" = -- ]; then host=next; fi; done
echo "$host" >> "$HOME/asked"
case "$host" in
good) echo '[{"gpu_id":0,"status":"IN_USE","user":"carol","duration":"1h 0m 0s","type":"RUN","gpu_model":"H100"},{"gpu_id":1,"status":"AVAILABLE","details":"free for 2h 0m 0s","gpu_model":"H100"}]';;
lost) echo 'No route to host' >&2; exit 255;;
slow) sleep 20;;
esac
`;

describe.skipIf(chromiumProgram === undefined)('the page in Chromium', () => {
	let box: Box;
	let web: Web;
	const browser = browserForAll();

	beforeAll(async () => {
		box = await createEmbeddedBox(4);
		const bin = path.join(box.home, 'bin');
		mkdirSync(bin);
		writeFileSync(path.join(bin, 'ssh'), ssh);
		chmodSync(path.join(bin, 'ssh'), 0o755);
		web = await startWeb(box, [], {
			PATH: `${bin}:${box.environment['PATH']!}`,
			CANHAZGPU_REMOTE_HOSTS: 'good,lost,slow',
		});
		await box.run(['reserve', '--gpu-ids', '3', '--note', longWord, '--user', 'x'.repeat(60)]);
	});

	afterAll(async () => {
		await web.end('SIGKILL');
		box.remove();
	});

	test('shows a reservation from a shell without a reload', async () => {
		const {page, problems, strangers} = await openPage(browser, web.url);
		await page.evaluate('window.marker = "same page"');
		const card = cardOf(page, 1);
		expect(await card.locator('.state').textContent()).toBe('Free');
		await cardOf(page, 0).locator('button').first().click();
		await cardOf(page, 0).locator('.card-body').waitFor();
		await box.run(['reserve', '--gpu-ids', '1', '--note', 'from a shell', '--duration', '2h']);
		await card.locator('.state', {hasText: 'Reserved'}).waitFor();
		expect(await card.textContent()).toMatch(/from a shell/v);
		expect(await card.textContent()).toMatch(/(?:1h 59m|2h 00m) left/v);
		await page.locator('#announcer', {hasText: 'GPU 1: Reserved'}).waitFor({state: 'attached'});
		expect(await page.title()).toMatch(/^2 free · /v);
		expect(await page.evaluate('window.marker')).toBe('same page');
		expect(await page.evaluate('document.activeElement.closest("[data-gpu]").dataset.gpu')).toBe('0');
		expect(await cardOf(page, 0).locator('.card-body').isVisible()).toBe(true);
		await box.run('release');
		await card.locator('.state', {hasText: 'Free'}).waitFor();
		expect({problems, strangers}).toEqual({problems: [], strangers: []});
	});

	slowTest('can open one card or all cards at once', async () => {
		const {page, problems} = await openPage(browser, web.url);
		const card = cardOf(page, 3);
		const button = card.locator('button').first();
		expect(await button.getAttribute('aria-expanded')).toBe('false');
		// The chart code loads with the first chart.
		const drawing = page.waitForRequest(/\/plot\.js$/v);
		await button.click();
		expect(await button.getAttribute('aria-expanded')).toBe('true');
		await drawing;
		await card.locator('canvas').waitFor();
		await card.locator('.facts', {hasText: 'Reservation (manual)'}).waitFor();
		await card.getByRole('button', {name: '6 h'}).click();
		await card.locator('.chart-words', {hasText: '360 minutes'}).waitFor();
		await button.click();
		expect(await card.locator('.card-body').isVisible()).toBe(false);
		await page.locator('#expand-all').click();
		await expect.poll(async () => page.locator('#cards .card-body:visible').count()).toBe(4);
		await page.locator('#expand-all').click();
		await expect.poll(async () => page.locator('#cards .card-body:visible').count()).toBe(0);
		expect(problems).toEqual([]);
	});

	test('has the theme of the system until the reader chooses a theme, and remembers the choice', async () => {
		const {page} = await openPage(browser, web.url, {theme: 'light'});
		const ground = async () => page.evaluate('getComputedStyle(document.body).backgroundColor');
		const light = await ground();
		await page.locator('#theme').click();
		expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark');
		const dark = await ground();
		expect(dark).not.toBe(light);
		await page.reload();
		await page.locator('#pill[data-kind="live"]').waitFor();
		expect(await ground()).toBe(dark);
	});

	slowTest('changes period and grouping of the report by buttons and the slider', async () => {
		const {page, problems} = await openPage(browser, `${web.url}#/report`);
		await page.locator('.report tbody tr').first().waitFor();
		const asked = page.waitForRequest(/days=7&by=user/v);
		await page.getByRole('button', {name: '7 days'}).click();
		await asked;
		const next = page.waitForRequest(/days=8&by=user/v);
		await page.getByRole('slider', {name: 'Period'}).press('ArrowRight');
		await next;
		expect(await page.locator('.slider-words').textContent()).toBe('Last 8 days');
		await page.getByRole('button', {name: 'GPU', exact: true}).click();
		await page.locator('.report th', {hasText: 'GPU 3'}).waitFor();
		expect(await page.locator('.report .bar-fill').first().isVisible()).toBe(true);
		expect(problems).toEqual([]);
	});

	test('shows the answers of all hosts, with a separate row for a dead host', async () => {
		const {page, problems} = await openPage(browser, `${web.url}#/hosts`);
		await page.locator('.host-card', {hasText: '1 of 2 GPUs free'}).waitFor();
		await page.locator('.host-card', {hasText: 'No route to host'}).waitFor();
		expect(await page.locator('.host-card', {hasText: 'slow'}).textContent()).toContain('Asking');
		const table = page.locator('.all-gpus');
		await table.locator('tbody tr', {hasText: 'carol'}).waitFor();
		expect(await table.locator('tbody tr').count()).toBe(6);
		expect(await table.locator('.time').textContent()).toMatch(
			/^\d of 6 GPUs free on 2 hosts, 1 not answered yet, 1 not answering$/v,
		);
		await table.locator('input').fill('good free');
		await expect
			.poll(async () => table.locator('tbody tr').allTextContents())
			.toEqual([expect.stringMatching(/^good1Free/v)]);
		await table.locator('input').fill('nothing has this');
		await table.getByText('No GPU of any host matches.').waitFor();
		await page.locator('.host-card').getByRole('link', {name: 'good'}).click();
		await page.locator('#view-hosts h1', {hasText: 'good'}).waitFor();
		await page.locator('#view-hosts [data-gpu="0"]', {hasText: 'carol'}).waitFor();
		expect(await page.locator('#view-hosts [data-gpu="1"]').textContent()).toMatch(/free for (?:2h|1h 59m)/v);
		await page.goBack();
		await page.locator('.host-card').first().waitFor();
		expect(problems).toEqual([]);
	});

	slowTest('shows each GPU of all hosts on one line, or two on a phone, with its state and holder', async () => {
		const {page} = await openPage(browser, `${web.url}#/hosts`);
		await page.locator('.all-gpus tr', {hasText: 'carol'}).waitFor();
		for (const [width, most] of [
			[320, 60],
			[768, 34],
			[1280, 34],
		] as const) {
			await page.setViewportSize({width, height: 800});
			const {heights, unseen} = await page.evaluate<{heights: readonly number[]; unseen: readonly string[]}>(`({
				heights: [...document.querySelectorAll('.all-gpus tbody tr')].map((row) => row.getBoundingClientRect().height),
				unseen: [...document.querySelectorAll('.all-gpus tbody :is(th, .state, .host-user)')]
					.filter((cell) => cell.getBoundingClientRect().right > cell.closest('.all-gpus').getBoundingClientRect().right
						|| cell.getBoundingClientRect().width === 0)
					.map((cell) => cell.textContent),
			})`);
			expect([width, Math.max(...heights) <= most, heights, unseen]).toEqual([width, true, heights, []]);
		}

		await page.emulateMedia({media: 'print'});
		expect(await page.locator('#hosts-filter').isVisible()).toBe(false);
	});

	slowTest('never overflows horizontally between 360 and 2560 px', async () => {
		const {page} = await openPage(browser, web.url, {width: 360, height: 800});
		await page.locator('#expand-all').click();
		await cardOf(page, 3).locator('canvas').waitFor();
		for (const view of ['overview', 'jobs', 'report', 'events', 'hosts']) {
			await page.locator(`.tabs a[data-view="${view}"]`).click();
			await page.locator(`#view-${view}`).waitFor();
			for (const width of [2560, 768, 360]) {
				await page.setViewportSize({width, height: 800});
				expect([view, width, await overflow(page)]).toEqual([view, width, 0]);
			}
		}
	});

	test('can be used with the keyboard alone', async () => {
		const {page} = await openPage(browser, web.url, {isMotionReduced: true});
		const focused = async () => page.evaluate('document.activeElement.textContent.trim().slice(0, 16)');
		await page.keyboard.press('Tab');
		expect(await focused()).toBe('Skip to the GPUs');
		await page.keyboard.press('Enter');
		await page.keyboard.press('Tab');
		expect(await focused()).toBe('Filter');
		await page.keyboard.press('Tab');
		expect(await focused()).toBe('Expand all');
		await page.keyboard.press('Tab');
		expect(await focused()).toMatch(/^GPU 0/v);
		const outline = await page.evaluate('getComputedStyle(document.activeElement).outlineStyle');
		expect(outline).toBe('solid');
		await page.keyboard.press('Enter');
		await cardOf(page, 0).locator('.card-body').waitFor();
		await page.keyboard.press('Space');
		await cardOf(page, 0).locator('.card-body').waitFor({state: 'hidden'});
		await page.locator('.tabs a[data-view="report"]').focus();
		await page.keyboard.press('Enter');
		await page.locator('#report-title:focus').waitFor();
		expect(await focused()).toBe('Report');
	});

	test('moves between cards, tabs and choices by arrow keys, and closes open cards by Escape', async () => {
		const {page} = await openPage(browser, web.url, {isMotionReduced: true});
		const focused = async () => page.evaluate('document.activeElement.textContent.trim()');
		const press = async (...keys: readonly string[]) => {
			for (const key of keys) {
				await page.keyboard.press(key);
			}

			return {
				focuses: async (words: string) => expect.poll(focused).toBe(words),
			};
		};

		await cardOf(page, 0).getByRole('button').focus();
		await (await press('ArrowRight')).focuses('GPU 1');
		await (await press('End')).focuses('GPU 3');
		await (await press('ArrowRight')).focuses('GPU 3');
		await (await press('Home')).focuses('GPU 0');
		const perRow = await page.evaluate<number>(
			"[...document.querySelectorAll('#cards .card')].filter((card, _, [first]) => card.getBoundingClientRect().top === first.getBoundingClientRect().top).length",
		);
		expect(perRow).toBeLessThan(4);
		await (await press('ArrowDown')).focuses(`GPU ${perRow}`);
		await (await press('ArrowUp')).focuses('GPU 0');
		await press('Enter', 'ArrowRight', 'Enter');
		const bodies = page.locator('#cards .card-body:visible');
		await expect.poll(async () => bodies.count()).toBe(2);
		// Escape closes the focused card first, then all open cards.
		await cardOf(page, 0).locator('.chip').first().focus();
		await (await press('ArrowRight')).focuses('1 h');
		await (await press('Escape')).focuses('GPU 0');
		await expect.poll(async () => bodies.count()).toBe(1);
		await page.evaluate('document.activeElement.blur()');
		await press('Escape');
		await expect.poll(async () => bodies.count()).toBe(0);
		await page.locator('.tabs a').first().focus();
		await (await press('ArrowRight', 'ArrowRight')).focuses('Occupancy');
		await page.evaluate("location.hash = '#/hosts/good'");
		await page.locator('#view-hosts .gpu').first().waitFor();
		await press('Escape');
		await expect.poll(() => page.url()).toMatch(/#\/hosts$/v);
	});

	slowTest('handles a key that was pressed before the page has loaded', async () => {
		const context = await browser().newContext();
		onTestFinished(async () => context.close());
		const page = await context.newPage();
		// Keys load after the first message of the server, which never comes.
		await page.route('**/api/events*', async () => undefined);
		await page.goto(`${web.url}#/hosts/good`);
		await page.locator('#view-hosts [data-back]').waitFor();
		await page.keyboard.press('Escape');
		await expect.poll(() => page.url()).toMatch(/#\/hosts$/v);
	});

	slowTest('starts a chosen view at its top, and restores the scroll position when going back', async () => {
		const {page} = await openPage(browser, web.url, {height: 300, isMotionReduced: true});
		const scrolled = async () => page.evaluate<number>('scrollY');
		await page.evaluate('scrollTo(0, 200)');
		await page.locator('.tabs a[data-view="report"]').click();
		await page.locator('#report-title').waitFor();
		expect(await scrolled()).toBe(0);
		await page.goBack();
		await page.locator('#cards').waitFor();
		expect(await scrolled()).toBe(200);
		await page.goForward();
		await page.locator('#report-title').waitFor();
		expect(await scrolled()).toBe(0);
		await page.locator('.brand').click();
		await page.locator('#cards').waitFor();
		expect(await scrolled()).toBe(0);
	});

	slowTest('has no serious accessibility problem found by axe in the dark and the light theme', async () => {
		// Animated colors would be measured halfway.
		const {page} = await openPage(browser, web.url, {isMotionReduced: true});
		await page.evaluate(axe.source);
		await cardOf(page, 3).locator('button').first().click();
		await cardOf(page, 3).locator('canvas').waitFor();
		for (const view of ['overview', 'jobs', 'report', 'events', 'hosts']) {
			await page.locator(`.tabs a[data-view="${view}"]`).click();
			await page.locator(`#view-${view} h1`).waitFor({state: 'attached'});
			expect([view, await accessProblems(page, {})]).toEqual([view, []]);
			// The rest does not depend on color.
			await page.locator('#theme').click();
			expect([view, await accessProblems(page, {runOnly: ['color-contrast']})]).toEqual([view, []]);
			await page.locator('#theme').click();
		}
	});
});

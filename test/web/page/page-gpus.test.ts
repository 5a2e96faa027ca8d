/** Many GPUs in the page: filters, groups, rows, and the drawer with its address. */
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {slowTest} from '../../_helpers/slow.js';
import {createEmbeddedBox, type Box} from '../../_helpers/program/cli.js';
import {startWeb, type Web} from '../_server.js';
import {browserForAll, chromiumProgram, expectFits, openPage} from './_browser.js';

describe.skipIf(chromiumProgram === undefined)('the list of GPUs in Chromium', () => {
	let box: Box;
	let web: Web;
	const browser = browserForAll();

	beforeAll(async () => {
		box = await createEmbeddedBox(18);
		await box.run(['reserve', '--gpu-ids', '1,2,3', '--user', 'zoe', '--note', 'eval 70B']);
		await box.run(['reserve', '--gpu-ids', '9', '--user', 'yann']);
		await box.run(['reserve', '--gpu-ids', '12', '--user', 'u'.repeat(60)]);
		web = await startWeb(box);
	});

	afterAll(async () => {
		await web.end('SIGKILL');
		box.remove();
	});

	slowTest('follows a clicked link even if a typed filter is not yet in the address', async () => {
		const {page, problems} = await openPage(browser, web.url, {isMotionReduced: true});
		await page.locator('#filter').fill('nothing is like this');
		await expect.poll(() => page.url()).toContain('nothing');
		await page.locator('#filter').fill('nothing is like that');
		// Keeps the page busy past the moment when the filter would be written.
		await page.evaluate(`{
			[...document.querySelectorAll('a')].find((link) => link.textContent === 'Show all').click();
			const until = performance.now() + 300;
			while (performance.now() < until);
		}`);
		await page.evaluate('new Promise((resolve) => setTimeout(resolve))');
		await expect.poll(async () => page.locator('.row').count()).toBe(18);
		expect(page.url()).not.toContain('filter');
		expect(problems).toEqual([]);
	});

	slowTest('shows many GPUs as rows, and a link with a filter shows the same rows', async () => {
		const {page, problems} = await openPage(browser, web.url, {isMotionReduced: true});
		const rows = page.locator('.row');
		await expect.poll(async () => rows.count()).toBe(18);
		await page.keyboard.press('/');
		await page.locator('#filter:focus').waitFor();
		await page.keyboard.type('zoe 70b');
		await expect.poll(async () => rows.count()).toBe(3);
		await expect.poll(() => page.url()).toContain('#/gpus?filter=zoe+70b');
		await page.getByRole('button', {name: 'Job', exact: true}).click();
		await page.locator('.group-head', {hasText: '3 GPUs: 1-3'}).waitFor();
		await page.getByRole('button', {name: 'Cards', exact: true}).click();
		await page.locator('.gpu-group .card').first().waitFor();
		await expect.poll(() => page.url()).toMatch(/filter=zoe\+70b&as=cards&group=job$/v);
		await page.reload();
		await page.locator('.group-head', {hasText: 'zoe'}).waitFor();
		expect(await page.locator('.gpu').count()).toBe(3);
		expect(await page.locator('[role="status"]', {hasText: '3 of 18 GPUs'}).isVisible()).toBe(true);
		await page.locator('#filter').fill('nothing is like this');
		await page.locator('.quiet', {hasText: 'No GPU matches.'}).waitFor();
		await page.getByRole('link', {name: 'Show all'}).click();
		await expect.poll(async () => rows.count()).toBe(18);
		// The page asks for the reader's name once.
		await page.getByRole('checkbox', {name: 'Mine'}).check();
		await page.locator('.quiet', {hasText: 'does not know who you are'}).waitFor();
		await page.getByRole('combobox', {name: 'I am'}).fill('yann');
		await expect.poll(async () => rows.count()).toBe(1);
		// Changes are collected before the address changes.
		await expect.poll(() => page.url()).toContain('mine=');
		await page.reload();
		await expect.poll(async () => rows.count()).toBe(1);
		for (const group of ['job', 'user']) {
			await page.goto(`${web.url}#/gpus?filter=&group=${group}`);
			await page.locator('.group-name', {hasText: 'u'.repeat(60)}).waitFor();
			await expectFits(page, `rows by ${group}`);
		}

		expect(problems).toEqual([]);
	});

	slowTest('copies commands and the link on a click, even without https', async () => {
		for (const isSecure of [true, false]) {
			const {page, problems} = await openPage(browser, web.url, {isMotionReduced: true});
			await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
			await page.evaluate(`Object.defineProperty(window, 'isSecureContext', {value: ${isSecure}})`);
			await page.evaluate("location.hash = '#/gpu/0'");
			const drawer = page.getByRole('dialog', {name: 'GPU 0'});
			await expect.poll(async () => drawer.locator('.copy').count()).toBe(4);
			const commands = ['reserve --gpu-ids 0', 'run --gpu-ids 0 -- python train.py', 'who 0'];
			for (const [label, text] of [
				['Copy link to this GPU', `${web.url}#/gpu/0`],
				...commands.map((words) => [`Copy canhazgpu ${words}`, `canhazgpu ${words}`] as const),
			] as const) {
				await drawer.getByRole('button', {name: label, exact: true}).click();
				await expect.poll(async () => page.evaluate('navigator.clipboard.readText()')).toBe(text);
				await drawer.getByRole('button', {name: 'Copied', exact: true}).first().waitFor();
			}

			expect(problems).toEqual([]);
		}
	});

	test('opens a GPU with its commands at its own address', async () => {
		const {page, problems} = await openPage(browser, `${web.url}#/gpus?filter=zoe`, {isMotionReduced: true});
		await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
		await page.locator('.row-index', {hasText: 'GPU 2'}).click();
		const drawer = page.getByRole('dialog', {name: 'GPU 2'});
		await drawer.locator('.facts', {hasText: 'Reservation (manual)'}).waitFor();
		await expect.poll(() => page.url()).toMatch(/#\/gpu\/2\?filter=zoe$/v);
		expect(await page.title()).toMatch(/^GPU 2 · /v);
		await drawer.getByRole('button', {name: 'Over ssh'}).click();
		await drawer.locator('code', {hasText: /^ssh -t \S+ canhazgpu release --gpu-ids 2$/v}).waitFor();
		await drawer.getByRole('button', {name: 'On the box'}).click();
		await drawer.getByRole('button', {name: 'Copy canhazgpu release --gpu-ids 2'}).click();
		await expect
			.poll(async () => page.evaluate('navigator.clipboard.readText()'))
			.toBe('canhazgpu release --gpu-ids 2');
		await drawer.getByRole('link', {name: 'Next GPU'}).click();
		await page.getByRole('dialog', {name: 'GPU 3'}).waitFor();
		await page.locator('.drawer canvas').waitFor();
		await expectFits(page, 'drawer');
		await page.keyboard.press('Escape');
		await page.locator('.drawer').waitFor({state: 'detached'});
		await expect.poll(() => page.url()).toMatch(/#\/gpus\?filter=zoe$/v);
		expect(await page.evaluate('document.activeElement.textContent')).toBe('GPU 2');
		// After following a link directly, closing leads to the list instead of leaving the page.
		await page.goto('about:blank');
		await page.goto(`${web.url}#/gpu/99`);
		await page.getByRole('dialog', {name: 'There is no GPU 99 here'}).getByText('GPUs 0 to 17').waitFor();
		await page.getByRole('button', {name: 'Close'}).click();
		await page.locator('.drawer').waitFor({state: 'detached'});
		expect(page.url()).toContain(new URL(web.url).origin);
		// The same from an open card.
		await page.goto(`${web.url}#/gpus?as=cards`);
		await page.locator('.gpu[data-gpu="1"] button').first().click();
		await page.getByRole('link', {name: 'Commands and link'}).click();
		await page.getByRole('dialog', {name: 'GPU 1'}).waitFor();
		await page.emulateMedia({media: 'print'});
		expect(await page.locator('#summary').isVisible()).toBe(false);
		expect(await page.locator('.drawer .facts').isVisible()).toBe(true);
		expect(problems).toEqual([]);
	});
});

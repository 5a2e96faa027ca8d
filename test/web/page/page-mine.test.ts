/** The page that acts, as people use it, in Chromium; and what a page of another origin can do. */
import {once} from 'node:events';
import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import axe, {type AxeResults} from 'axe-core';
import type {Page} from 'playwright-core';
import {afterAll, beforeAll, describe, expect, onTestFinished} from 'vitest';
import {slowTest} from '../../_helpers/slow.js';
import {createEmbeddedBox, type Box} from '../../_helpers/program/cli.js';
import {createRuntimeDirectory, startMine, startSshTunnel, startTunnel, type Mine} from '../mine/_mine.js';
import {browserForAll, cardOf, chromiumProgram, openPage, overflow} from './_browser.js';

describe.skipIf(chromiumProgram === undefined)('in Chromium', () => {
	let box: Box;
	let mine: Mine;
	let tunnel: Awaited<ReturnType<typeof startTunnel>>;
	let runtime: ReturnType<typeof createRuntimeDirectory>;
	const browser = browserForAll();

	beforeAll(async () => {
		box = await createEmbeddedBox(4);
		runtime = createRuntimeDirectory();
		mine = await startMine(box, runtime.directory);
		tunnel = await startTunnel(mine.socketPath);
	});

	afterAll(async () => {
		tunnel.close();
		await mine.end('SIGKILL');
		box.remove();
		runtime.remove();
	});

	const dialogOf = (page: Page) => page.locator('dialog[open]');
	const doneOf = (page: Page) => page.locator('.act-done');
	const reservations = async () =>
		(JSON.parse((await box.run('status --json')).stdout) as ReadonlyArray<Readonly<Record<string, unknown>>>).map(
			(gpu) => [gpu['status'], gpu['lease_id']],
		);

	slowTest(
		'a link lets the page reserve, extend, wait, leave and release by clicks and keys; a reload stays signed in',
		async () => {
			const ssh = await startSshTunnel(box, mine);
			onTestFinished(ssh.close);
			const {page, problems, strangers} = await openPage(browser, `${ssh.url}#token=${mine.linkToken}`);
			await page.locator('.act-words', {hasText: 'This page acts as'}).waitFor();
			expect(new URL(page.url()).hash).toBe('#/');
			expect(await page.context().cookies()).toEqual([]);

			await cardOf(page, 1).getByRole('button', {name: 'Reserve GPU 1'}).click();
			await dialogOf(page).getByLabel('Duration').fill('2');
			await dialogOf(page).getByLabel('Note').fill("it's mine");
			await page.keyboard.press('Enter');
			await dialogOf(page).getByRole('alert').getByText('has no unit').waitFor();
			await dialogOf(page).getByLabel('Duration').fill('2h');
			expect(await dialogOf(page).locator('code').textContent()).toBe(
				String.raw`canhazgpu reserve --gpu-ids 1 --duration 2h --note 'it'\''s mine' --nonblock`,
			);
			await page.evaluate(axe.source);
			const {violations} = await page.evaluate<AxeResults>('axe.run()');
			expect(violations.filter(({impact}) => impact === 'serious' || impact === 'critical')).toEqual([]);
			await page.keyboard.press('Enter');
			await doneOf(page).getByText('Reserved GPU 1 for 2h').waitFor();
			await cardOf(page, 1).locator('.note', {hasText: "it's mine"}).waitFor();

			await page.reload();
			await cardOf(page, 1).getByRole('button', {name: 'Extend GPU 1'}).click();
			await page.keyboard.press('Escape');
			await dialogOf(page).waitFor({state: 'detached'});
			expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('Extend GPU 1');
			await page.keyboard.press('Enter');
			await dialogOf(page).getByRole('button', {name: 'Extend', exact: true}).click();
			await doneOf(page).getByText('Extended GPU 1 by 2h').waitFor();
			await cardOf(page, 1)
				.locator('.time', {hasText: /3h 5\dm left/v})
				.waitFor();

			// GPUs that are not free now are waited for, with what was typed.
			await page.getByRole('button', {name: 'Reserve any GPUs'}).click();
			await dialogOf(page).getByLabel('GPUs').fill('4');
			await dialogOf(page).getByLabel('Note').fill('all of them');
			await page.keyboard.press('Enter');
			await dialogOf(page).getByRole('button', {name: 'Wait in the queue'}).click();
			expect(await dialogOf(page).getByLabel('GPUs').inputValue()).toBe('4');
			await dialogOf(page).getByRole('button', {name: 'Wait', exact: true}).click();
			await doneOf(page).getByText('position 1 of 1').waitFor();
			await page.locator('#queue').getByRole('button', {name: 'Leave the queue at position 1'}).click();
			expect(await dialogOf(page).locator('code').textContent()).toMatch(/^canhazgpu queue --leave \S+$/v);
			await page.keyboard.press('Tab');
			await dialogOf(page).getByRole('button', {name: 'Leave', exact: true}).click();
			await doneOf(page).getByText('Left the queue').waitFor();

			await cardOf(page, 1).getByRole('button', {name: 'Release GPU 1'}).click();
			await dialogOf(page).getByRole('button', {name: 'Release', exact: true}).click();
			await doneOf(page).getByText('Released GPU 1').waitFor();
			// What was released by mistake is back, with its end and its note, and is released for good then.
			await page.getByRole('button', {name: 'Undo the release'}).click();
			await doneOf(page).getByText('Reserved GPU 1 again, until the same time as before').waitFor();
			await cardOf(page, 1).locator('.note', {hasText: "it's mine"}).waitFor();
			await cardOf(page, 1)
				.locator('.time', {hasText: /3h 5\dm left/v})
				.waitFor();
			await cardOf(page, 1).getByRole('button', {name: 'Release GPU 1'}).click();
			await dialogOf(page).getByRole('button', {name: 'Release', exact: true}).click();
			await doneOf(page).getByText('Released GPU 1').waitFor();
			await cardOf(page, 1).locator('.state', {hasText: 'Free'}).waitFor();
			await page.setViewportSize({width: 320, height: 640});
			expect(await overflow(page)).toBeLessThanOrEqual(0);
			expect(strangers).toEqual([]);
			// The refusal of a request is logged by the browser itself.
			expect(problems.filter((words) => !/status of 4(?:00|09)/v.test(words))).toEqual([]);

			// The link was opened: it is refused from then on, and the page says why.
			const thief = await openPage(browser, `${tunnel.url}#token=${mine.linkToken}`);
			await thief.page.locator('.act-words', {hasText: 'opened before'}).waitFor();
			expect(await thief.page.getByRole('button', {name: 'Reserve'}).count()).toBe(0);

			await page.getByRole('button', {name: 'Stop acting'}).click();
			await page.getByRole('button', {name: 'Reserve GPU 1'}).waitFor({state: 'detached'});
		},
	);

	slowTest('a page of another origin can do nothing, though its reader is signed in', async () => {
		const evil = createServer((_, outgoing) => {
			outgoing.setHeader('content-type', 'text/html');
			outgoing.end('<!doctype html><title>evil</title>');
		});
		evil.listen(0, '127.0.0.1');
		await once(evil, 'listening');
		onTestFinished(() => {
			evil.close();
		});
		const context = await browser().newContext();
		onTestFinished(async () => context.close());
		const page = await context.newPage();
		await page.goto(`http://localhost:${(evil.address() as AddressInfo).port}/`);
		const before = await reservations();
		const answered = tunnel.answers.length;
		const target = JSON.stringify(`${tunnel.url}api/act/reserve`);
		const body = JSON.stringify({id: crypto.randomUUID(), count: 1, duration: '1h'});
		const attempts = await page.evaluate<readonly string[]>(`(async () => {
			const results = [];
			for (const [mode, type] of [['no-cors', 'text/plain'], ['cors', 'text/plain'], ['cors', 'application/json']]) {
				try {
					const {status, type: kind} = await fetch(${target}, {method: 'POST', mode, headers: {'content-type': type, ...(mode === 'cors' && {authorization: 'Bearer x'})}, body: ${JSON.stringify(body)}, credentials: 'include'});
					results.push(kind + ' ' + status);
				} catch {
					results.push('refused');
				}
			}
			const form = document.createElement('form');
			Object.assign(form, {method: 'post', enctype: 'text/plain', action: ${target}, target: 'frame'});
			const field = document.createElement('input');
			[field.name, field.value] = [${JSON.stringify(`${body.slice(0, -1)},"x":"`)}, '"}'];
			form.append(field);
			const frame = document.createElement('iframe');
			frame.name = 'frame';
			document.body.append(frame, form);
			const loaded = new Promise((resolve) => { frame.addEventListener('load', resolve, {once: true}); setTimeout(resolve, 3000); });
			form.submit();
			await loaded;
			results.push(sessionStorage.length === 0 ? 'no token' : 'token');
			return results;
		})()`);
		expect(attempts).toEqual(['refused', 'refused', 'refused', 'no token']);
		// The fetch, what two of them ask about first, and the form: refused for where they come from, before any token is looked at.
		expect(tunnel.answers.slice(answered)).toEqual([403, 403, 403, 403]);
		expect(await reservations()).toEqual(before);
	});
});

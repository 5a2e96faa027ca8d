/** The page of `web --mine` in Chromium, and attacks by a page of another origin. */
import {once} from 'node:events';
import {writeFileSync} from 'node:fs';
import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import {userInfo} from 'node:os';
import path from 'node:path';
import axe, {type AxeResults} from 'axe-core';
import type {Page} from 'playwright-core';
import {afterAll, beforeAll, describe, expect, onTestFinished} from 'vitest';
import {ageStore, holdIdle} from '../../commands/_idle-box.js';
import {slowTest} from '../../_helpers/slow.js';
import {createEmbeddedBox, type Box} from '../../_helpers/program/cli.js';
import {freshEmbeddedBox} from '../../_helpers/program/processes.js';
import {createRuntimeDirectory, startMine, startSshTunnel, startTunnel, type Mine} from '../mine/_mine.js';
import {browserForAll, cardOf, chromiumProgram, openPage, overflow} from './_browser.js';

describe.skipIf(chromiumProgram === undefined)('the page of web --mine in Chromium', () => {
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

	slowTest('warns about idle GPUs that go back to the pool, and can keep them', async () => {
		const own = await freshEmbeddedBox(3);
		await own.run('admin --set idle.after=1h');
		await ageStore(own);
		await holdIdle(own, {warned: -600, deadline: 900}, userInfo().username);
		const directory = createRuntimeDirectory();
		onTestFinished(directory.remove);
		const server = await startMine(own, directory.directory);
		onTestFinished(async () => {
			await server.end('SIGKILL');
		});
		const near = await startTunnel(server.socketPath);
		onTestFinished(near.close);
		const {page, problems} = await openPage(browser, `${near.url}#token=${server.linkToken}`);
		await cardOf(page, 0)
			.locator('.flag', {hasText: /^Goes back at (?:\S+ )?\d\d:\d\d$/v})
			.waitFor();
		expect(await cardOf(page, 2).getByRole('button', {name: 'Keep GPU 2'}).count()).toBe(0);
		await cardOf(page, 1).getByRole('button', {name: 'Keep GPU 1'}).click();
		expect(await dialogOf(page).locator('code').textContent()).toBe('canhazgpu extend --gpu-ids 0,1 --keep 2h');
		await dialogOf(page).getByLabel('Keep for').fill('13h');
		await page.keyboard.press('Enter');
		await dialogOf(page).getByRole('alert').getByText('can be at most 12h').waitFor();
		await dialogOf(page).getByLabel('Keep for').fill('3h');
		await page.keyboard.press('Enter');
		await doneOf(page).getByText('Kept GPUs 0,1 for 3h').waitFor();
		for (const gpu of [0, 1]) {
			await cardOf(page, gpu)
				.locator('.flag', {hasText: /^Kept until (?:\S+ )?\d\d:\d\d$/v})
				.waitFor();
		}

		expect(await cardOf(page, 1).getByRole('button', {name: 'Keep GPU 1'}).count()).toBe(0);
		await page.setViewportSize({width: 320, height: 640});
		expect(await overflow(page)).toBeLessThanOrEqual(0);
		expect(problems.filter((words) => !words.includes('status of 400'))).toEqual([]);
	});

	slowTest('reserves, extends, releases, joins and leaves the queue when signed in, also after a reload', async () => {
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

		// A used link, opened again in a tab that is signed in, changes nothing.
		await page.evaluate(`history.replaceState(null, '', '#token=${mine.linkToken}')`);
		const refusal = page.waitForResponse((response) => response.url().endsWith('/api/session'));
		await page.reload();
		expect((await refusal).ok()).toBe(false);
		await (await refusal).finished();
		await cardOf(page, 1).getByRole('button', {name: 'Extend GPU 1'}).click();
		await page.keyboard.press('Escape');
		await dialogOf(page).waitFor({state: 'detached'});
		expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('Extend GPU 1');
		await page.keyboard.press('Enter');
		await dialogOf(page).waitFor();
		// The close event comes late, and a click in between opens another dialog.
		await page.evaluate("document.querySelector('dialog').close(); document.activeElement.click();");
		await dialogOf(page).getByRole('button', {name: 'Extend', exact: true}).click();
		await doneOf(page).getByText('Extended GPU 1 by 2h').waitFor();
		await cardOf(page, 1)
			.locator('.time', {hasText: /3h 5\dm left/v})
			.waitFor();

		// Unavailable GPUs are waited for with the typed values.
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
		// An accidental release is undone with its end and note, then released for good.
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
		// The browser logs refused requests itself.
		expect(problems.filter((words) => !/status of 4(?:00|01|09)/v.test(words))).toEqual([]);

		// An opened link is refused, and the page says why.
		const thief = await openPage(browser, `${tunnel.url}#token=${mine.linkToken}`);
		await thief.page.locator('.act-words', {hasText: 'opened before'}).waitFor();
		expect(await thief.page.getByRole('button', {name: 'Reserve'}).count()).toBe(0);

		await doneOf(page).getByText(/\S/v).waitFor();
		await page.getByRole('button', {name: 'End session'}).click();
		await expect.poll(async () => doneOf(page).textContent()).toBe('');
		await page.getByRole('button', {name: 'Reserve GPU 1'}).waitFor({state: 'detached'});
	});

	slowTest(
		'says that the outcome is unknown if the server does not answer, even after the dialog is closed',
		async () => {
			const own = await freshEmbeddedBox(1);
			const directory = createRuntimeDirectory();
			onTestFinished(directory.remove);
			const server = await startMine(own, directory.directory);
			onTestFinished(async () => {
				await server.end('SIGKILL');
			});
			const near = await startTunnel(server.socketPath);
			onTestFinished(near.close);
			const {page, problems} = await openPage(browser, `${near.url}#token=${server.linkToken}`);
			await page.route('**/api/act/reserve', () => undefined);
			const send = async () => {
				await page.getByRole('button', {name: 'Reserve any GPUs'}).click();
				await page.keyboard.press('Enter');
				await dialogOf(page).getByRole('button', {name: 'Sending…'}).waitFor();
			};

			await send();
			await page.keyboard.press('Escape');
			await doneOf(page).getByText('There was no answer yet, so the outcome is unknown. Check the GPUs').waitFor();
			await send();
			await dialogOf(page).getByRole('alert').getByText('There was no answer, so the outcome is unknown').waitFor();
			expect(problems).toEqual([]);
		},
	);

	slowTest('shows the command that is equivalent to the reservation dialog', async () => {
		const own = await freshEmbeddedBox(4);
		const scenario = path.join(own.home, 'scenario.yaml');
		writeFileSync(
			scenario,
			'hardware:\n  - {gpus: [0, 1], model: NVIDIA A100-SXM4-80GB, memory: 81920}\n  - {gpus: [2], model: NVIDIA L40S, memory: 46068}\nmig: [{gpu: 3, profiles: [1g.10gb, 3g.40gb]}]\n',
			{mode: 0o600},
		);
		await own.run('admin --set share=on');
		const directory = createRuntimeDirectory();
		onTestFinished(directory.remove);
		const environment = {CANHAZGPU_SIMULATED_SCENARIO: scenario};
		const server = await startMine(own, directory.directory, environment);
		onTestFinished(async () => {
			await server.end('SIGKILL');
		});
		const near = await startTunnel(server.socketPath);
		onTestFinished(near.close);
		const {page, problems} = await openPage(browser, `${near.url}#token=${server.linkToken}`);
		const dialog = dialogOf(page);
		const command = async () => dialog.locator('code').textContent();
		const fill = async (fields: Readonly<Record<string, string>>) => {
			for (const [label, text] of Object.entries(fields)) {
				await dialog.getByLabel(label, {exact: true}).fill(text);
			}
		};

		const refusal = dialog.getByRole('alert');

		// On a phone, the outcome and the buttons are visible although the dialog is higher than the screen.
		await page.setViewportSize({width: 320, height: 480});
		await page.getByRole('button', {name: 'Wait in the queue for GPUs'}).click();
		const leftOf = async (selector: string) => (await dialog.locator(selector).first().boundingBox())!.x;
		expect(await leftOf('.quiet')).toBe(await leftOf('h2'));
		const inSight = async (selector: string) =>
			page.evaluate<boolean>(`(() => {
					const {left, right, top, bottom} = document.querySelector(${JSON.stringify(`dialog ${selector}`)}).getBoundingClientRect();
					const seen = (y) => document.elementFromPoint((left + right) / 2, y)?.closest(${JSON.stringify(selector)});
					return top >= 0 && bottom <= innerHeight && Boolean(seen(top + 2) && seen(bottom - 2));
				})()`);
		expect(await inSight('[type="submit"]')).toBe(true);
		await fill({Share: '8'});
		await page.keyboard.press('Enter');
		await refusal.getByText('Share: "8" has no unit').waitFor();
		expect([await inSight('.act-problem'), await inSight('[type="submit"]')]).toEqual([true, true]);
		// A long placeholder ends in an ellipsis, and the command has the whole width.
		expect(await page.evaluate('getComputedStyle(document.querySelector("dialog [name=needs]")).textOverflow')).toBe(
			'ellipsis',
		);
		const widthOf = async (selector: string) => (await dialog.locator(selector).first().boundingBox())!.width;
		expect((await widthOf('.act-command')) - (await widthOf('code'))).toBeLessThan(24);
		await page.keyboard.press('Escape');
		await page.setViewportSize({width: 1280, height: 900});

		await page.getByRole('button', {name: 'Reserve any GPUs'}).click();
		await dialog.getByText(/^Whole GPUs free: \d\/3 \(1 more split by MIG\)$/v).waitFor();
		// A GPU split by MIG has no button.
		expect(await cardOf(page, 0).getByRole('button', {name: 'Reserve GPU 0', includeHidden: true}).count()).toBe(1);
		expect(await cardOf(page, 3).getByRole('button', {name: 'Reserve GPU 3', includeHidden: true}).count()).toBe(0);
		await dialog.getByText('MIG free: 1/1 1g.10gb, 1/1 3g.40gb').waitFor();
		expect(await dialog.getByLabel('Needs').getAttribute('placeholder')).toBe(
			'40G, h100, 8.0, nvlink, mixed, 1g.10gb, pack',
		);
		await fill({Needs: 'h100', Share: '8'});
		await page.keyboard.press('Enter');
		await refusal.getByText('Share: "8" has no unit').waitFor();
		await fill({Share: ''});
		await page.keyboard.press('Enter');
		await refusal.getByText('The pool has 2 A100-SXM4-80GB of 80 GiB').waitFor();
		await fill({Needs: 'l40s cool', Share: '8G', Duration: '2h'});
		await dialog.getByLabel('Force').check();
		expect(await command()).toBe(
			'canhazgpu reserve --gpus 1 --model l40s --strategy cool --share 8G --duration 2h --force --nonblock',
		);
		await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
		await dialog.getByRole('button', {name: 'Copy'}).click();
		await dialog.getByRole('button', {name: 'Copied'}).waitFor();
		expect(await page.evaluate('navigator.clipboard.readText()')).toBe(await command());
		await dialog.getByLabel('Duration').focus();
		await page.evaluate(axe.source);
		const {violations} = await page.evaluate<AxeResults>('axe.run()');
		expect(violations.map(({id}) => id)).toEqual([]);
		await page.setViewportSize({width: 320, height: 640});
		expect(await overflow(page)).toBeLessThanOrEqual(0);
		await page.setViewportSize({width: 1280, height: 900});
		await page.keyboard.press('Enter');
		await doneOf(page).getByText('Reserved a share of 8G of GPU 2 for 2h').waitFor();

		// The command of the dialog takes another share of the same GPU.
		await cardOf(page, 2).getByRole('button', {name: 'Reserve GPU 2'}).click();
		await fill({Share: '20G'});
		expect(await dialog.getByLabel('Needs').count()).toBe(0);
		const typed = (await command())!.split(' ').slice(1);
		expect(typed.join(' ')).toBe('reserve --gpu-ids 2 --share 20G --duration 8h --nonblock');
		expect((await own.run(typed, environment)).stdout).toContain('a share of 20G');
		await page.keyboard.press('Escape');
		await expect.poll(async () => cardOf(page, 2).textContent()).toMatch(/8G, \S+ 20G/v);

		// If an account has two shares on one GPU, each has buttons of its own.
		await expect.poll(async () => cardOf(page, 2).getByRole('button', {name: 'Extend GPU 2'}).count()).toBe(2);
		expect(await cardOf(page, 2).locator('.act-part').allTextContents()).toEqual(['8G', '20G']);
		await cardOf(page, 2).getByRole('button', {name: 'Release GPU 2 (20G)'}).click();
		await dialog.getByRole('heading', {name: 'Release GPU 2 (20G)'}).waitFor();
		const release = (await command())!;
		expect(release).toMatch(/^canhazgpu release --gpu-ids 2 --lease \S+$/v);
		expect((await own.run(release.split(' ').slice(1), environment)).exitCode).toBe(0);
		await page.keyboard.press('Escape');
		await expect.poll(async () => cardOf(page, 2).textContent()).not.toMatch(/8G, \S+ 20G/v);
		await cardOf(page, 2).getByRole('button', {name: 'Release GPU 2 (8G)'}).click();
		expect(await command()).toBe('canhazgpu release --gpu-ids 2');
		await dialog.getByRole('button', {name: 'Release', exact: true}).click();
		await doneOf(page).getByText('Released GPU 2').waitFor();

		await page.getByRole('button', {name: 'Wait in the queue for GPUs'}).click();
		await fill({Needs: '3g.40gb'});
		expect(await command()).toBe('canhazgpu reserve --gpus 1 --mig 3g.40gb --duration 8h');
		await page.keyboard.press('Enter');
		await doneOf(page).getByText('Reserved 1 MIG instance(s): [3:1]').waitFor();
		await page.getByRole('button', {name: 'Wait in the queue for GPUs'}).click();
		await fill({Needs: '3g.40gb', Note: 'next'});
		await page.keyboard.press('Enter');
		await doneOf(page).getByText('position 1 of 1').waitFor();
		// The line about the wait ends with the wait.
		await page.locator('#queue').getByText('next').waitFor();
		const {entries} = JSON.parse((await own.run('queue --json', environment)).stdout) as {
			readonly entries: ReadonlyArray<{readonly id: string}>;
		};
		await own.run(['queue', '--leave', entries[0]!.id], environment);
		await doneOf(page).getByText('Your request has left the queue').waitFor();
		expect(problems.filter((words) => !/status of 4(?:00|09)/v.test(words))).toEqual([]);
	});

	slowTest('ignores everything that a page of another origin tries, even when signed in', async () => {
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
		// The fetch, its two preflight requests, and the form are refused by origin before any token check.
		expect(tunnel.answers.slice(answered)).toEqual([403, 403, 403, 403]);
		expect(await reservations()).toEqual(before);
	});
});

/** Unusual GPUs in the page: their users, their processes, and unknown values. */
import {writeFileSync} from 'node:fs';
import path from 'node:path';
import type {Page} from 'playwright-core';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {createEmbeddedBox, type Box} from '../../_helpers/program/cli.js';
import {slowTest} from '../../_helpers/slow.js';
import {askJson, listenTo, startWeb, type Web} from '../_server.js';
import {browserForAll, cardOf, chromiumProgram, openPage, overflow} from './_browser.js';

const secret = 'hf_AbCdEfGhIjKl0123456789';

const scenario = `
processes:
  - {gpu: 0, user: mallory, command: python eval.py --hf-token ${secret} --n 1, memory: 9000}
  - {gpu: 1, user: nobody, command: python /data/${'a-long-path/'.repeat(20)}run.py, memory: 9000, container: 0123456789ab}
hidden: [{gpu: 2}]
mig: [{gpu: 3, profiles: [3g.40gb, 1g.10gb, 1g.10gb]}]
health: [{gpu: 4, kind: ecc, words: 2 memory errors}]
`;

const label = 'research-team-basement';

/** Returns names that are wrapped or cut off. */
const brokenNames = async (page: Page): Promise<readonly string[]> =>
	page.evaluate<readonly string[]>(`
		[...document.querySelectorAll('.owner > :first-child, .state, .processes .user, .processes th, .index, h1, h2')]
			.filter((element) => element.checkVisibility() && !element.matches('.unseen'))
			.filter((element) => {
				const text = document.createTreeWalker(element, NodeFilter.SHOW_TEXT).nextNode();
				const range = document.createRange();
				range.selectNodeContents(text);
				const lines = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
				const edge = element.closest('.card, .panel, .card-body')?.getBoundingClientRect().right ?? Infinity;
				const isCut = element.scrollWidth > element.clientWidth + 1 || element.getBoundingClientRect().right > edge;
				return lines.size > 1 || isCut;
			})
			.map((element) => element.textContent + ' ' + element.scrollWidth + ' of ' + element.clientWidth)
	`);

describe.skipIf(chromiumProgram === undefined)('the page of unusual GPUs in Chromium', () => {
	let box: Box;
	let web: Web;
	const browser = browserForAll();

	beforeAll(async () => {
		box = await createEmbeddedBox(6);
		const file = path.join(box.home, 'scenario.yaml');
		writeFileSync(file, scenario);
		const environment = {CANHAZGPU_SIMULATED_SCENARIO: file};
		await box.run(['reserve', '--gpu-ids', '0', '--force', '--user', label, '--note', 'what it is for'], environment);
		await box.run(['admin', '--drain', '5', '--reason', 'fan'], environment);
		await box.run('admin --set strategy=lru');
		web = await startWeb(box, [], environment);
	});

	afterAll(async () => {
		await web.end('SIGKILL');
		box.remove();
	});

	test('shows no name wrapped or cut off between 320 and 1920 px', async () => {
		const {page} = await openPage(browser, web.url);
		for (const gpu of [0, 1]) {
			await cardOf(page, gpu).locator('button').first().click();
			await cardOf(page, gpu).locator('.processes .user').first().waitFor();
		}

		for (const width of [1920, 1280, 768, 360, 320]) {
			await page.setViewportSize({width, height: 900});
			expect([width, await brokenNames(page)]).toEqual([width, []]);
			expect([width, await overflow(page)]).toEqual([width, 0]);
		}
	});

	slowTest('shows the policy in the footer', async () => {
		const {page} = await openPage(browser, web.url);
		const foot = page.locator('#foot');
		await expect.poll(async () => foot.textContent()).toContain('policy strategy=lru');
		await box.run('admin --unset strategy');
		await expect.poll(async () => foot.textContent()).not.toContain('policy');
	});

	slowTest('shows the label before the account on a card', async () => {
		const {page} = await openPage(browser, web.url);
		const owner = cardOf(page, 0).locator('.owner');
		expect(await owner.locator('> :first-child').textContent()).toBe(label);
		expect(await owner.locator('.account').textContent()).toMatch(/^\w+$/v);
		expect(await owner.getAttribute('title')).toMatch(/^\w+ \(research-team-basement\)$/v);
	});

	test('distinguishes unknown processes from none, and marks processes of other users', async () => {
		const {page} = await openPage(browser, web.url);
		for (const [gpu, words] of [
			[2, 'The processes of this GPU are unknown.'],
			[3, 'There are no processes on this GPU.'],
		] as const) {
			await cardOf(page, gpu).locator('button').first().click();
			await cardOf(page, gpu).locator('.process-box', {hasText: words}).waitFor();
		}

		await cardOf(page, 0).locator('button').first().click();
		const squatter = cardOf(page, 0).locator('.processes tr[data-state="unreserved"]');
		await expect.poll(async () => squatter.count()).toBe(1);
		expect(await squatter.textContent()).toMatch(/mallory.*without reservation/v);
		expect(await cardOf(page, 0).locator('.note .flag').textContent()).toBe('Others also use this GPU');
		await cardOf(page, 1).locator('button').first().click();
		await cardOf(page, 1).locator('.processes', {hasText: 'container 0123456789ab'}).waitFor();
	});

	test('shows MIG instances on the card and in the details of a GPU', async () => {
		const {page} = await openPage(browser, web.url);
		const card = cardOf(page, 3);
		expect(await card.locator('.model').textContent()).toMatch(/^MIG 3g\.40gb 2x1g\.10gb · /v);
		// GPU 3 does not count as a free whole GPU.
		const freeTile = page.locator('.tile[data-state="available"]');
		await expect.poll(async () => freeTile.locator('dd + dd').textContent()).toBe('+1 MIG of 6');
		await expect.poll(async () => page.title()).toMatch(/^\d \+1 MIG free · /v);
		await card.locator('button').first().click();
		await expect.poll(async () => card.locator('.parts tbody tr').count()).toBe(3);
		expect(await card.locator('.parts tbody tr').first().textContent()).toMatch(/3g\.40gb.*GiB.*MIG-SIM-3-0/v);
	});

	test('shows a drained GPU as drained and not as an error', async () => {
		const {page} = await openPage(browser, web.url);
		expect(await cardOf(page, 5).locator('.state').textContent()).toBe('Drained');
		expect(await cardOf(page, 5).textContent()).toContain('fan');
		expect(await page.locator('.tile[data-state="drained"] dt + dd').textContent()).toBe('1');
		expect(await page.locator('.tile[data-state="error"] dt + dd').textContent()).toBe('1');
		// A state has one color, different from plain text.
		const colourOf = async (selector: string) =>
			page.evaluate(`getComputedStyle(document.querySelector('${selector}')).color`);
		const colours = [
			await colourOf('.tile[data-state="error"] dt + dd'),
			await colourOf('[data-gpu="4"] .state'),
			await colourOf('.tile[data-state="drained"] dt + dd'),
			await colourOf('[data-gpu="5"] .state'),
			await colourOf('body'),
		];
		expect(colours[0]).toBe(colours[1]);
		expect(colours[2]).toBe(colours[3]);
		expect(new Set(colours).size).toBe(3);
	});

	test('receives no secrets of command lines from the server', async () => {
		const stream = listenTo(web.port);
		await expect.poll(() => stream.messages.length).toBeGreaterThan(0);
		stream.close();
		const received = JSON.stringify([stream.messages, await askJson(web.port, '/api/status')]);
		expect(received).toContain('--hf-token ***');
		expect(received).not.toContain(secret);
		const {stdout} = await box.run('status --json', {
			CANHAZGPU_SIMULATED_SCENARIO: path.join(box.home, 'scenario.yaml'),
		});
		expect(stdout).toContain('--hf-token ***');
		expect(stdout).not.toContain(secret);
	});

	slowTest('opens details below the row of a card without moving the row', async () => {
		const {page} = await openPage(browser, web.url);
		const card = cardOf(page, 1).locator('.card');
		const offsets = async () =>
			Promise.all([0, 1, 2, 3].map(async (gpu) => (await cardOf(page, gpu).locator('.card').boundingBox())!));
		const before = await offsets();
		await card.locator('.model').dblclick();
		expect(await page.evaluate('getSelection().toString()')).not.toBe('');
		await page.evaluate('getSelection().removeAllRanges()');
		await expect.poll(async () => cardOf(page, 1).locator('.card-body').isVisible()).toBe(true);
		const after = await offsets();
		// Cards of the same row.
		expect(after.filter((_, gpu) => before[gpu]!.y === before[1]!.y)).toEqual(
			before.filter(({y}) => y === before[1]!.y),
		);
	});
});

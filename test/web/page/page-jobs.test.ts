/** The list of jobs on the page in Chromium, read-only and with the buttons of `web --mine`. */
import {existsSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import axe from 'axe-core';
import type {Page} from 'playwright-core';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {eventually} from '../../_helpers/eventually.js';
import {accountsOfFile, alice, canBeOthers, mallory} from '../../_helpers/machine/strangers.js';
import {slowTest} from '../../_helpers/slow.js';
import {createRuntimeDirectory, startMineAs, startTunnel} from '../mine/_mine.js';
import {accessProblems, browserForAll, chromiumProgram, openPage, overflow} from './_browser.js';

describe.skipIf(chromiumProgram === undefined || !canBeOthers)('the jobs on the page in Chromium', () => {
	const accounts = accountsOfFile();
	const browser = browserForAll();
	const runtime = createRuntimeDirectory();
	let mine: Awaited<ReturnType<typeof startMineAs>>;
	let tunnel: Awaited<ReturnType<typeof startTunnel>>;

	beforeAll(async () => {
		await accounts.run(0, 'admin --gpus 4 --provider fake --store embedded');
		mine = await startMineAs(accounts, alice, runtime.directory);
		tunnel = await startTunnel(mine.socketPath);
	});
	afterAll(async () => {
		tunnel.close();
		await mine.end('SIGKILL');
		await accounts.run(0, ['cancel', ...submitted]);
		runtime.remove();
	});

	const submitted: string[] = [];
	const submit = async (uid: number, flags: string, ...command: readonly string[]): Promise<string> => {
		const words = ['run', '--detach', ...flags.split(' ').filter(Boolean), '--', ...command];
		const {stdout, exitCode} = await accounts.run(uid, words);
		expect(exitCode).toBe(0);
		submitted.push(stdout.trim());
		return stdout.trim();
	};

	const jobOf = (page: Page, id: string) => page.locator(`[data-job="${id}"]`);
	const stateOf = (page: Page, id: string) => jobOf(page, id).locator('.job-state');
	const dialogOf = (page: Page) => page.locator('dialog[open]');

	test('are listed live, and own jobs have buttons to cancel and retry that also work with the keyboard', async () => {
		const {page, problems, strangers} = await openPage(browser, `${tunnel.url}#token=${mine.linkToken}`, {
			width: 1400,
		});
		await page.locator('.act-words', {hasText: 'This page acts as'}).waitFor();
		await page.locator('.tabs a[data-view="jobs"]').click();
		await page.locator('#view-jobs .quiet', {hasText: 'No job waits, runs or ended'}).waitFor();
		expect(await page.evaluate('document.activeElement.id')).toBe('jobs-title');

		const ready = path.join(accounts.homeOf(alice), 'ready');
		const own = await submit(alice, '', 'sh', '-c', `touch ${ready}; exec sleep 600`);
		const other = await submit(mallory, '', 'sleep', '600');
		const waiting = await submit(alice, `--after ${own}`, 'make', 'report');
		await stateOf(page, own).getByText('Running').waitFor();
		await stateOf(page, other).getByText('Running').waitFor();
		await jobOf(page, waiting).getByText(`waits for job ${own}`).waitFor();
		expect(await page.locator('#view-jobs h2').allTextContents()).toEqual(['Running', 'Waiting']);
		expect(await jobOf(page, own).innerText()).toMatch(/Running[\s\S]*GPU \d[\s\S]*for \d+s/v);

		// Jobs of others have no buttons.
		expect(await jobOf(page, other).getByRole('button').count()).toBe(0);
		await eventually(() => existsSync(ready));
		await page.getByRole('button', {name: `Cancel job ${own}`}).focus();
		await page.keyboard.press('Enter');
		expect(await dialogOf(page).locator('code').textContent()).toBe(`canhazgpu cancel ${own}`);
		await dialogOf(page).getByText('Its processes get SIGTERM').waitFor();
		await page.keyboard.press('Escape');
		await dialogOf(page).waitFor({state: 'detached'});
		expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe(`Cancel job ${own}`);
		await page.keyboard.press('Enter');
		await dialogOf(page).getByRole('button', {name: 'Close'}).waitFor();
		await dialogOf(page).getByRole('button', {name: 'Cancel job', exact: true}).click();
		await page.locator('.act-done', {hasText: new RegExp(`(?:Cancelled|Asked) job ${own}`, 'v')}).waitFor();
		await stateOf(page, own).getByText('Cancelled').waitFor();
		await jobOf(page, own).getByText(`cancelled by ${alice} via web`).waitFor();
		// The job that waited for its success is cancelled with it.
		await stateOf(page, waiting).getByText('Cancelled').waitFor();
		await jobOf(page, waiting).getByText(`job ${own} was cancelled`).waitFor();

		await page.getByRole('button', {name: `Retry job ${own}`}).click();
		await dialogOf(page).getByText('with the environment variables of canhazgpu web --mine').waitFor();
		expect(await dialogOf(page).locator('code').textContent()).toBe(`canhazgpu retry ${own}`);
		await page.keyboard.press('Tab');
		await dialogOf(page).getByRole('button', {name: 'Retry', exact: true}).click();
		await page.locator('.act-done', {hasText: `Started job ${own} again`}).waitFor();
		await stateOf(page, own).getByText('Running').waitFor();

		const array = await submit(alice, '--array 0-2 --begin 2h', 'true');
		await page.getByRole('button', {name: `Cancel job ${array}_1`}).click();
		await dialogOf(page).getByLabel(`Also the 2 other jobs of array ${array}`).check();
		expect(await dialogOf(page).locator('code').textContent()).toBe(`canhazgpu cancel ${array}`);
		await dialogOf(page).getByRole('button', {name: 'Cancel job', exact: true}).click();
		await page.locator('.act-done', {hasText: `Cancelled 3 jobs of array ${array}`}).waitFor();
		await stateOf(page, `${array}_2`).getByText('Cancelled').waitFor();

		// The buttons disappear with the session.
		await page.getByRole('button', {name: 'End session'}).click();
		await expect.poll(async () => page.locator('#view-jobs button').count()).toBe(0);
		expect([problems, strangers]).toEqual([[], []]);
	});

	slowTest(
		'fit a phone and a wide screen, in the dark and the light theme, without problems found by axe',
		async () => {
			const long = await submit(
				alice,
				'--begin 3h',
				'sh',
				'train.sh',
				'--data',
				`/data/${'very-long-name-'.repeat(20)}`,
			);
			writeFileSync(path.join(accounts.homeOf(mallory), 'fail.sh'), 'echo "CUDA out of memory"; exit 3\n');
			const failed = await submit(mallory, '', 'sh', 'fail.sh');
			const {page} = await openPage(browser, `${tunnel.url}#/jobs`, {isMotionReduced: true});
			await jobOf(page, failed).getByText('exit code 3, out of GPU memory').waitFor();
			await jobOf(page, long).waitFor();
			await page.evaluate(axe.source);
			for (const width of [360, 1400]) {
				for (const theme of ['dark', 'light'] as const) {
					await page.setViewportSize({width, height: 900});
					await page.emulateMedia({colorScheme: theme});
					expect([width, theme, await overflow(page), await accessProblems(page, {})]).toEqual([width, theme, 0, []]);
				}
			}
		},
	);
});

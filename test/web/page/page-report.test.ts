import {readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {setTimeout} from 'node:timers/promises';
import {describe, expect, onTestFinished, test} from 'vitest';
import {account} from '../../_helpers/program/cli.js';
import {freshEmbeddedBox, freshRedisBox} from '../../_helpers/program/processes.js';
import {startRedis} from '../../_helpers/store/redis-server.js';
import {patienceMs} from '../../_helpers/eventually.js';
import {playHosts} from '../hosts/_hosts.js';
import {startWeb} from '../_server.js';
import {isLong, slowTest} from '../../_helpers/slow.js';
import {browserForAll, chromiumProgram, openPage} from './_browser.js';

describe.runIf(isLong && chromiumProgram !== undefined)('the report in Chromium', () => {
	const browser = browserForAll();

	test('keeps period, grouping and host in the address and after a reload', async () => {
		const box = await freshEmbeddedBox(1);
		const web = await startWeb(box, [], playHosts(box, ['good', 'lost']).environment);
		onTestFinished(async () => {
			await web.end('SIGKILL');
		});
		const {page, problems} = await openPage(browser, `${web.url}#/report`);
		// The period consists of whole days.
		const today = new Date();
		const day = `${today.getFullYear()}-${String(today.getMonth() + 1).padStart(2, '0')}-${String(today.getDate()).padStart(2, '0')}`;
		await page.getByLabel('From').fill(day);
		await expect.poll(() => page.url()).toContain(`#/report?from=${day}&by=user`);
		const csv = page.getByRole('link', {name: 'Download as CSV'});
		await expect.poll(async () => csv.getAttribute('href')).toBe(`/api/report?from=${day}&by=user&format=csv`);
		const answer = await fetch(new URL((await csv.getAttribute('href'))!, web.url));
		expect([answer.headers.get('content-type'), await answer.text()]).toEqual([
			'text/csv; charset=utf-8',
			'user,gpu_hours,percentage,run_count,manual_count\n',
		]);
		for (const [query, words] of [
			['from=2026-02-30', 'from must be a day'],
			['from=2026-02-03&to=2026-02-02', 'to must not be before from'],
			['to=2026-02-02', 'to works only together with from'],
			['from=2999-01-01', 'from must not be in the future'],
			['from=2026-02-03&host=good', 'work only for this host'],
			['format=xls', 'format must be json or csv'],
		] as const) {
			const refused = await fetch(new URL(`/api/report?${query}`, web.url));
			expect([query, refused.status, await refused.text()]).toEqual([query, 400, expect.stringContaining(words)]);
		}

		await page.getByRole('button', {name: '7 days'}).click();
		await page.getByRole('button', {name: 'Day', exact: true}).click();
		await page.getByRole('combobox', {name: 'Host'}).selectOption('good');
		await page.locator('.report', {hasText: 'carol'}).waitFor();
		await expect.poll(() => page.url()).toMatch(/#\/report\?days=7&by=day&host=good$/v);
		await page
			.locator('.report-total', {hasText: /^Jan 1.* – Jan 8.* · 12\.50 GPU hours · 4 reservations · 1 user$/v})
			.waitFor();
		await page.reload();
		await page.locator('.report', {hasText: 'carol'}).waitFor();
		expect(await page.locator('.slider-words').textContent()).toBe('Last 7 days');
		await page.getByRole('combobox', {name: 'Host'}).selectOption('lost');
		await page.locator('.report-problem', {hasText: 'lost: No route to host'}).waitFor();
		// Values of the previous host are marked as old.
		expect(await page.locator('.report').first().getAttribute('data-old')).toBe('');
		// The skip link does not change the address.
		await page.locator('.skip').focus();
		await page.keyboard.press('Enter');
		expect(page.url()).toMatch(/#\/report\?/v);
		expect(await page.evaluate('document.activeElement.id')).toBe('main');
		// The browser also logs the failing host.
		expect(problems.filter((problem) => !problem.includes('503'))).toEqual([]);
	});

	test('shows a missing number of another host as a dash, never as zero', async () => {
		const box = await freshEmbeddedBox(1);
		const {environment} = playHosts(box, ['good']);
		writeFileSync(
			path.join(box.home, 'report.json'),
			JSON.stringify({
				users: [
					{name: 'carol', run_count: 3},
					{name: 'dave', gpu_hours: 0, mig_instance_hours: 2, percentage: 0, run_count: 0, manual_count: 1},
				],
				total_gpu_hours: -1,
				unique_users: 0,
				start_date: '2026-01-01',
				end_date: '2026-01-08',
			}),
		);
		const web = await startWeb(box, [], environment);
		onTestFinished(async () => {
			await web.end('SIGKILL');
		});
		const {page, problems} = await openPage(browser, `${web.url}#/report?host=good`);
		await page.locator('.report-total', {hasText: / · – GPU hours · – reservations · 0 users$/v}).waitFor();
		const cellsOf = async (name: string) =>
			page.locator('.report tr', {hasText: name}).locator('.number').allTextContents();
		expect(await cellsOf('carol')).toEqual(['–', '–', '–', '3', '–']);
		expect(await cellsOf('dave')).toEqual(['0.00', '2.00', '0.0 %', '0', '1']);
		expect(problems).toEqual([]);
	});

	test('downloads each of its two tables on a click', async () => {
		const box = await freshEmbeddedBox(1);
		const web = await startWeb(box);
		onTestFinished(async () => {
			await web.end('SIGKILL');
		});
		const {page, problems} = await openPage(browser, `${web.url}#/report`);
		const words = page.locator('.held-unseen');
		const panel = page.locator('.held-use .panel', {hasText: 'Nothing was reserved in this period.'});
		const [above, below] = [await panel.boundingBox(), await words.boundingBox()];
		expect(below!.y - (above!.y + above!.height)).toBeGreaterThanOrEqual(8);
		await box.run('reserve');
		await box.run('release');
		// The server hears of the release a moment later.
		await page.locator('.report-name', {hasText: account}).first().waitFor();
		await expect.poll(async () => page.locator('.report-total').textContent()).toContain('1 reservation');
		for (const [name, file, head] of [
			['Download as CSV', 'gpu-hours-by-user.csv', 'user,gpu_hours,percentage,run_count,manual_count'],
			[
				'Download the use as CSV',
				'reserved-and-used.csv',
				'user,reserved_gpu_hours,known_gpu_hours,used_gpu_hours,idle_gpu_hours',
			],
		] as const) {
			const downloaded = page.waitForEvent('download');
			await page.getByRole('link', {name, exact: true}).click();
			const download = await downloaded;
			expect(download.suggestedFilename()).toBe(file);
			const [first, row] = readFileSync(await download.path(), 'utf8').split('\n', 2);
			expect([first, row?.split(',', 1)]).toEqual([head, [account]]);
		}

		expect(page.url()).toContain('#/report');
		expect(problems).toEqual([]);
	});

	test('shows a report while events arrive faster than the server answers, with one request at a time', async () => {
		const box = await freshEmbeddedBox(1);
		const web = await startWeb(box);
		onTestFinished(async () => {
			await web.end('SIGKILL');
		});
		const {page, problems} = await openPage(browser, web.url);
		let underWay = 0;
		let mostUnderWay = 0;
		const cancelled: string[] = [];
		page.on('requestfailed', (request) => {
			cancelled.push(request.url());
		});
		await page.route('**/api/report?**', async (route) => {
			mostUnderWay = Math.max(mostUnderWay, ++underWay);
			// Each answer takes longer than the time between two events.
			await setTimeout(4000);
			underWay--;
			await route.continue().catch(() => undefined);
		});
		await page.locator('.tabs a[data-view="report"]').click();
		const row = page.locator('.report-name', {hasText: account}).first();
		const endMs = Date.now() + patienceMs;
		for (let count = 0; (await row.count()) === 0; count++) {
			expect(Date.now()).toBeLessThan(endMs);
			await box.run(count % 2 === 0 ? 'reserve' : 'release');
		}

		expect([mostUnderWay, cancelled]).toEqual([1, []]);
		await page.waitForRequest(/report/v);
		await page.locator('.tabs a[data-view="jobs"]').click();
		await expect.poll(() => cancelled.length).toBe(1);
		expect(problems).toEqual([]);
	});

	slowTest('recovers from an outage of the store without a reload', async () => {
		const redis = await startRedis({isDurable: true});
		onTestFinished(async () => redis.stop());
		const box = await freshRedisBox(redis.port, 2);
		const web = await startWeb(box);
		onTestFinished(async () => {
			await web.end('SIGKILL');
		});
		await box.run('reserve --gpu-ids 1');
		const {page} = await openPage(browser, `${web.url}#/report`);
		await page.locator('.report tbody tr').first().waitFor();
		await redis.kill();
		await page.locator('#pill-text', {hasText: /Stale/v}).waitFor();
		await page.getByRole('button', {name: '7 days'}).click();
		await page.locator('.report-problem').waitFor();
		expect(await page.locator('.report').first().getAttribute('data-old')).toBe('');
		await redis.restart();
		await page.locator('.report-problem').waitFor({state: 'detached'});
		await page.locator('.report:not([data-old]) tbody tr').first().waitFor();
	});

	slowTest('shows a timeout if the server does not answer', async () => {
		const box = await freshEmbeddedBox(1);
		const web = await startWeb(box);
		onTestFinished(async () => {
			await web.end('SIGKILL');
		});
		const {page} = await openPage(browser, web.url);
		await page.route('**/api/report?**', () => undefined);
		await page.locator('.tabs a[data-view="report"]').click();
		await page.locator('#view-report .quiet', {hasText: 'Loading…'}).waitFor();
		await page.locator('.report-problem', {hasText: 'The server did not answer within 10 s'}).waitFor();
	});
});

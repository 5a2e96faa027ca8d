/** Charts: hours over time, reserved and used hours, and utilization above the holders. */
import fc from 'fast-check';
import type {Page} from 'playwright-core';
import {describe, expect, onTestFinished, test} from 'vitest';
import {schemas} from '../../../source/help/schema/index.js';
import {curveOf} from '../../../source/web/page/occupancy/geometry.js';
import {freshEmbeddedBox} from '../../_helpers/program/processes.js';
import {isLong, slowTest} from '../../_helpers/slow.js';
import {askJson, startWeb} from '../_server.js';
import {browserForAll, chromiumProgram, expectFits, openPage} from './_browser.js';

type Validate = (value: unknown) => boolean;

const {default: Ajv} = (await import('ajv')) as unknown as {
	default: new () => {readonly compile: (schema: Readonly<Record<string, unknown>>) => Validate};
};

test('curveOf draws exactly the known steps in the window, at their height', () => {
	// eslint-disable-next-line @typescript-eslint/no-restricted-types -- JSON has no undefined
	const anyValue = fc.option(fc.integer({min: 0, max: 100}), {nil: null as number | null});
	fc.assert(
		fc.property(fc.array(anyValue, {minLength: 1, maxLength: 20}), fc.nat(15), (values, hidden) => {
			const fromMs = hidden * 1000;
			const toMs = 25_000;
			const path = curveOf(values, {step_seconds: 1, end_ms: (values.length - 1) * 1000}, {fromMs, toMs});
			const covered = path
				.split('Z')
				.filter(Boolean)
				.flatMap((part) => {
					const {left, steps} = /^M(?<left>[\d.]+) 100(?<steps>(?:V\d+H[\d.]+)+)V100$/v.exec(part)!.groups!;
					let x = Number(left);
					return steps!
						.matchAll(/V(?<y>\d+)H(?<x>[\d.]+)/gv)
						.map(({groups}) => {
							const from = x;
							x = Number(groups!['x']);
							return [from, x, 100 - Number(groups!['y'])];
						})
						.toArray();
				});
			const xOf = (ms: number) => Number((((ms - fromMs) / (toMs - fromMs)) * 1000).toFixed(1));
			expect(covered).toEqual(
				values.flatMap((value, index) =>
					value === null || index < hidden ? [] : [[xOf(index * 1000), xOf((index + 1) * 1000), value]],
				),
			);
		}),
	);
});

const chartOf = (page: Page) => page.locator('.report-chart');

describe.runIf(isLong && chromiumProgram !== undefined)('the charts in Chromium', () => {
	const browser = browserForAll();

	slowTest('show GPU hours and measured use in the report, and utilization in the occupancy view', async () => {
		const box = await freshEmbeddedBox(1);
		const web = await startWeb(box, ['--demo']);
		onTestFinished(async () => {
			await web.end('SIGKILL');
		});
		const {page, problems} = await openPage(browser, `${web.url}#/report?days=30`, {isMotionReduced: true});
		const chart = page.getByRole('img', {name: /^GPU hours by day, .* Most: .*: \d+\.\d\d GPU hours · /v});
		await chart.waitFor();
		expect([30, 31]).toContain(await chart.locator('.column').count());
		// The highest column is described until another is pointed at.
		const words = page.locator('.pointed-words');
		const before = await words.textContent();
		await chart.locator('.column').nth(3).hover();
		await expect.poll(async () => words.textContent()).not.toBe(before);
		const names = await page.locator('.report-chart .legend li').allTextContents();
		expect(names).toEqual(await page.locator('.report').first().locator('tbody .report-name').allTextContents());
		// The heights of columns are proportional to their hours.
		const heights = await page.evaluate<readonly number[]>(
			"[...document.querySelectorAll('.column')].map((column) => [...column.children].reduce((sum, {style}) => sum + parseFloat(style.height), 0))",
		);
		const answer = await askJson<{
			readonly series: {readonly rows: ReadonlyArray<{readonly gpu_hours: readonly number[]}>};
		}>(web.port, '/api/report?days=30');
		const sums = heights.map((_, index) => answer.series.rows.reduce((sum, {gpu_hours: row}) => sum + row[index]!, 0));
		const highest = Math.max(...heights);
		for (const [position, height] of heights.entries()) {
			expect(height / highest).toBeCloseTo(sums[position]! / Math.max(...sums), 1);
		}

		await page.getByRole('button', {name: '1 day', exact: true}).click();
		await page.getByRole('button', {name: 'GPU', exact: true}).click();
		await page.getByRole('img', {name: /^GPU hours by hour, /v}).waitFor();
		await page.locator('.report-chart .legend li', {hasText: 'GPU 0'}).waitFor();
		const used = page.getByRole('region', {name: 'Reserved and used in the last 24 hours'});
		const grace = used.getByRole('row', {name: /^grace/v});
		// This user's GPU was idle.
		await grace.locator('[data-part="idle"]').waitFor();
		expect(await grace.locator('td.number').nth(1).textContent()).toMatch(/^\d %$/v);
		const heldUse = await askJson<Readonly<Record<string, unknown>>>(web.port, '/api/held-use?hours=24');
		const {default: schema} = await schemas['web-held-use']!();
		expect(new Ajv().compile(schema)(heldUse)).toBe(true);
		await used.getByText(/ the GPUs for [\d,.]+ of 24(?:\.00)? hours: /v).waitFor();
		await used.getByRole('button', {name: 'week'}).click();
		const week = page.getByRole('region', {name: 'Reserved and used in the last week'});
		await week.getByText(/^The GPUs were not monitored for [\d,.]+ of 168(?:\.00)? hours: /v).waitFor();
		await page.waitForURL(/[&?]used=168/v);
		expect(await week.getByRole('link', {name: 'Download the use as CSV'}).getAttribute('href')).toBe(
			'/api/held-use?hours=168&format=csv',
		);
		const table = await fetch(`${web.url}api/held-use?hours=168&format=csv`);
		expect([table.headers.get('content-type'), (await table.text()).split('\n', 1)[0]]).toEqual([
			'text/csv; charset=utf-8',
			'user,reserved_gpu_hours,known_gpu_hours,used_gpu_hours,idle_gpu_hours',
		]);
		await expectFits(page, 'report');
		await page.emulateMedia({media: 'print'});
		expect([await page.locator('#view-report .controls').isVisible(), await chartOf(page).isVisible()]).toEqual([
			false,
			true,
		]);
		await page.emulateMedia({media: 'screen'});
		await page.goto(`${web.url}#/occupancy`);
		await page.locator('.occupancy-curve path[d^=M]').first().waitFor({state: 'attached'});
		await page.getByRole('img', {name: /^GPU 0: .*; mean use in the last day: \d+ %$/v}).waitFor();
		await expectFits(page, 'occupancy');
		expect(problems).toEqual([]);
	});
});

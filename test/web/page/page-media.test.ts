import {describe, expect, onTestFinished, test} from 'vitest';
import {isLong} from '../../_helpers/slow.js';
import {freshEmbeddedBox} from '../../_helpers/program/processes.js';
import {startWeb} from '../_server.js';
import {browserForAll, cardOf, chromiumProgram, openPage} from './_browser.js';

describe.runIf(isLong && chromiumProgram !== undefined)('the page in print and in forced colors', () => {
	const browser = browserForAll();

	async function open() {
		const box = await freshEmbeddedBox(2);
		await box.run('reserve --gpu-ids 0');
		const web = await startWeb(box);
		onTestFinished(async () => {
			await web.end('SIGKILL');
		});
		const {page} = await openPage(browser, web.url, {theme: 'dark'});
		// These rules load after the first view.
		await expect
			.poll(async () => page.evaluate("[...document.styleSheets].some(({href}) => href?.includes('late-follow-up'))"))
			.toBe(true);
		return page;
	}

	test('prints the dark page in dark on white, without buttons', async () => {
		const page = await open();
		const colours = async () =>
			page.evaluate<readonly string[]>(
				'[document.documentElement, document.body].map((element) => getComputedStyle(element)).flatMap(({color, backgroundColor}) => [color, backgroundColor]).slice(2)',
			);
		const [text, ground] = await colours();
		await page.emulateMedia({media: 'print'});
		const [printed, paper] = await colours();
		expect([printed === text, paper === ground]).toEqual([false, false]);
		const lightness = (colour: string | undefined): number =>
			Math.max(...(colour ?? '').matchAll(/\d+/gv).map(([value]) => Number(value)));
		expect(lightness(printed)).toBeLessThan(80);
		expect(lightness(paper)).toBeGreaterThan(230);
		// Immediately, because printing does not wait.
		expect(await page.evaluate("getComputedStyle(document.querySelector('.card')).backgroundColor")).toBe(
			'rgb(255, 255, 255)',
		);
		expect(await page.locator('.tabs').isVisible()).toBe(false);
		await page.emulateMedia({media: null});
		await page.evaluate("location.hash = '#/gpus?filter='");
		const fields = page.locator('search');
		await fields.waitFor();
		await page.emulateMedia({media: 'print'});
		expect(await fields.isVisible()).toBe(false);
		const adjust = "getComputedStyle(document.querySelector('.meter-fill')).printColorAdjust";
		expect(await page.evaluate(adjust)).toBe('exact');
	});

	test('has labels on printed rows, and borders in forced-colors mode', async () => {
		const page = await open();
		await page.evaluate("location.hash = '#/gpus?as=rows'");
		await page.locator('.row').first().waitFor();
		const names = page.locator('.row').first().locator('.row-meter-name');
		const widths = async () =>
			Promise.all((await names.all()).map(async (name) => Math.round((await name.boundingBox())!.width)));
		expect(await widths()).toEqual([1, 1]);
		await page.emulateMedia({media: 'print'});
		expect(await widths()).not.toContain(1);
		expect(await names.allTextContents()).toEqual(['Use', 'Memory']);
		await page.emulateMedia({media: null, forcedColors: 'active'});
		expect(await page.evaluate("getComputedStyle(document.querySelector('.row')).borderBottomWidth")).toBe('1px');
	});

	test('prints a dark chart in light colors, and restores its colors afterwards', async () => {
		const page = await open();
		await cardOf(page, 0).locator('button').first().click();
		await cardOf(page, 0).locator('canvas').waitFor();
		/** Returns the colors of opaque pixels: lines of the grid and straight parts of curves. */
		const drawn = async () =>
			page.evaluate<readonly string[]>(`(() => {
				const canvas = document.querySelector('#cards .chart canvas');
				const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
				const colours = new Set();
				for (let at = 0; at < data.length; at += 4) {
					if (data[at + 3] === 255) {
						colours.add('#' + [0, 1, 2].map((part) => data[at + part].toString(16).padStart(2, '0')).join(''));
					}
				}
				return [...colours];
			})()`);
		const markers = async () =>
			page.evaluate<readonly string[]>(
				"[...document.querySelectorAll('#cards .u-marker')].map((marker) => getComputedStyle(marker).borderTopColor)",
			);
		const lines = {dark: '#222833', light: '#e4e7ec'};
		await expect.poll(drawn).toContain(lines.dark);
		const onScreen = await markers();
		await page.emulateMedia({media: 'print'});
		await expect.poll(drawn).toContain(lines.light);
		expect(await drawn()).not.toContain(lines.dark);
		expect((await markers()).slice(-2)).toEqual(['rgb(47, 99, 216)', 'rgb(138, 79, 208)']);
		await page.emulateMedia({media: null});
		await expect.poll(drawn).toContain(lines.dark);
		expect(await drawn()).not.toContain(lines.light);
		expect(await markers()).toEqual(onScreen);
	});

	test('distinguishes bars, states and the current view in forced-colors mode', async () => {
		const page = await open();
		await page.emulateMedia({forcedColors: 'active'});
		const styleOf = async (selector: string, property: string) =>
			page.evaluate<string>(`getComputedStyle(document.querySelector('${selector}')).${property}`);
		expect(await styleOf('.meter-fill', 'backgroundColor')).not.toBe(await styleOf('.meter-bar', 'backgroundColor'));
		await expect.poll(async () => styleOf('.meter-bar', 'borderTopStyle')).toBe('solid');
		expect(await styleOf('.state', 'outlineStyle')).toBe('solid');
		expect(await styleOf('.tabs a[aria-current="page"]', 'outlineStyle')).toBe('solid');
		expect(await styleOf('.tabs a:not([aria-current])', 'outlineStyle')).toBe('none');
	});
});

/** The page on paper and in colours of the system's choice. */
import {describe, expect, onTestFinished, test} from 'vitest';
import {freshEmbeddedBox} from '../../_helpers/program/processes.js';
import {startWeb} from '../_server.js';
import {browserForAll, chromiumProgram, openPage} from './_browser.js';

describe.skipIf(chromiumProgram === undefined)('in Chromium', () => {
	const browser = browserForAll();

	async function open() {
		const box = await freshEmbeddedBox(2);
		await box.run('reserve --gpu-ids 0');
		const web = await startWeb(box);
		onTestFinished(async () => {
			await web.end('SIGKILL');
		});
		return (await openPage(browser, web.url, {theme: 'dark'})).page;
	}

	test('the dark page is printed dark on white, without what can only be pressed', async () => {
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
		// At once: what is printed is not waited for.
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

	test('where the system chooses the colours, bars, states and the current view are still told apart', async () => {
		const page = await open();
		await page.emulateMedia({forcedColors: 'active'});
		const styleOf = async (selector: string, property: string) =>
			page.evaluate<string>(`getComputedStyle(document.querySelector('${selector}')).${property}`);
		expect(await styleOf('.meter-fill', 'backgroundColor')).not.toBe(await styleOf('.meter-bar', 'backgroundColor'));
		expect(await styleOf('.meter-bar', 'borderTopStyle')).toBe('solid');
		expect(await styleOf('.state', 'borderTopStyle')).toBe('solid');
		expect(await styleOf('.tabs a[aria-current="page"]', 'outlineStyle')).toBe('solid');
		expect(await styleOf('.tabs a:not([aria-current])', 'outlineStyle')).toBe('none');
	});
});

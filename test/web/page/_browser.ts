import {hostname} from 'node:os';
import axe, {type AxeResults} from 'axe-core';
import {chromium, type Browser, type Page} from 'playwright-core';
import {afterAll, beforeAll, expect, onTestFinished} from 'vitest';
import {patienceMs} from '../../_helpers/eventually.js';
import {findChromium} from '../../_helpers/packages/find-chromium.js';

/** Undefined if there is no Chromium. The set-up has said so, and the tests are skipped. */
export const chromiumProgram = findChromium();

/** Starts one browser for all tests of a `describe`. */
export function browserForAll(): () => Browser {
	let browser: Browser | undefined;
	beforeAll(async () => {
		browser = await chromium.launch({
			executablePath: chromiumProgram,
			args: [
				'--no-sandbox',
				'--disable-gpu',
				'--disable-dev-shm-usage',
				`--host-resolver-rules=MAP ${hostname()} 127.0.0.1`,
			],
		});
	});
	afterAll(async () => browser?.close());
	return () => browser!;
}

export type Opened = {
	readonly page: Page;
	/** Errors in the page, and refusals by its policy. */
	readonly problems: readonly string[];
	/** Requests to other servers. */
	readonly strangers: readonly string[];
};

export type OpenOptions = {
	readonly width?: number;
	readonly height?: number;
	readonly theme?: 'dark' | 'light';
	readonly isMotionReduced?: boolean;
	/** Whether the test controls the page's time. */
	readonly hasOwnClock?: boolean;
};

/** Opens the page and waits until it is live. The page is closed at the end of the test. */
export async function openPage(
	browser: () => Browser,
	url: string,
	{width = 1280, height = 900, theme = 'dark', isMotionReduced = false, hasOwnClock = false}: OpenOptions = {},
): Promise<Opened> {
	const context = await browser().newContext({
		viewport: {width, height},
		colorScheme: theme,
		reducedMotion: isMotionReduced ? 'reduce' : 'no-preference',
	});
	onTestFinished(async () => context.close());
	const page = await context.newPage();
	page.setDefaultTimeout(patienceMs);
	if (hasOwnClock) {
		await page.clock.install();
	}

	const problems: string[] = [];
	const strangers: string[] = [];
	page.on('pageerror', (error) => {
		problems.push(error.message);
	});
	page.on('console', (message) => {
		// Tests disconnect on purpose.
		if (message.type() === 'error' && !message.text().includes('net::ERR_')) {
			problems.push(message.text());
		}
	});
	page.on('dialog', (dialog) => {
		problems.push(`dialog ${dialog.message()}`);
		void dialog.dismiss();
	});
	page.on('request', (request) => {
		if (!request.url().startsWith(new URL(url).origin)) {
			strangers.push(request.url());
		}
	});
	await page.goto(url);
	await page.locator('#pill[data-kind="live"]').waitFor();
	return {page, problems, strangers};
}

export const cardOf = (page: Page, gpu: number) => page.locator(`#cards [data-gpu="${gpu}"]`);

/** Returns by how many pixels the page is wider than its window. */
export const overflow = async (page: Page): Promise<number> =>
	page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');

/** Simulates switching to another tab, or back. */
export const turn = async (page: Page, isHidden: boolean): Promise<unknown> =>
	page.evaluate(`
		Object.defineProperty(document, 'hidden', {configurable: true, get: () => ${isHidden}});
		document.dispatchEvent(new Event('visibilitychange'));
	`);

/** Returns all axe violations and best-practice findings. */
export async function accessProblems(page: Page, options: Record<string, unknown>): Promise<readonly string[]> {
	const {violations} = await page.evaluate<AxeResults>(`axe.run(${JSON.stringify(options)})`);
	return violations.map(({id, nodes}) => `${id}: ${nodes[0]!.html} ${nodes[0]!.failureSummary}`);
}

/** Checks that the view fits four widths, and is accessible when narrow and dark, and when wide and light. */
export async function expectFits(page: Page, name: string): Promise<void> {
	await page.evaluate(axe.source);
	for (const [width, theme] of [
		[320, 'dark'],
		[768, undefined],
		[1280, undefined],
		[1920, 'light'],
	] as const) {
		await page.setViewportSize({width, height: 900});
		expect([name, width, await overflow(page)]).toEqual([name, width, 0]);
		if (theme === undefined) {
			continue;
		}

		await page.emulateMedia({colorScheme: theme});
		expect([name, width, await accessProblems(page, {})]).toEqual([name, width, []]);
	}
}

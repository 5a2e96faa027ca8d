/**
A page of the dashboard in a real browser.
*/
import {chromium, type Browser, type Page} from 'playwright-core';
import {afterAll, beforeAll, onTestFinished} from 'vitest';
import {findChromium} from '../../_helpers/packages/find-chromium.js';

/** Undefined: the tests of the page are left out, as the set-up has said. */
export const chromiumProgram = findChromium();

/** One for all tests around it, from before the first of them until after the last. */
export function browserForAll(): () => Browser {
	let browser: Browser | undefined;
	beforeAll(async () => {
		browser = await chromium.launch({
			executablePath: chromiumProgram,
			args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
		});
	});
	afterAll(async () => browser?.close());
	return () => browser!;
}

export type Opened = {
	readonly page: Page;
	/** What went wrong in the page, or was refused by its policy. */
	readonly problems: readonly string[];
	/** Addresses asked for that are not of this server. */
	readonly strangers: readonly string[];
};

export type OpenOptions = {
	readonly width?: number;
	readonly height?: number;
	readonly theme?: 'dark' | 'light';
	readonly isMotionReduced?: boolean;
	/** Then the test moves the page's time. */
	readonly hasOwnClock?: boolean;
};

/** Opens the page and waits until it is live. It is closed when the test ends. */
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
	page.setDefaultTimeout(12_000);
	if (hasOwnClock) {
		await page.clock.install();
	}

	const problems: string[] = [];
	const strangers: string[] = [];
	page.on('pageerror', (error) => {
		problems.push(error.message);
	});
	page.on('console', (message) => {
		// A connection that is lost on purpose is no fault of the page.
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

/** How many pixels the page is wider than its window. */
export const overflow = async (page: Page): Promise<number> =>
	page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');

/** Another tab is looked at, or this one again. */
export const turn = async (page: Page, isHidden: boolean): Promise<unknown> =>
	page.evaluate(`
		Object.defineProperty(document, 'hidden', {configurable: true, get: () => ${isHidden}});
		document.dispatchEvent(new Event('visibilitychange'));
	`);

import fc from 'fast-check';
import {describe, expect, onTestFinished, test} from 'vitest';
import {isLong, slowTest} from '../../_helpers/slow.js';
import {schemas} from '../../../source/help/schema/index.js';
import {coveredPart, lanesOf, roomOf} from '../../../source/web/page/occupancy/geometry.js';
import {swatchesOf} from '../../../source/web/page/occupancy/swatch.js';
import {account} from '../../_helpers/program/cli.js';
import {freshEmbeddedBox} from '../../_helpers/program/processes.js';
import {ask, askJson, startWeb} from '../_server.js';
import {browserForAll, chromiumProgram, expectFits, openPage} from './_browser.js';

type Validate = (value: unknown) => boolean;

const {default: Ajv} = (await import('ajv')) as unknown as {
	default: new () => {readonly compile: (schema: Readonly<Record<string, unknown>>) => Validate};
};

const anySpans = fc.array(
	fc.tuple(fc.nat(100), fc.integer({min: 1, max: 50})).map(([fromMs, length]) => ({fromMs, toMs: fromMs + length})),
	{maxLength: 12},
);

test('lanesOf puts overlapping spans into different lanes and uses no unnecessary lane', () => {
	fc.assert(
		fc.property(anySpans, (spans) => {
			const lanes = lanesOf(spans);
			for (const [a, one] of spans.entries()) {
				for (const [b, other] of spans.entries()) {
					const overlap = a !== b && one.fromMs < other.toMs && other.fromMs < one.toMs;
					expect(overlap && lanes[a] === lanes[b]).toBe(false);
				}
			}

			const at = (time: number) => spans.filter(({fromMs, toMs}) => fromMs <= time && time < toMs).length;
			const times = Array.from({length: 100}, (_, time) => time);
			const most = Math.max(0, ...Array.from({length: 150}, (_, time) => at(time)));
			expect(new Set(lanes).size).toBe(most);
			expect(coveredPart(spans, {fromMs: 0, toMs: 100})).toBeCloseTo(
				times.filter((time) => at(time) > 0).length / 100,
				9,
			);
		}),
	);
});

test('swatchesOf returns distinct colors for up to 32 people, which mostly stay the same over days', () => {
	const names = Array.from({length: 32}, (_, index) => `user${index}`);
	const sameSwatch = new Set(
		swatchesOf(names)
			.values()
			.map((swatch) => JSON.stringify(swatch)),
	);
	expect(sameSwatch.size).toBe(32);
	expect(swatchesOf([...names, 'one more']).size).toBe(33);
	const few = ['alice', 'bob', 'carol'];
	for (const name of few) {
		expect(swatchesOf(few).get(name)).toEqual(swatchesOf([name]).get(name));
	}

	expect(swatchesOf(few.toReversed())).toEqual(swatchesOf(few));
});

/** Finds labels that overlap, leave the chart, or are cut without an ellipsis. */
const unreadable = `(() => {
	const boxes = [...document.querySelectorAll('.mark-words')]
		.filter((words) => words.offsetParent !== null)
		.map((words) => {
			const range = document.createRange();
			range.selectNodeContents(words);
			const box = range.getBoundingClientRect();
			return [words.textContent, box.left, box.right];
		})
		.toSorted((a, b) => a[1] - b[1]);
	const edge = document.querySelector('.occupancy').getBoundingClientRect().right;
	const marks = boxes
		.filter((box, index) => box[2] > (boxes[index + 1]?.[1] ?? edge))
		.map((box) => box[0]);
	const names = [...document.querySelectorAll('.span-name')]
		.filter((name) => name.offsetParent !== null)
		.filter((name) => {
			const bar = name.parentElement;
			const isCut = name.scrollWidth > name.clientWidth && getComputedStyle(name).textOverflow !== 'ellipsis';
			return isCut || name.offsetWidth > bar.clientWidth || name.offsetTop + name.offsetHeight > bar.clientHeight;
		})
		.map((name) => name.textContent);
	return {marks, names};
})()`;

test('roomOf keeps labels of marks away from the label of the current time', () => {
	const window = {fromMs: 0, nowMs: 75, toMs: 100};
	expect([60, 66, 70, 76, 80, 85, 90, 95].map((ms) => roomOf(ms, window, 'time'))).toEqual([
		'wide',
		'wide',
		'none',
		'none',
		'none',
		'wide',
		'wide',
		'none',
	]);
	expect(roomOf(20, window, 'time')).toBeUndefined();
});

describe.runIf(isLong && chromiumProgram !== undefined)('the occupancy chart in Chromium', () => {
	const browser = browserForAll();

	slowTest('has labels that never overlap or leave their bars, at every width', async () => {
		const box = await freshEmbeddedBox(1);
		const web = await startWeb(box, ['--demo']);
		onTestFinished(async () => {
			await web.end('SIGKILL');
		});
		for (const hours of [24, 72, 168]) {
			const {page} = await openPage(browser, `${web.url}#/occupancy?hours=${hours}`, {isMotionReduced: true});
			await page.locator('.span-name', {hasText: 'alan'}).first().waitFor({state: 'attached'});
			for (const width of [320, 500, 768, 1000, 1280, 1920]) {
				await page.setViewportSize({width, height: 900});
				expect([hours, width, await page.evaluate(unreadable)]).toEqual([hours, width, {marks: [], names: []}]);
			}
		}
	});

	test('shows a right-to-left name to the left of its hours, as the report does', async () => {
		const box = await freshEmbeddedBox(1);
		await box.run(['reserve', '--gpus', '1', '--user', 'דנה']);
		const web = await startWeb(box);
		onTestFinished(async () => {
			await web.end('SIGKILL');
		});
		const {page} = await openPage(browser, `${web.url}#/occupancy`, {isMotionReduced: true});
		for (const [view, place] of [
			['occupancy', '.person'],
			['report', '.pointed-words'],
		] as const) {
			await page.evaluate(`location.hash = '#/${view}'`);
			await page.locator(place, {hasText: 'דנה'}).waitFor();
			const gap = await page.evaluate<number>(String.raw`(() => {
				const placeOf = (pattern) => {
					const texts = document.createTreeWalker(document.querySelector('${place}'), NodeFilter.SHOW_TEXT);
					while (texts.nextNode()) {
						const found = [...texts.currentNode.data.matchAll(pattern)].at(-1);
						if (found) {
							const range = document.createRange();
							range.setStart(texts.currentNode, found.index);
							range.setEnd(texts.currentNode, found.index + found[0].length);
							return range.getBoundingClientRect();
						}
					}
				};
				return placeOf(/\d(?=\D*$)/gv).left - placeOf(/דנה/gv).right;
			})()`);
			expect([view, gap]).toEqual([view, expect.any(Number)]);
			expect(gap).toBeGreaterThan(0);
		}
	});

	slowTest('shows ended and current leases as bars, and can highlight one person', async () => {
		const box = await freshEmbeddedBox(3);
		await box.run(['run', '--gpu-ids', '0', '--note', 'sweep', '--', 'true']);
		await box.run(['reserve', '--gpu-ids', '1', '--user', 'zoe', '--note', '<b>eval</b>', '--duration', '3h']);
		const web = await startWeb(box);
		onTestFinished(async () => {
			await web.end('SIGKILL');
		});
		const answer = await askJson<{readonly spans: readonly unknown[]}>(web.port, '/api/occupancy?hours=24');
		const {default: schema} = await schemas['web-occupancy']!();
		const validate = new Ajv().compile(schema);
		expect([validate(answer), answer.spans.length]).toEqual([true, 2]);
		expect(answer.spans[1]).toMatchObject({gpu_id: 1, user: 'zoe', is_held: true, lease_count: 1});
		for (const [query, words] of [
			['hours=0', 'hours must be a whole number from 1 to 168'],
			['hours=9999', 'hours must be a whole number from 1 to 168'],
			['host=elsewhere', 'host must be this host'],
		] as const) {
			const {status, body} = await ask(web.port, `/api/occupancy?${query}`);
			expect([status, body]).toEqual([400, expect.stringContaining(words)]);
		}

		const {page, problems} = await openPage(
			browser,
			`${web.url}#/occupancy?hours=24&user=${encodeURIComponent(`${account} (zoe)`)}`,
			{
				isMotionReduced: true,
			},
		);
		const track = page.getByRole('img', {
			name: new RegExp(
				String.raw`^GPU 1: ${account} \(zoe\) \d+s; held for 0 % of the time(?:; mean use in the last day: \d+ %)?$`,
				'v',
			),
		});
		await track.waitFor();
		// The past and the remaining reserved time.
		expect(await track.locator('.span').count()).toBe(2);
		expect(await track.locator('.span').first().getAttribute('title')).toMatch(
			new RegExp(String.raw`^${account} \(zoe\) · .* – now · reservation · <b>`, 'v'),
		);
		const first = page.locator('.occupancy-row').first();
		expect(await first.locator('.span[data-dim]').count()).toBe(1);
		await page.getByRole('button', {name: `${account} (zoe)`, pressed: true}).click();
		await expect.poll(async () => first.locator('.span[data-dim]').count()).toBe(0);
		await page.getByRole('button', {name: 'Week'}).click();
		await expect.poll(() => page.url()).toMatch(/#\/occupancy\?hours=168$/v);
		await box.run(['reserve', '--gpu-ids', '2', '--user', 'yann']);
		await page.getByRole('img', {name: `GPU 2: ${account} (yann)`}).waitFor();
		await expectFits(page, 'occupancy');
		await page.emulateMedia({forcedColors: 'active'});
		const ground = "getComputedStyle(document.querySelector('.occupancy-track .span')).backgroundColor";
		expect(await page.evaluate(ground)).toMatch(/^oklch/v);
		expect(problems).toEqual([]);
	});
});

import {describe, expect, onTestFinished, test} from 'vitest';
import type {Write} from '../../../source/core/model/plan.js';
import {account} from '../../_helpers/program/cli.js';
import {freshEmbeddedBox, openStoreOf, start} from '../../_helpers/program/processes.js';
import {createRuntimeDirectory, startMine, startTunnel} from '../mine/_mine.js';
import {startWeb} from '../_server.js';
import {slowTest} from '../../_helpers/slow.js';
import {browserForAll, chromiumProgram, expectFits, openPage} from './_browser.js';

/** Number of entries, with the testing account at this position. */
const waiterCount = 60;
const ownPosition = 40;
/** A right-to-left note, whose first word is the rightmost. */
const fromTheRight = `تدريب ${'نموذج لغوي كبير جدا '.repeat(8)}`.trim();
const evenIds = Array.from({length: 64}, (_, index) => 2 * index);

describe.skipIf(chromiumProgram === undefined)('the queue in Chromium', () => {
	const browser = browserForAll();

	test("shows only the first entries and the user's own entries of a long queue", async () => {
		const box = await freshEmbeddedBox(2);
		const store = await openStoreOf(box);
		const {now} = await store.read();
		const writes = Array.from({length: waiterCount}, (_, index): Write => ({
			kind: 'join',
			entry: {
				id: `entry-${index}`,
				user: index === 0 ? 'long-'.repeat(20) : index + 1 === ownPosition ? account : `user-${index}`,
				requestedCount: 2,
				// The first entry names every second of many GPUs, and its account has a long name.
				requestedIds: index === 0 ? evenIds : [],
				allocatedGpus: [],
				reservationType: 'run',
				note: '',
				enqueueTime: now,
				lastHeartbeat: now,
			},
		}));
		const event = {kind: 'queue', gpus: []} as const;
		expect(await store.commit({expect: [], writes, usage: [], audit: [], event, grants: false})).toBe('done');
		const runtime = createRuntimeDirectory();
		const mine = await startMine(box, runtime.directory);
		const tunnel = await startTunnel(mine.socketPath);
		onTestFinished(async () => {
			tunnel.close();
			await mine.end('SIGKILL');
			runtime.remove();
		});
		const {page, problems} = await openPage(browser, tunnel.url, {isMotionReduced: true});
		const positions = async () => page.locator('#queue .position:visible').allTextContents();
		await expect.poll(positions).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', String(ownPosition)]);
		expect(await page.locator('#queue-count').textContent()).toBe(String(waiterCount));
		await expectFits(page, 'a long queue');
		await page.locator('#queue summary', {hasText: `${waiterCount - 9} others`}).press('Enter');
		const others = Array.from({length: waiterCount}, (_, index) => index + 1).filter(
			(position) => position > 8 && position !== ownPosition,
		);
		expect((await positions()).slice(9)).toEqual(others.map(String));
		expect(problems).toEqual([]);
	});

	slowTest('shows a long right-to-left note from its start', async () => {
		const box = await freshEmbeddedBox(2);
		await box.run(['reserve', '--gpu-ids', '1', '--note', fromTheRight]);
		const waiter = start(box, ['reserve', '--gpus', '2', '--note', fromTheRight]);
		const web = await startWeb(box);
		onTestFinished(async () => {
			waiter.kill('SIGKILL');
			await web.end('SIGKILL');
		});
		const {page} = await openPage(browser, web.url);
		for (const place of ['#cards [data-gpu="1"]', '#queue']) {
			await page.locator(`${place} .note`, {hasText: 'نموذج'}).waitFor();
			const isSeen = await page.evaluate<boolean>(`{
				const note = document.querySelector('${place} .note');
				const word = document.createRange();
				word.setStart(note.firstChild, 0);
				word.setEnd(note.firstChild, 5);
				const {left, right} = word.getBoundingClientRect();
				const box = note.getBoundingClientRect();
				note.scrollWidth > note.clientWidth && left >= box.left && right <= box.right + 1;
			}`);
			expect([place, isSeen]).toEqual([place, true]);
		}
	});
});

import {describe, expect, test} from 'vitest';
import {longestScan} from '../../../source/core/model/ports.js';
import {eventually} from '../../_helpers/eventually.js';
import type {Subject} from '../contract.js';
import {plan, poolWrite} from '../samples.js';

const ada = {owner: 'ada', intervalMs: 2000};
const bob = {owner: 'bob', intervalMs: 2000};

export function scanContract({store, harness}: Subject): void {
	describe('the board for shared scans', () => {
		test('gives the scanner role to one viewer until it resigns', async () => {
			const {scans} = await harness().open();
			expect(await scans.claim(ada, 30)).toBe(true);
			expect(await store().scans.claim(bob, 30)).toBe(false);
			expect(await scans.claim(ada, 30)).toBe(true);
			await store().scans.resign('bob');
			expect(await store().scans.claim(bob, 30)).toBe(false);
			await scans.resign('ada');
			expect(await store().scans.claim(bob, 30)).toBe(true);
		});

		test('gives the scanner role to only one of many viewers that claim it concurrently', async () => {
			const owners = Array.from({length: 20}, (_, index) => ({owner: `owner-${index}`, intervalMs: 2000}));
			const answers = await Promise.all(owners.map(async (role) => store().scans.claim(role, 30)));
			expect(answers.filter(Boolean)).toHaveLength(1);
		});

		test('ends a scanner role that is not renewed', async () => {
			const {scans} = store();
			await scans.claim(ada, 0.05);
			await eventually(async () => scans.claim(bob, 30));
			expect(await scans.post('ada', 'late')).toBe(false);
			expect(await scans.latest()).toBeUndefined();
			expect(await scans.post('bob', 'mine')).toBe(true);
			expect(await scans.latest()).toMatchObject({text: 'mine'});
		});

		test('moves the scanner role to a viewer that scans more often', async () => {
			const {scans} = store();
			await scans.claim(ada, 30);
			expect(await scans.claim({...bob, intervalMs: 500}, 30)).toBe(true);
			expect(await scans.post('ada', 'slow')).toBe(false);
			expect(await scans.claim(ada, 30)).toBe(false);
		});

		test('rejects scans from viewers without the role', async () => {
			expect(await store().scans.post('ada', 'text')).toBe(false);
			expect(await store().scans.latest()).toBeUndefined();
		});

		test('shows a shared scan to every viewer, with its age by the clock of the store', async () => {
			const {scans} = await harness().open();
			await scans.claim(ada, 30);
			const text = `{"a": "日本\\u0000"}\n${'x'.repeat(100_000)}`;
			await scans.post('ada', text);
			const first = await store().scans.latest();
			expect(first).toMatchObject({text});
			expect(first?.ageSeconds).toBeLessThan(5);
			await eventually(async () => {
				await scans.post('ada', 'second');
				const latest = await store().scans.latest();
				return latest!.time > first!.time;
			});
		});

		test('notifies only listeners of scans about a new scan', async () => {
			const other = await harness().open();
			// The embedded store notifies listeners when the time of a file has changed. A claim after the subscription would count as a second change.
			await other.scans.claim(ada, 30);
			// Old kernels round the time of a file to at most 10 ms. The post must not get the same time as the claim.
			const claimedAt = performance.now();
			await eventually(() => performance.now() > claimedAt + 20);
			let posts = 0;
			let changes = 0;
			const stop = await store().scans.subscribe(() => {
				posts++;
			});
			const stopPool = await store().subscribe({
				changed() {
					changes++;
				},
			});
			await other.scans.post('ada', 'seen');
			await eventually(() => posts > 0);
			const postsBefore = posts;
			await other.commit(plan({writes: [poolWrite(1)], event: {kind: 'pool', gpus: []}}));
			await eventually(() => changes > 0);
			expect(changes).toBe(1);
			expect(posts).toBe(postsBefore);
			await stop();
			await stopPool();
		});

		test('ignores a scan that is too long', async () => {
			await harness().setScan('x'.repeat(longestScan));
			expect((await store().scans.latest())?.text).toHaveLength(longestScan);
			await harness().setScan('x'.repeat(longestScan + 1));
			expect(await store().scans.latest()).toBeUndefined();
		});
	});
}

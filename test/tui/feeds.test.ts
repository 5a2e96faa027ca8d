import {setTimeout as sleep} from 'node:timers/promises';
import {expect, test} from 'vitest';
import {CanhazgpuError} from '../../source/errors.js';
import type {StoreListener} from '../../source/core/model/ports.js';
import type {Snapshot} from '../../source/core/model/types.js';
import {startScanLoop} from '../../source/core/live/scan-loop.js';
import {startStoreFeed} from '../../source/core/live/store-feed.js';
import {createBox, lease, type Box} from './_world.js';

const unreachable = new CanhazgpuError('store-unreachable', 'Redis does not answer');

/** A feed of the box, with its messages and its number of reads. */
function follow(box: Box) {
	const {store} = box;
	const updates: string[] = [];
	const counts = {reads: 0};
	let last: Snapshot | undefined;
	const {read} = store;
	Object.assign(store, {
		async read() {
			counts.reads++;
			return read();
		},
	});
	const feed = startStoreFeed(box.world, {
		arrived(snapshot) {
			last = snapshot;
			updates.push('arrived');
		},
		lost(reason) {
			updates.push(`lost: ${reason}`);
		},
		broken(error) {
			updates.push(`broken: ${String(error)}`);
		},
	});
	return {feed, updates, counts, last: () => last};
}

test('the feed of top reads at most once per 50 ms, however many events arrive', async () => {
	const box = await createBox(2);
	const {feed, counts, last} = follow(box);
	await expect.poll(() => counts.reads).toBe(1);
	await sleep(60);
	const begun = performance.now();
	for (let round = 0; round < 100; round++) {
		await box.write({kind: 'lease', index: 0, lease: lease('bob', {note: String(round)})});
		await sleep(2);
	}

	const elapsed = performance.now() - begun;
	await expect.poll(() => last()?.gpus[0]).toMatchObject({lease: {note: '99'}});
	expect(counts.reads).toBeLessThanOrEqual(elapsed / 50 + 4);
	feed.stop();
});

test('an expired job does not cause the feed of top to read repeatedly', async () => {
	const box = await createBox(1);
	await box.write({kind: 'lease', index: 0, lease: lease('bob', {type: 'run', expiryTime: 1})});
	const {feed, counts, last} = follow(box);
	await expect.poll(last).toBeDefined();
	await sleep(300);
	feed.stop();
	expect(counts.reads).toBeLessThanOrEqual(2);
});

test('the feed of top does not retry endlessly if the store rejects changes', async () => {
	const box = await createBox(1);
	await box.write({kind: 'lease', index: 0, lease: lease('bob', {type: 'manual', expiryTime: 1})});
	Object.assign(box.store, {
		async commit() {
			throw new CanhazgpuError('store-refused', 'cannot save to its disk');
		},
	});
	const {feed, counts, last, updates} = follow(box);
	await expect.poll(last).toBeDefined();
	const before = counts.reads;
	await sleep(300);
	feed.stop();
	expect(counts.reads).toBe(before);
	expect(updates).toEqual(['arrived']);
});

test('the feed of top does not read after it was stopped', async () => {
	const box = await createBox(1);
	const {feed, counts} = follow(box);
	await expect.poll(() => counts.reads).toBe(1);
	feed.stop();
	feed.refresh();
	await box.write({kind: 'lease', index: 0, lease: lease('bob')});
	await sleep(80);
	expect(counts.reads).toBe(1);
});

test('the feed of top reports an outage if it cannot subscribe to the store, and retries', async () => {
	const box = await createBox(1);
	const {subscribe} = box.store;
	let tries = 0;
	Object.assign(box.store, {
		async subscribe(listener: StoreListener) {
			tries++;
			if (tries === 1) {
				throw unreachable;
			}

			return subscribe(listener);
		},
	});
	const {feed, updates} = follow(box);
	await expect.poll(() => updates).toContain('arrived');
	expect(updates[0]).toBe('lost: Redis does not answer');
	expect(tries).toBe(2);
	feed.stop();
});

test('the feed of top ignores a read that started before an outage', async () => {
	const box = await createBox(1);
	const {subscribe, read} = box.store;
	let listener: StoreListener | undefined;
	const {promise: held, resolve: letGo} = Promise.withResolvers<undefined>();
	let reads = 0;
	Object.assign(box.store, {
		async subscribe(given: StoreListener) {
			listener = given;
			return subscribe(given);
		},
		async read() {
			reads++;
			const snapshot = await read();
			if (reads === 1) {
				await held;
			}

			return snapshot;
		},
	});
	const {feed, updates} = follow(box);
	await expect.poll(() => reads).toBe(1);
	listener!.lost!('connection closed');
	letGo(undefined);
	await sleep(20);
	expect(updates).toEqual(['lost: connection closed']);
	listener!.restored!();
	await expect.poll(() => updates).toEqual(['lost: connection closed', 'arrived']);
	feed.stop();
});

test('the feed of top reports a bug as a bug instead of an outage', async () => {
	const box = await createBox(1);
	Object.assign(box.store, {
		async read() {
			throw new TypeError('a bug');
		},
	});
	const {feed, updates} = follow(box);
	await expect.poll(() => updates).toEqual(['broken: TypeError: a bug']);
	feed.stop();
});

test('the feed of top runs one scan at a time, however often scans are requested', async () => {
	const box = await createBox(1);
	const {gpus} = box.world;
	let running = 0;
	let most = 0;
	let scans = 0;
	const slow = {
		...gpus,
		async observe() {
			running++;
			scans++;
			most = Math.max(most, running);
			await sleep(30);
			running--;
			return gpus.observe();
		},
	};
	const scanner = startScanLoop(
		{...box.world, gpus: slow},
		{watchedMs: 20, unwatchedMs: 20},
		() => undefined,
		() => undefined,
	);
	for (let round = 0; round < 30; round++) {
		scanner.poke();
		await sleep(10);
	}

	scanner.stop();
	expect(most).toBe(1);
	expect(scans).toBeGreaterThan(1);
	const before = scans;
	await sleep(80);
	expect(scans).toBe(before);
});

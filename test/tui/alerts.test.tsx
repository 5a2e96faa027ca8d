import {afterEach, expect, test} from 'vitest';
import {startMonitor, type Session} from './_harness.js';
import {createBox, gpuReading} from './_world.js';

let session: Session | undefined;
afterEach(() => {
	expect(session?.errors ?? []).toEqual([]);
	session?.unmount();
	session = undefined;
});

const used = gpuReading(0, {memoryUsedMiB: 5000, processes: [{pid: 7, user: 'bob'}]});

test('top records an alert from a scan only once', async () => {
	const box = await createBox(1, {readings: [used]});
	session = startMonitor(box, {scanIntervalMs: 200});
	await expect.poll(async () => box.store.audit()).toMatchObject([{kind: 'unreserved', account: 'bob', gpus: [0]}]);
	const {scans} = box;
	await expect.poll(() => box.scans).toBeGreaterThan(scans + 3);
	expect(await box.store.audit()).toHaveLength(1);
});

test('top --readonly records no alert', async () => {
	const box = await createBox(1, {readings: [used]});
	session = startMonitor(box, {scanIntervalMs: 200, isReadonly: true});
	await expect.poll(() => box.scans).toBeGreaterThan(3);
	expect(await box.store.audit()).toEqual([]);
});

import {afterEach, expect, test} from 'vitest';
import {CanhazgpuError} from '../../source/errors.js';
import {keys, startMonitor, type Session} from './_harness.js';
import {createBox, gpuReading, lease, sceneTime} from './_world.js';

let session: Session | undefined;

afterEach(() => {
	expect(session?.errors ?? []).toEqual([]);
	session?.unmount();
	session = undefined;
});

test('top refuses changes and shows the age of its values while the store is unreachable', async () => {
	const box = await createBox(1, {leases: {0: lease('alice')}});
	const {read} = box.store;
	session = startMonitor(box);
	await session.shows(/> 0 +Mine/v);
	Object.assign(box.store, {
		async read() {
			throw new CanhazgpuError('store-unreachable', 'Redis does not answer');
		},
	});
	await session.press(keys.controlR);
	await session.shows(/\[STALE \d+s\]/v);
	await session.shows(/\[STALE \d+s\] {2}values from 14:32 .* ro /v);
	await session.shows('WARN Redis does not answer - changes are disabled');
	await session.shows(/> 0 +Mine/v);
	await session.press('x');
	await session.shows('WARN Changes are disabled: Redis does not answer');
	Object.assign(box.store, {read});
	await session.shows('OK The store is back');
	await session.shows('[LIVE]');
});

test('top keeps the last readings after a failed scan, and shows the reason', async () => {
	const box = await createBox(1, {readings: [gpuReading(0, {utilizationPercent: 33})]});
	session = startMonitor(box, {scanIntervalMs: 200});
	await session.shows('33%');
	box.failure = 'nvidia-smi timed out after 5 s';
	await session.shows('WARN GPU scan failed: nvidia-smi timed out after 5 s');
	await session.shows(/\[SCAN FAILED \d+s\] {2}nvidia-smi timed out/v);
	// Outdated readings are not live, although the store is.
	expect(session.screen()).not.toContain('LIVE');
	await session.shows('33%');
	box.failure = undefined;
	await session.shows(/\[LIVE\] .*scan \d+s ago/v);
});

test('top removes an expired reservation even if no event announces the expiry', async () => {
	let now = sceneTime;
	const box = await createBox(1, {leases: {0: lease('bob', {expiryTime: sceneTime + 1})}, now: () => now});
	session = startMonitor(box);
	await session.shows(/> 0 +Reserved/v);
	now += 2;
	await session.shows(/> 0 +Free/v);
});

/** The line of the wait dialog that says whether the request would hold GPUs while it waits. */
import {afterEach, expect, test} from 'vitest';
import {endSession, keys, startMonitor, type Session} from '../_harness.js';
import {createBox, lease} from '../_world.js';

let session: Session | undefined;

afterEach(async () => {
	await endSession(session);
	session = undefined;
});

test('the wait dialog names the free GPUs and explains that a waiting request holds what it gets', async () => {
	session = startMonitor(await createBox(3, {leases: {0: lease('bob')}}), {size: {columns: 120, rows: 32}});
	await session.shows(/> 0 +Reserved/v);
	await session.press('w');
	await session.shows('Reserves now, or waits while this monitor runs.');
	await session.shows('Free now: GPUs 1,2');
	await session.press(keys.up, keys.up);
	await session.shows('Waits while this monitor runs, holding what it gets.');
	expect(session.store.getState().dialog).toBeDefined();
});

test('the open wait dialog follows what is free', async () => {
	const box = await createBox(3, {leases: {0: lease('bob')}});
	session = startMonitor(box, {size: {columns: 120, rows: 32}});
	await session.shows(/> 0 +Reserved/v);
	await session.press('w', keys.up);
	await session.shows('Reserves now, or waits while this monitor runs.');
	await session.shows('Free now: GPUs 1,2');
	await box.write({kind: 'lease', index: 1, lease: lease('bob')});
	await session.shows('Free now: GPU 2');
	await session.shows('Waits while this monitor runs, holding what it gets.');
});

test('the wait dialog promises nothing about free GPUs if the request has requirements', async () => {
	session = startMonitor(await createBox(3, {leases: {0: lease('bob')}}), {size: {columns: 120, rows: 32}});
	await session.shows(/> 0 +Reserved/v);
	await session.press('w', keys.up, keys.up);
	await session.shows('holding what it gets');
	await session.press(keys.tab, keys.tab, keys.tab, '40G');
	await session.shows('Reserves now, or waits while this monitor runs.');
});

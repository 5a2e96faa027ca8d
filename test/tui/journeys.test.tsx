import {afterEach, expect, test} from 'vitest';
import {keys, startMonitor, type Session} from './_harness.js';
import {createBox, createScene, lease, run, sceneTime, waiter} from './_world.js';

let session: Session | undefined;

afterEach(() => {
	expect(session?.errors ?? []).toEqual([]);
	session?.unmount();
	session = undefined;
});

test('the key r reserves GPUs with the typed count, duration and note', async () => {
	const box = await createBox(4);
	session = startMonitor(box);
	await session.shows(/> 0 +Free/v);
	await session.press('r', '2', keys.tab, '4h', keys.tab, "bob's run");
	await session.shows(String.raw`$ canhazgpu reserve --gpus 2 --duration 4h --note 'bob'\''s run'`);
	await session.press(keys.enter);
	// This message is shown only for a few seconds.
	await session.shows(/OK reserved GPUs 0,1 for 4h 0m 0s.*export CUDA_VISIBLE_DEVICES=0,1/v);
	await session.shows(/0 +Mine +╭alice +(?:4h00m|3h59m)/v);
	expect(session.line(/^ +1 /v)).toMatch(/Mine +╰alice +(?:4h00m|3h59m)/v);
	expect(session.line(/^ +2 /v)).toMatch(/Free/v);
	const {gpus} = await box.store.read();
	expect(gpus[0]).toMatchObject({lease: {user: 'alice', note: "bob's run", expiryTime: sceneTime + 4 * 3600}});
});

test('top scans at once when the holder of a GPU changes', async () => {
	const box = await createBox(2);
	session = startMonitor(box, {scanIntervalMs: 60_000});
	await session.shows(/> 0 +Free/v);
	const {scans} = box;
	await box.write({kind: 'lease', index: 0, lease: lease('bob')});
	await session.shows(/> 0 +Reserved/v);
	await expect.poll(() => box.scans).toBeGreaterThan(scans);
});

test('the reserve dialog explains why too few GPUs are available', async () => {
	const box = await createBox(3, {leases: {0: lease('bob'), 1: lease('bob')}});
	session = startMonitor(box, {size: {columns: 100, rows: 24}});
	await session.shows(/> 0 +Reserved/v);
	await session.press('r', keys.up, keys.enter);
	await session.shows('Not enough GPUs available. Requested: 2, Available: 1');
	await session.shows(/Next free in about (?:4h00m|3h59m): GPU 0, held by bob\./v);
	expect(session.screen()).not.toContain('canhazgpu status');
	await session.shows('Enter Again');
	await session.press(keys.down, keys.enter);
	await session.shows('OK reserved GPU 2');
});

test('the reserve dialog reports an invalid duration', async () => {
	const box = await createBox(1);
	session = startMonitor(box);
	await session.shows(/> 0 +Free/v);
	await session.press('r', keys.tab, '0.5s', keys.enter);
	await session.shows('Duration: "0.5s" is less than a second');
	await session.press(...Array.from({length: 4}, () => keys.backspace), '90', keys.enter);
	await session.shows('Duration: "90" has no unit');
	await session.shows('Did you mean 90m (minutes) or 90h (hours)?');
	await session.press('m', keys.enter);
	await session.shows('OK reserved GPU 0 for 1h 30m 0s');
});

test('the key R reserves the selected GPU', async () => {
	const box = await createBox(3);
	session = startMonitor(box);
	await session.shows(/> 0 +Free/v);
	await session.press(keys.down, 'R');
	await session.shows('$ canhazgpu reserve --gpu-ids 1 --duration 8h');
	await session.press(keys.enter);
	await session.shows(/> 1 +Mine/v);
});

test('the key x releases a reservation only after the key y confirms it', async () => {
	const box = await createBox(2, {leases: {1: lease('alice')}});
	session = startMonitor(box);
	await session.shows(/1 +Mine/v);
	await session.press(keys.end, 'x');
	await session.shows('Release GPU 1 now? y/N');
	await session.shows('$ canhazgpu release --gpu-ids 1');
	await session.press(keys.enter);
	await session.hides('y/N');
	expect((await box.store.read()).gpus[1]!.kind).toBe('leased');
	await session.press('x', 'y');
	await session.shows('OK released GPU 1');
	await session.shows(/> 1 +Free/v);
});

test('the keys x and y release the reservation if they arrive in one chunk', async () => {
	const box = await createBox(1, {leases: {0: lease('alice')}});
	session = startMonitor(box);
	await session.shows(/> 0 +Mine/v);
	await session.press('xy');
	await session.shows('OK released GPU 0');
});

/** Pastes with and without paste marks, because some terminals send none. */
test.each(['jxy', 'xyy', 'xy\r', ' xy', 'xxy', 'proxy', '\u{1B}[200~xy\u{1B}[201~', '\u{1B}[200~y\u{1B}[201~'])(
	'pasting %j into top releases no GPU',
	async (pasted) => {
		const box = await createBox(1, {leases: {0: lease('alice')}});
		session = startMonitor(box);
		await session.shows(/> 0 +Mine/v);
		await session.press(pasted, keys.escape, keys.escape, 'x');
		await session.shows('Release GPU 0 now? y/N');
		expect((await box.store.read()).gpus[0]!.kind).toBe('leased');
	},
);

test('the pasted text "yy" does not confirm a release', async () => {
	const box = await createBox(1, {leases: {0: lease('alice')}});
	session = startMonitor(box);
	await session.shows(/> 0 +Mine/v);
	await session.press('x', 'yy', keys.escape, 'x');
	await session.shows('Release GPU 0 now? y/N');
	expect((await box.store.read()).gpus[0]!.kind).toBe('leased');
});

test('the key e extends the selected reservation', async () => {
	const box = await createBox(1, {leases: {0: lease('alice')}});
	session = startMonitor(box);
	await session.shows(/> 0 +Mine +alice +(?:4h00m|3h59m)/v);
	await session.press('e', '2h');
	await session.shows('$ canhazgpu extend --gpu-ids 0 --duration 2h');
	await session.press(keys.enter);
	await session.shows('OK extended GPU 0 by 2h');
	await session.shows(/> 0 +Mine +alice +(?:6h00m|5h59m)/v);
});

test('the key e extends all GPUs of a reservation, but the key x releases only the selected GPU', async () => {
	const pair = {leaseId: 'pair'};
	const box = await createBox(4, {
		leases: {0: lease('alice', pair), 1: lease('alice'), 2: lease('alice', pair)},
	});
	session = startMonitor(box);
	await session.shows(/> 0 +Mine/v);
	await session.press('y');
	await session.shows('$ export CUDA_VISIBLE_DEVICES=0,2');
	await session.press('e', '2h');
	await session.shows('Extend GPUs 0,2');
	await session.shows('$ canhazgpu extend --gpu-ids 0,2 --duration 2h');
	await session.press(keys.enter);
	await session.shows('OK extended GPUs 0,2 by 2h');
	const ends = (await box.store.read()).gpus.map((record) => record.kind === 'leased' && record.lease.expiryTime);
	expect(ends).toEqual([sceneTime + 6 * 3600, sceneTime + 4 * 3600, sceneTime + 6 * 3600, false]);
	await session.press('x');
	await session.shows('Release GPU 0 now?');
	await session.shows('Of the same reservation you keep GPU 2');
	await session.press('y');
	await session.shows('OK released GPU 0');
	expect((await box.store.read()).gpus[2]).toMatchObject({kind: 'leased'});
});

test('the release dialog tells root that the holder keeps the other GPUs of the reservation', async () => {
	const pair = {leaseId: 'pair'};
	const box = await createBox(2, {leases: {0: lease('bob', pair), 1: lease('bob', pair)}});
	session = startMonitor(box, {requester: {account: 'root', uid: 0, label: 'root'}});
	await session.shows(/> 0 +Reserved/v);
	await session.press('x');
	await session.shows('Of the same reservation bob keeps GPU 1');
});

test('a key without effect in a panel names the panels in which it works', async () => {
	session = startMonitor(await createBox(2));
	await session.shows(/> 0 +Free/v);
	await session.press('5', 't');
	await session.shows('WARN t does nothing here. It is a key of 1 GPUs, 2 Detail, 6 Processes');
	await session.press('b');
	await session.shows('WARN b is not a key of the monitor: ? shows all keys');
	await session.press(keys.escape);
	await session.shows(/> 0 +Free/v);
});

test('the key e refuses to extend the reservation of a job', async () => {
	session = startMonitor(await createBox(1, {leases: {0: run('alice')}}));
	await session.shows(/> 0 +Mine/v);
	await session.press('e');
	await session.shows('WARN GPU 0 is held by a running job: it is released when the job ends');
});

test('the key e refuses to extend a job on two GPUs, and gives the reason in one sentence', async () => {
	session = startMonitor(await createBox(2, {leases: {0: run('alice'), 1: run('alice')}}));
	await session.shows(/> 0 +Mine/v);
	await session.press('e');
	await session.shows('WARN GPUs 0,1 are held by a running job: they are released when the job ends');
});

test('the keys x and e refuse reservations of other users with the reason', async () => {
	const box = await createBox(1, {leases: {0: lease('bob')}});
	session = startMonitor(box);
	await session.shows(/> 0 +Reserved +bob/v);
	await session.press('x');
	await session.shows('WARN GPU 0 is held by bob: only the holder can release it');
	await session.press('e');
	await session.shows('WARN GPU 0 is held by bob: only the holder can extend it');
	await session.press('y');
	expect((await box.store.read()).gpus[0]).toMatchObject({lease: {user: 'bob'}});
});

test('top --readonly refuses the keys r, R, x and e with the reason', async () => {
	const box = await createBox(1, {leases: {0: lease('alice')}});
	session = startMonitor(box, {isReadonly: true});
	await session.shows(/> 0 +Mine/v);
	for (const key of ['r', 'R', 'x', 'e']) {
		await session.press(key);
		await session.shows('WARN This monitor is read-only');
		expect(session.store.getState().dialog).toBeUndefined();
		session.store.dispatch({kind: 'ticked', nowMs: box.world.clock.monotonicMs() + 60_000});
	}
});

test('the key x releases nothing if the lease of the GPU has changed since the release dialog opened', async () => {
	const box = await createBox(1, {leases: {0: lease('alice')}});
	session = startMonitor(box);
	await session.shows(/> 0 +Mine/v);
	await session.press('x');
	await box.write({kind: 'lease', index: 0, lease: lease('alice', {leaseId: 'another'})});
	await session.press('y');
	await session.shows('ERR Nothing released: that reservation of GPU 0 has already ended');
	expect((await box.store.read()).gpus[0]).toMatchObject({lease: {leaseId: 'another'}});
	// An error stays until a key is pressed.
	session.store.dispatch({kind: 'ticked', nowMs: box.world.clock.monotonicMs() + 60_000});
	await session.shows('ERR Nothing released');
	await session.press(keys.down);
	await expect.poll(session.screen).not.toMatch(/^ ERR/mv);
	// The events panel keeps the error.
	expect(session.screen()).toMatch(/:\d\d ERR Nothing released/v);
});

test('the key x refuses to release a GPU that is held for a queue entry', async () => {
	const box = await createBox(2, {
		leases: {0: run('alice', {partialQueueId: 'entry-alice'})},
		waiting: [waiter('alice', {requestedCount: 2})],
	});
	session = startMonitor(box);
	await session.shows(/> 0 +Waiting +alice/v);
	await session.press('x');
	await session.shows('WARN GPU 0 is held for a waiting request');
});

test('pasted text goes into the focused field and never acts as keys', async () => {
	const box = await createBox(1, {leases: {0: lease('alice')}});
	session = startMonitor(box);
	await session.shows(/> 0 +Mine/v);
	await session.paste('xyq\r');
	expect(session.quits()).toBe(0);
	expect(session.store.getState().dialog).toBeUndefined();
	await session.press('r', keys.shiftTab, keys.shiftTab, keys.shiftTab);
	await session.paste('eval\n70B \u{1B}[31mred');
	await session.shows("--note 'eval 70B red'");
});

test('the table scrolls so that the selection stays in view', async () => {
	session = startMonitor(await createBox(64));
	await session.shows('1-17 of 64');
	await session.press(keys.pageDown);
	await session.shows('> 17');
	await session.press(keys.end);
	await session.shows('48-64 of 64');
	await session.press('k', keys.home);
	await session.shows('1-17 of 64');
});

test('a panel that was scrolled beyond its last line scrolls back with the next key', async () => {
	session = startMonitor(await createScene(), {size: {columns: 100, rows: 24}});
	await session.press('5');
	await session.shows('dave uses GPU 6');
	const entries = Array.from({length: 40}, (_, index) => ({
		id: String(index),
		time: index,
		kind: 'notice' as const,
		gpus: [],
		note: `number ${index}`,
	}));
	session.store.dispatch({kind: 'events-arrived', entries});
	await session.press(keys.end, keys.end, keys.pageDown);
	await session.shows(/-40 of 40/v);
	await session.press('k');
	await session.shows(/-39 of 40/v);
});

test('top redraws after a resize, and shows the required size if the screen is too small', async () => {
	session = startMonitor(await createScene());
	await session.shows(/> 0 +Mine/v);
	session.resize({columns: 120, rows: 32});
	await session.shows('Detail GPU 0');
	session.resize({columns: 40, rows: 10});
	await session.shows('need 60x15, have 40x10');
	await session.press('q');
	expect(session.quits()).toBe(1);
	session.resize({columns: 80, rows: 24});
	await session.shows(/> 0 +Mine/v);
});

test('the key ? lists the keys, and the keys q and Ctrl-C quit', async () => {
	session = startMonitor(await createScene());
	await session.shows(/> 0 +Mine/v);
	await session.press('?');
	await session.shows('extend the reservation');
	await session.press('q');
	expect(session.quits()).toBe(0);
	await session.press('r', keys.controlC);
	expect(session.quits()).toBe(1);
	await session.press(keys.escape, 'q');
	expect(session.quits()).toBe(2);
});

test('the help can be read completely, page by page, on the smallest screen', async () => {
	session = startMonitor(await createScene(), {size: {columns: 60, rows: 15}});
	await session.shows(/> 0 +Mine/v);
	await session.press('?');
	await session.shows(/1 of \d/v);
	const pages = Number(/1 of (?<count>\d+)/v.exec(session.screen())!.groups!['count']);
	await session.shows('Space Next page');
	const seen: string[] = [];
	for (let page = 1; page <= pages; page++) {
		await session.shows(`${page} of ${pages}`);
		seen.push(session.screen());
		await session.press(' ');
	}

	await session.shows(`1 of ${pages}`);
	expect(seen.join('\n')).toMatch(/r +reserve GPUs for a time[\s\S]*q +quit[\s\S]*Drained[\s\S]*memory in use/v);
});

/** Below the smallest screen, no effect of a key would be visible, so keys do nothing there. */
import {afterEach, expect, test} from 'vitest';
import {Summary} from '../../source/tui/panels/summary.js';
import {endSession, keys, startMonitor, stateOf, textOf, type Session} from './_harness.js';
import {createBox, createScene, lease, run} from './_world.js';

let session: Session | undefined;

afterEach(async () => {
	expect(session?.errors ?? []).toEqual([]);
	await endSession(session);
	session = undefined;
});

const tooSmall = {columns: 50, rows: 10};
const large = {columns: 80, rows: 24};

test('on a screen that is too small only the key q has an effect', async () => {
	const box = await createBox(3, {leases: {0: lease('alice')}});
	session = startMonitor(box, {size: tooSmall});
	const {press, paste, shows, store, quits} = session;
	await shows('need 60x15, have 50x10');
	const before = await box.store.read();
	const {panels, gpus: table} = store.getState();
	await press('r', keys.enter, 'x', 'y', 'e', keys.enter, ':', 'release -g 0', keys.enter, '/', 'u', 'm', 'Z', '+');
	await press(keys.down, ' ', keys.tab, '?', 'w', keys.enter, 'z', 'R', keys.enter, 'K', 'y', keys.controlR, 'I', '4');
	await paste('r');
	const {dialog, panels: panelsAfter, gpus: tableAfter, waits, pause} = store.getState();
	expect({dialog, waits, pause}).toEqual({dialog: undefined, waits: [], pause: undefined});
	expect([panelsAfter, tableAfter]).toEqual([panels, table]);
	const {gpus, queue} = await box.store.read();
	expect([gpus, queue]).toEqual([before.gpus, before.queue]);
	expect(quits()).toBe(0);
	await press('q');
	expect(quits()).toBe(1);
});

test('a dialog that is open when the screen becomes too small ignores keys, and is shown again afterwards', async () => {
	const box = await createBox(2, {leases: {0: lease('alice')}});
	session = startMonitor(box, {size: large});
	const {press, shows, hides, resize} = session;
	await shows(/> 0 +Mine/v);
	await press('x');
	await shows('Release GPU 0 now?');
	resize(tooSmall);
	await shows('need 60x15');
	await press('y');
	resize(large);
	await shows('Release GPU 0 now?');
	expect((await box.store.read()).gpus[0]).toMatchObject({kind: 'leased'});
	await press('y');
	await shows('OK released GPU 0');
	await hides('Release GPU 0 now?');
});

test('a screen that is too small warns that quitting leaves the queue, and q asks first', async () => {
	const box = await createBox(1, {leases: {0: run('bob')}});
	session = startMonitor(box, {size: large});
	const {press, shows, resize, quits} = session;
	await shows(/> 0 +Reserved/v);
	await press('w', keys.enter);
	await shows('WAIT');
	resize(tooSmall);
	await shows('Quitting leaves the queue');
	await press('q');
	await shows('Leave the queue and quit? y/N');
	await press('q');
	await shows('need 60x15');
	expect(quits()).toBe(0);
	await press('q');
	await shows('Leave the queue and quit? y/N');
	await press('y');
	expect(quits()).toBe(1);
});

test('Ctrl-C on a screen that is too small quits without asking', async () => {
	const box = await createBox(1, {leases: {0: run('bob')}});
	session = startMonitor(box, {size: large});
	const {press, shows, resize, quits} = session;
	await shows(/> 0 +Reserved/v);
	await press('w', keys.enter);
	await shows('WAIT');
	resize(tooSmall);
	await shows('need 60x15');
	await press(keys.controlC);
	expect(quits()).toBe(1);
});

test(':q asks before it leaves the queue, as q does', async () => {
	const box = await createBox(1, {leases: {0: run('bob')}});
	session = startMonitor(box, {
		size: large,
		ports: {commandLine: {run: async () => [], inShell: String, complete: async () => ({start: 0, candidates: []})}},
	});
	const {press, shows, quits} = session;
	await shows(/> 0 +Reserved/v);
	await press('w', keys.enter);
	await shows('WAIT');
	await press(':', 'q', keys.enter);
	await shows('Leave the queue and quit? y/N');
	expect(quits()).toBe(0);
	await press('y');
	expect(quits()).toBe(1);
});

test('the summary separates its words at any width', async () => {
	const box = await createScene();
	for (let columns = 10; columns <= 140; columns++) {
		const state = await stateOf(box, {columns, rows: 15});
		const text = textOf(state, <Summary />);
		expect(text).not.toMatch(/\d[A-Z][a-z]/v);
		expect(text.length).toBeLessThanOrEqual(columns);
	}

	const state = await stateOf(box, tooSmall);
	expect(textOf(state, <Summary />)).toBe(' Free 2  Mine 1  Others 3  Unres 1  Err 1 Queue 2');
});

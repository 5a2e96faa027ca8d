/** Mouse events act on what is drawn at their cell. */
import {afterEach, expect, test} from 'vitest';
import {endSession, startMonitor, type Session} from '../_harness.js';
import {createBox, createScene, lease} from '../_world.js';
import {selectedGpu} from '../../../source/tui/state/gpus/rows.js';

let session: Session | undefined;

afterEach(async () => {
	await endSession(session);
	session = undefined;
});

const size = {columns: 120, rows: 32};

/** Returns the cell, counted from 0, where a text begins on the screen. */
function placeOf({screen}: Session, text: string): {readonly column: number; readonly row: number} {
	const lines = screen().split('\n');
	const row = lines.findIndex((line) => line.includes(text));
	expect(row).not.toBe(-1);
	return {row, column: lines[row]!.indexOf(text)};
}

test('a click selects a row, sorts by a column title, focuses a panel, or presses the key of a hint', async () => {
	session = startMonitor(await createScene(), {size, hasMouse: true, isMouseWanted: true});
	const {shows, mouse, store} = session;
	await shows(/> 0 +Mine/v);
	await mouse({kind: 'click', ...placeOf(session, 'dave?')});
	await shows(/> 6 +Unreserved/v);
	await mouse({kind: 'click', ...placeOf(session, 'OWNER     KIND')});
	await shows('sort OWNER^');
	await mouse({kind: 'click', ...placeOf(session, 'OWNER     KIND')});
	await shows('sort OWNERv');
	await mouse({kind: 'click', ...placeOf(session, '3:Queue')});
	expect(store.getState().panels.focus).toBe('queue');
	// The hints of the queue are at other places.
	await shows('Esc Back');
	await mouse({kind: 'click', ...placeOf(session, '? Help')});
	await shows('[Keys] Words');
});

test('the wheel over the table moves the selection', async () => {
	session = startMonitor(await createScene(), {size, hasMouse: true, isMouseWanted: true});
	const {shows, mouse, store} = session;
	await shows(/> 0 +Mine/v);
	await mouse({kind: 'wheel-down', ...placeOf(session, 'alice     RUN')});
	expect(selectedGpu(store.getState())).toBe(3);
	await mouse({kind: 'wheel-up', ...placeOf(session, 'alice     RUN')});
	expect(selectedGpu(store.getState())).toBe(0);
});

test('a click on y or N answers a question, and a click outside of the dialog does nothing', async () => {
	session = startMonitor(await createBox(2, {leases: {0: lease('alice')}}), {
		size,
		hasMouse: true,
		isMouseWanted: true,
	});
	const {shows, hides, mouse, press} = session;
	await shows(/> 0 +Mine/v);
	await press('x');
	await shows('Release GPU 0 now? y/N');
	await mouse({kind: 'click', column: 1, row: 4});
	await shows('Release GPU 0 now? y/N');
	const {row, column} = placeOf(session, 'y/N');
	await mouse({kind: 'click', row, column});
	await hides('Release GPU 0 now?');
	await shows('OK released GPU 0');
});

test('a click in a form selects a field', async () => {
	session = startMonitor(await createScene(), {size, hasMouse: true, isMouseWanted: true});
	const {shows, mouse, press} = session;
	await shows(/> 0 +Mine/v);
	await press('r');
	await shows('Reserve GPUs');
	await mouse({kind: 'click', ...placeOf(session, 'Note')});
	await shows(/> Note/v);
	await mouse({kind: 'click', ...placeOf(session, 'Duration')});
	await shows(/> Duration/v);
});

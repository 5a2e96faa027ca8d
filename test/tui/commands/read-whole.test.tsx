import {afterEach, expect, test} from 'vitest';
import {readWhole} from '../../../source/tui/commands/read-whole.js';
import {initialState} from '../../../source/tui/state/state.js';
import {endSession, keys, startMonitor, stateOf, type Session} from '../_harness.js';
import {createBox, lease} from '../_world.js';

let session: Session | undefined;

afterEach(async () => {
	await endSession(session);
	session = undefined;
});

test('the key v shows the full text of a message that was cut off, even after it has disappeared', async () => {
	const leases = Object.fromEntries(
		Array.from({length: 8}, (_, index) => [index, lease(`user-${'x'.repeat(12)}-${index}`)]),
	);
	session = startMonitor(await createBox(8, {leases}), {size: {columns: 80, rows: 24}});
	const {press, shows, hides, screen} = session;
	await shows(/> 0 +Reserved/v);
	await press(...Array.from({length: 8}, () => ' '), 'x');
	await shows(/None of the tagged GPUs can be released: .*… {2}v Whole/v);
	await press('v');
	await shows(/ Messages /v);
	expect(screen().replaceAll(/[\s│]+/gv, ' ')).toContain('7 held by user-xxxxxxxxxxxx-7');
	await press(keys.escape);
	await hides(' Messages ');
	await hides('None of the tagged');
	await press('v');
	await shows('None of the tagged GPUs can be released');
});

test('the key v in the events panel shows each event on as many lines as it needs', async () => {
	session = startMonitor(await createBox(1), {size: {columns: 80, rows: 24}});
	await session.shows(/> 0 +Free/v);
	await session.press('5', 'v');
	await session.shows('Nothing has happened yet');
	const words =
		'a reason that is much longer than one line of the screen, so that its end would be cut off at this width';
	session.store.dispatch({kind: 'done', flash: {level: 'error', text: words}});
	await session.press('v');
	await session.shows('at this width');
});

test('the key v says that there was no message yet', async () => {
	session = startMonitor(await createBox(1), {size: {columns: 80, rows: 24}});
	await session.shows(/> 0 +Free/v);
	await session.press('v');
	await session.shows('There has been no message yet');
});

test('the key v shows a message that the monitor displayed at its start', async () => {
	const state = await stateOf(await createBox(1), {columns: 80, rows: 24});
	expect(readWhole.reasonAgainst?.(state)).toBe('There has been no message yet');
	const {lastFlash} = initialState(state.settings, state.size, 1000, {
		level: 'warning',
		text: 'Created a private pool.',
	});
	expect(readWhole.reasonAgainst?.({...state, lastFlash})).toBeUndefined();
});

import {expect, test} from 'vitest';
import {SmallScreen} from '../../../source/tui/screens/small.js';
import {ask} from '../../../source/tui/state/dialogs.js';
import {drawn} from '../_drawn.js';
import {stateOf} from '../_harness.js';
import {createScene} from '../_world.js';

const box = await createScene();

const screen = async (columns: number, rows: number, more = {}): Promise<string> => {
	const state = await stateOf(box, {columns, rows});
	return drawn(<SmallScreen />, {state: {...state, ...more}, frame: 'ruled'});
};

test('SmallScreen shows the counts, as many GPUs as fit, and the size that is needed', async () => {
	expect(await screen(50, 6)).toMatchInlineSnapshot(`
		" Free 2  Mine 1  Others 3  Unres 1  Err 1 Queue 2
		  GPU     STATE      OWNER           UTIL      MEM
		> 0       Mine       alice            84%   60/80G
		  1       Free       -                 0%    0/80G
		  2       Free       -                 0%    0/80G
		 need 60x15, have 50x6 q Quit"
	`);
});

test('SmallScreen with one line shows only the size that is needed', async () => {
	expect((await screen(50, 1)).trim()).toMatch(/^need 60x15, have 50x1 /v);
});

test('SmallScreen warns that quitting leaves the queue', async () => {
	const waits = [{id: 'w'}];
	expect((await screen(50, 6, {waits})).split('\n').slice(-2)[0]).toBe(' Quitting leaves the queue');
});

test('SmallScreen shows the question of q in its last line', async () => {
	const more = {waits: [{id: 'w'}], dialog: ask('quit', {})};
	expect((await screen(50, 6, more)).split('\n').at(-1)).toBe(' Leave the queue and quit? y/N');
	expect((await screen(50, 1, more)).trim()).toBe('Leave the queue and quit? y/N');
});

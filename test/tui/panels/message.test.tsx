import {expect, test} from 'vitest';
import {MessageLine} from '../../../source/tui/panels/message.js';
import {outputOf} from '../../../source/tui/state/command-line/state.js';
import type {State} from '../../../source/tui/state/state.js';
import {stateOf, textOf} from '../_harness.js';
import {createBox} from '../_world.js';

const box = await createBox(1);
const reminder = {
	level: 'warning',
	text: 'your reservation of GPU 6 ends at 14:41',
	next: 'canhazgpu extend --gpu-ids 6 --duration 1h',
} as const;
const command = 'canhazgpu release --gpu-ids 6';
const next = 'canhazgpu status';

test.each([
	['all of a reminder', 100, reminder, ['WARN your reservation of GPU 6 ends at 14:41', `$ ${reminder.next}`]],
	['a reminder without its command', 80, reminder, ['WARN your reservation of GPU 6 ends at 14:41', 'v Whole']],
	['a reminder without its command', 60, reminder, ['WARN your reservation of GPU 6 ends at 14:41', 'v Whole']],
	['both commands', 80, {level: 'ok', text: 'done', next, command}, ['OK done', `$ ${next}`, `$ ${command}`]],
	['the next command', 60, {level: 'ok', text: 'done', next, command}, ['OK done', `$ ${next}`]],
	['no equivalent command', 40, {level: 'ok', text: 'it is done', command}, ['OK it is done']],
] as const)('MessageLine shows %s in %i columns', async (_, columns, flash, expected) => {
	const state = {...(await stateOf(box, {columns, rows: 24})), flash: {...flash, untilMs: 9000}};
	expect(
		textOf(state, <MessageLine />)
			.trim()
			.split(/ {2,}/v),
	).toEqual(expected);
});

test('MessageLine offers the key z only while no dialog takes the key', async () => {
	const shown = await stateOf(box, {columns: 100, rows: 24});
	const undone: State = {...shown, undo: {released: [], untilMs: shown.nowMs + 8000}};
	expect(textOf(undone, <MessageLine />).trim()).toBe('z Undo release (8s)');
	expect(textOf({...undone, dialog: outputOf('$ canhazgpu logs 3', [])}, <MessageLine />).trim()).toBe('');
});

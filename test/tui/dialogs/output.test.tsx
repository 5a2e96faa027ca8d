import {expect, test} from 'vitest';
import {OutputDialog} from '../../../source/tui/dialogs/output.js';
import {outputOf} from '../../../source/tui/state/command-line/state.js';
import {drawn, drawnDialog, lines} from '../_drawn.js';
import {stateOf} from '../_harness.js';
import {createBox} from '../_world.js';

const state = await stateOf(await createBox(1), {columns: 40, rows: 10});
const many = outputOf(
	'que\u{1B}[31mue',
	Array.from({length: 20}, (_, index) => `line ${index}`),
);

test('OutputDialog shows the lines in view, and where they are', () => {
	expect(drawnDialog(<OutputDialog {...many} top={3} left={2} />, {state})).toMatchInlineSnapshot(`
		"╭─ queue ──────────────── 4-9 of 20 ─╮
		│ ne 3                               │
		│ ne 4                               │
		│ ne 5                               │
		│ ne 6                               │
		│ ne 7                               │
		│ ne 8                               │
		╰────────────────────────────────────╯"
	`);
});

test('OutputDialog marks the chosen line, and cuts off long lines', () => {
	const dialog = <OutputDialog {...outputOf('jobs', ['one', 'a line that is too long for this screen'])} chosen={1} />;
	expect(drawnDialog(dialog, {state})).toBe(
		lines(
			'╭─ jobs ─────────────────────────────╮',
			'│  one                               │',
			'│ >a line that is too long for this… │',
			'╰────────────────────────────────────╯',
		),
	);
});

test('OutputDialog removes control characters', () => {
	expect(drawnDialog(<OutputDialog {...outputOf('x', ['a\u{1B}[2J\u{202E}b'])} />, {state})).toContain('│ a[2Jb ');
});

test('OutputDialog for a screen reader shows the cells of a table without lines', () => {
	const table = outputOf('policy', ['key │ value', '────┼──────', 'idle │ 1h']);
	expect(drawn(<OutputDialog {...table} />, {state, frame: 'plain'})).toBe(
		lines('policy:', 'key, value', '', 'idle, 1h'),
	);
});

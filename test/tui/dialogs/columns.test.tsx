import {expect, test} from 'vitest';
import {ColumnsDialog} from '../../../source/tui/dialogs/columns.js';
import {drawnDialog} from '../_drawn.js';
import {stateOf} from '../_harness.js';
import {createBox} from '../_world.js';

const low = await stateOf(await createBox(1), {columns: 60, rows: 15});

test('ColumnsDialog scrolls its list around the selected column on a low screen', () => {
	expect(drawnDialog(<ColumnsDialog kind="columns" selected={13} />, {state: low})).toMatchInlineSnapshot(`
		"╭─ Columns of the GPUs ──────────────────── 12-16 of 18 ─╮
		│   [x] NOTE     note of the reservation                 │
		│   [x] PROCESS  largest process, or what is wrong       │
		│ > [ ] MODEL    model, shown if the models differ       │
		│   [ ] FAN      fan speed                               │
		│   [ ] CLOCK    clock of the processors                 │
		│                                                        │
		│ S saves them to your config for next time              │
		╰────────────────────────────────────────────────────────╯"
	`);
});

test('ColumnsDialog lists the visible columns first', () => {
	const state = {...low, view: {...low.view, columns: ['state', 'gpu'] as const}};
	const dialog = drawnDialog(<ColumnsDialog kind="columns" selected={1} />, {state});
	expect(dialog.split('\n').slice(1, 4)).toMatchInlineSnapshot(`
		[
		  "│   [x] STATE    free, reserved, mine and so on          │",
		  "│ > [x] GPU      index                                   │",
		  "│   [ ] MODEL    model, shown if the models differ       │",
		]
	`);
});

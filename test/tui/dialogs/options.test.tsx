import {expect, test} from 'vitest';
import {OptionsDialog} from '../../../source/tui/dialogs/options.js';
import type {OptionsDialog as Options} from '../../../source/tui/state/view/state.js';
import {drawnDialog} from '../_drawn.js';
import {after, stateOf, type Step} from '../_harness.js';
import {createBox} from '../_world.js';

const state = await stateOf(await createBox(1), {columns: 80, rows: 24}, {}, ['open-options']);

const dialog = (...steps: readonly Step[]): string => {
	const shown = after(state, ...steps);
	return drawnDialog(<OptionsDialog {...(shown.dialog as Options)} />, {state: shown});
};

test('OptionsDialog shows the value of each option, and the meaning of the selected value', () => {
	expect(dialog()).toMatchInlineSnapshot(`
		"╭─ Options ──────────────────────────────────────────────────────╮
		│ > Theme     < auto >                                           │
		│   Interval    2s                                               │
		│   Graphs      braille                                          │
		│   Preset      default                                          │
		│   Columns     usual                                            │
		│                                                                │
		│   no effect: this monitor has no colors                 1 of 8 │
		│                                                                │
		│   S saves your changes to your config for next time            │
		╰────────────────────────────────────────────────────────────────╯"
	`);
});

test('OptionsDialog shows the value that applies now beside a changed one', () => {
	expect(dialog('next-option', 'next-choice').split('\n').slice(1, 3)).toMatchInlineSnapshot(`
		[
		  "│   Theme       auto                                             │",
		  "│ > Interval  < 5s >                   now 2s                    │",
		]
	`);
});

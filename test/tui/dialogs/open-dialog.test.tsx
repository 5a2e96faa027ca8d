import {expect, test} from 'vitest';
import {release} from '../../../source/tui/commands/reservations/release.js';
import {reserve} from '../../../source/tui/commands/reserve/reserve.js';
import {OpenDialog} from '../../../source/tui/dialogs/open-dialog.js';
import {commandPrompt, outputOf} from '../../../source/tui/state/command-line/state.js';
import {drawn, drawnDialog} from '../_drawn.js';
import {after, pressing, stateOf, type Step} from '../_harness.js';
import {createScene} from '../_world.js';

const state = await stateOf(await createScene(), {columns: 80, rows: 24});

const opened: ReadonlyArray<readonly [title: string, steps: readonly Step[]]> = [
	['[Keys] Words', ['open-help']],
	['Columns of the GPUs', ['open-columns']],
	['Options', ['open-options']],
	['Process 81238 on GPU 4  H100', ['focus-processes', 'open-process']],
	['queue', [{kind: 'opened', dialog: outputOf('queue', ['1  erin'])}]],
	['Reserve GPUs', [pressing(reserve)]],
	['Release GPU 0', [pressing(release)]],
];

test.each(opened)('OpenDialog draws the dialog "%s"', (title, steps) => {
	expect(drawnDialog(<OpenDialog />, {state: after(state, ...steps)})).toMatch(
		new RegExp(`^╭─ ${RegExp.escape(title)} `, 'v'),
	);
});

test('OpenDialog shows the shell command of the dialog', () => {
	expect(drawnDialog(<OpenDialog />, {state: after(state, pressing(release))})).toContain(
		'│ $ canhazgpu release --gpu-ids 0 ',
	);
});

test.each([
	['without a dialog', []],
	['for the : line', [{kind: 'opened', dialog: commandPrompt([])}]],
] as const)('OpenDialog %s draws nothing', (_, steps) => {
	expect(drawn(<OpenDialog />, {state: after(state, ...steps)})).toBe('');
});

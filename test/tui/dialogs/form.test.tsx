import {expect, test} from 'vitest';
import {CommandContext} from '../../../source/tui/dialogs/dialog-box.js';
import {Form} from '../../../source/tui/dialogs/form.js';
import {formOf, type Form as FormState} from '../../../source/tui/state/dialogs.js';
import {Label} from '../../../source/tui/widgets/label.js';
import {drawnDialog} from '../_drawn.js';
import {stateOf} from '../_harness.js';
import {createBox} from '../_world.js';

const box = await createBox(1);
const low = await stateOf(box, {columns: 60, rows: 15});
const high = await stateOf(box, {columns: 60, rows: 30});

const fields = [
	{name: 'count', kind: 'count', label: 'GPUs', hint: 'how many', preset: '2'},
	{name: 'note', kind: 'text', label: 'Note', hint: 'what for'},
	{name: 'needs', kind: 'text', label: 'Needs', hint: 'why', preset: 'a long value'},
	{name: 'force', kind: 'check', label: 'Force', hint: 'even if used'},
] as const;

const form = (more: Partial<FormState> = {}) => (
	<CommandContext value="canhazgpu reserve">
		<Form form={{...formOf('reserve', {}, fields), ...more}} title="Reserve GPUs">
			<Label>2 of 8 are free</Label>
		</Form>
	</CommandContext>
);

test('Form shows its content, its fields with hints, and its command', () => {
	expect(drawnDialog(form({focused: 3}), {state: high})).toMatchInlineSnapshot(`
		"╭─ Reserve GPUs ─────────────────────────────────────────╮
		│ 2 of 8 are free                                        │
		│                                                        │
		│   GPUs      2           how many                       │
		│   Note                  what for                       │
		│   Needs     a long value                               │
		│ > Force     [ ]         even if used                   │
		│                                                        │
		│ $ canhazgpu reserve                                    │
		│                                                        │
		╰────────────────────────────────────────────────────────╯"
	`);
});

const complaint = {message: 'GPU 3 is reserved', hint: 'Choose another GPU.', canWait: true};

test('Form shows an error, its hint, and that the request can wait', () => {
	expect(drawnDialog(form({complaint}), {state: high}).split('\n').slice(-4)).toMatchInlineSnapshot(`
		[
		  "│ GPU 3 is reserved                                      │",
		  "│ Choose another GPU.                                    │",
		  "│ w waits for them in the queue                          │",
		  "╰────────────────────────────────────────────────────────╯",
		]
	`);
});

test('Form on a low screen leaves out its content for an error', () => {
	expect(drawnDialog(form(), {state: low})).toContain('2 of 8 are free');
	expect(drawnDialog(form({complaint}), {state: low})).toMatchInlineSnapshot(`
		"╭─ Reserve GPUs ─────────────────────────────────────────╮
		│ > GPUs      2           how many                       │
		│   Note                  what for                       │
		│   Needs     a long value                               │
		│   Force     [ ]         even if used                   │
		│ $ canhazgpu reserve                                    │
		│ GPU 3 is reserved                                      │
		│ Choose another GPU.                                    │
		│ w waits for them in the queue                          │
		╰────────────────────────────────────────────────────────╯"
	`);
});

test('Form shows that it is busy', () => {
	expect(drawnDialog(form({isBusy: true}), {state: high})).toContain('│ asking the pool ');
});

import {expect, test} from 'vitest';
import {Confirm} from '../../../source/tui/dialogs/confirm.js';
import {CommandContext} from '../../../source/tui/dialogs/dialog-box.js';
import {Label} from '../../../source/tui/widgets/label.js';
import {drawnDialog, lines} from '../_drawn.js';
import {stateOf} from '../_harness.js';
import {createBox} from '../_world.js';

const box = await createBox(1);
const low = await stateOf(box, {columns: 50, rows: 15});
const high = await stateOf(box, {columns: 120, rows: 30});

const confirm = (more: Partial<Parameters<typeof Confirm>[0]> = {}) => (
	<CommandContext value="canhazgpu release --gpu-ids 2">
		<Confirm title="Release GPU 2" question="Release GPU 2 now?" isBusy={false} {...more}>
			<Label tone="dim">alice, MANUAL</Label>
		</Confirm>
	</CommandContext>
);

test('Confirm asks its question below its content', () => {
	expect(drawnDialog(confirm(), {state: high})).toBe(
		lines(
			'╭─ Release GPU 2 ────────────────────────────────────────────────╮',
			'│ alice, MANUAL                                                  │',
			'│                                                                │',
			'│ Release GPU 2 now? y/N                                         │',
			'│                                                                │',
			'│ $ canhazgpu release --gpu-ids 2                                │',
			'╰────────────────────────────────────────────────────────────────╯',
		),
	);
});

test('Confirm on a low screen has a warning and no empty lines', () => {
	expect(drawnDialog(confirm({warning: 'Its job keeps running.', end: '1 of 2'}), {state: low})).toBe(
		lines(
			'╭─ Release GPU 2 ───────────────────── 1 of 2 ─╮',
			'│ alice, MANUAL                                │',
			'│ Its job keeps running.                       │',
			'│ Release GPU 2 now? y/N                       │',
			'│ $ canhazgpu release --gpu-ids 2              │',
			'╰──────────────────────────────────────────────╯',
		),
	);
});

test('Confirm shows that it is busy in place of its question', () => {
	const busy = drawnDialog(confirm({isBusy: true}), {state: high});
	expect(busy).toContain('│ asking the pool ');
	expect(busy).not.toContain('y/N');
});

test('Confirm with a list is wider', () => {
	expect(drawnDialog(confirm({isWide: true}), {state: high}).split('\n', 1)[0]).toHaveLength(84);
});

import {Box} from 'ink';
import {expect, test} from 'vitest';
import {CommandContext, CommandText, DialogBox, DialogGap, Paragraph} from '../../../source/tui/dialogs/dialog-box.js';
import {Label} from '../../../source/tui/widgets/label.js';
import {drawn, drawnDialog, lines} from '../_drawn.js';
import {stateOf} from '../_harness.js';
import {createBox} from '../_world.js';

const box = await createBox(1);
const low = await stateOf(box, {columns: 40, rows: 8});
const high = await stateOf(box, {columns: 40, rows: 30});

const dialog = (
	<DialogBox title="Title" end="1-2 of 9" width={30}>
		<Label>content</Label>
	</DialogBox>
);

test('DialogBox is in the middle of the screen, with its title and its end text in the border', () => {
	expect(drawn(<Box height={8}>{dialog}</Box>, {state: low})).toBe(
		lines(
			'',
			'',
			'     ╭─ Title ───────── 1-2 of 9 ─╮',
			'     │ content                    │',
			'     ╰────────────────────────────╯',
			'',
			'',
			'',
		),
	);
});

test('DialogBox hides what is behind it, with a blank on both sides', () => {
	const behind = (
		<Box width={40} height={8}>
			<Box flexDirection="column">
				{Array.from({length: 8}, (_, index) => (
					<Label key={index}>{'x'.repeat(40)}</Label>
				))}
			</Box>
			{dialog}
		</Box>
	);
	expect(drawn(behind, {state: low}).split('\n', 4)[3]).toBe(
		`${'x'.repeat(4)} │ content                    │ ${'x'.repeat(4)}`,
	);
});

test('DialogBox is not wider than the screen', () => {
	const wide = (
		<DialogBox title="Title" width={200}>
			<Paragraph most={2} mostWhenLow={2}>
				{'word '.repeat(9).trim()}
			</Paragraph>
		</DialogBox>
	);
	expect(drawnDialog(wide, {state: low})).toBe(
		lines(
			'╭─ Title ────────────────────────────╮',
			'│ word word word word word word word │',
			'│ word word                          │',
			'╰────────────────────────────────────╯',
		),
	);
});

test('DialogBox for a screen reader has no borders', () => {
	expect(drawn(dialog, {state: low, frame: 'plain'})).toBe(lines('Title:', 'content'));
});

test.each([
	['low', low, 1, ['│ one two three f… │']],
	['high', high, 2, ['│ one two three    │', '│ four five        │']],
] as const)('Paragraph on a %s screen has at most %i lines', (_, state, _most, expected) => {
	const paragraph = (
		<DialogBox title="" width={20}>
			<Paragraph most={2} mostWhenLow={1}>
				one two three four five
			</Paragraph>
		</DialogBox>
	);
	expect(drawnDialog(paragraph, {state}).split('\n').slice(1, -1)).toEqual(expected);
});

test('DialogGap is an empty line, except on a low screen', () => {
	const gap = (
		<Box flexDirection="column">
			<Label>one</Label>
			<DialogGap />
			<Label>two</Label>
		</Box>
	);
	expect(drawn(gap, {state: high})).toBe(lines('one', '', 'two'));
	expect(drawn(gap, {state: low})).toBe(lines('one', 'two'));
});

test('CommandText shows the shell command of the dialog without control characters', () => {
	const withCommand = (command: string | undefined) => (
		<CommandContext value={command}>
			<DialogBox title="" width={40}>
				<CommandText />
			</DialogBox>
		</CommandContext>
	);
	expect(drawnDialog(withCommand('canhazgpu rel\u{1B}[31mease'), {state: high})).toContain('│ $ canhazgpu release ');
	expect(drawnDialog(withCommand(undefined), {state: high}).split('\n')).toHaveLength(2);
});

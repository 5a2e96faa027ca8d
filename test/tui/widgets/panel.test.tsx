import {Chalk} from 'chalk';
import fc from 'fast-check';
import {expect, test} from 'vitest';
import {widthOf} from '../../../source/format/text/width.js';
import {Label} from '../../../source/tui/widgets/label.js';
import {Panel} from '../../../source/tui/widgets/panel.js';
import {drawn, lines, painted} from '../_drawn.js';

const title = <Label>2:Detail</Label>;

test('Panel with the frame "boxed" has its title and its end text in the upper border', () => {
	const panel = (
		<Panel title={title} end="1-2 of 9" width={30} rows={2}>
			<Label>one</Label>
			<Label>two</Label>
		</Panel>
	);
	expect(drawn(panel)).toBe(
		lines(
			'╭─ 2:Detail ────── 1-2 of 9 ─╮',
			'│one                         │',
			'│two                         │',
			'╰────────────────────────────╯',
		),
	);
});

test('Panel without an end text has an unbroken border after its title', () => {
	expect(drawn(<Panel title={title} width={20} rows={1} />)).toBe(
		lines('╭─ 2:Detail ───────╮', '│                  │', '╰──────────────────╯'),
	);
});

test('Panel with the frame "ruled" has one line with its title and no other border', () => {
	const panel = (
		<Panel title={title} end="1-2 of 9" width={30} rows={2}>
			<Label>one</Label>
			<Label>two</Label>
		</Panel>
	);
	expect(drawn(panel, {frame: 'ruled'})).toBe(lines('── 2:Detail ────── 1-2 of 9 ──', 'one', 'two'));
});

test('Panel with the frame "plain" shows its title and its whole content', () => {
	const panel = (
		<Panel title={title} end="1-1 of 2" width={30} rows={1}>
			<Label>one</Label>
			<Label>two</Label>
		</Panel>
	);
	expect(drawn(panel, {frame: 'plain'})).toBe(lines('2:Detail', 'one', 'two'));
});

test.each([
	['boxed', ['╭─ 2:Detail ───────╮', '│one               │', '│two               │', '╰──────────────────╯']],
	['ruled', ['── 2:Detail ────────', 'one', 'two']],
] as const)('Panel with the frame "%s" cuts off the last lines that do not fit', (frame, expected) => {
	const panel = (
		<Panel title={title} width={20} rows={2}>
			<Label>one</Label>
			<Label>two</Label>
			<Label>three</Label>
			<Label>four</Label>
		</Panel>
	);
	expect(drawn(panel, {frame})).toBe(lines(...expected));
});

test('Panel cuts off a long title before its end text', () => {
	const panel = <Panel title={<Label>2:Detail of a long name</Label>} end="1-2 of 9" width={30} rows={0} />;
	expect(drawn(panel)).toBe(lines('╭─ 2:Detail of… ── 1-2 of 9 ─╮', '╰────────────────────────────╯'));
	expect(drawn(panel, {frame: 'ruled'})).toBe('── 2:Detail of… ── 1-2 of 9 ──');
});

test('Panel cuts a line that is too long inside the border', () => {
	const panel = (
		<Panel title={title} width={20} rows={1}>
			<Label>{'x'.repeat(30)}</Label>
		</Panel>
	);
	expect(drawn(panel)).toBe(lines('╭─ 2:Detail ───────╮', `│${'x'.repeat(17)}…│`, '╰──────────────────╯'));
});

test('Panel with the frame "boxed" is exactly as wide as requested, whatever its title, end text and content', () => {
	const words = fc.string({unit: fc.constantFrom('a', 'b', '訓', '練', ' ', '…'), maxLength: 60});
	fc.assert(
		fc.property(
			words,
			fc.string({unit: fc.constantFrom('1', '-'), maxLength: 12}),
			words,
			fc.integer({min: 24, max: 90}),
			(name, end, content, width) => {
				const panel = (
					<Panel title={<Label>{`1:${name}`}</Label>} end={end} width={width} rows={2}>
						<Label>{content}</Label>
					</Panel>
				);
				const frame = drawn(panel).split('\n');
				expect(frame.map((line) => widthOf(line))).toEqual([width, width, width, width]);
				expect(frame[0]).toMatch(/^╭─ 1:.* ─*╮$/v);
				expect(frame[0]!.endsWith(end === '' ? '╮' : ` ${end} ─╮`)).toBe(true);
			},
		),
		{numRuns: 10},
	);
});

test('Panel with the focus has a border in the color of the focus', () => {
	const chalk = new Chalk({level: 1});
	const bottom = (isFocused: boolean): string | undefined =>
		painted(<Panel title={title} width={16} rows={0} isFocused={isFocused} />, 'dark')
			.split('\n')
			.at(-1);
	const border = `╰${'─'.repeat(14)}╯`;
	expect(bottom(true)).toBe(chalk.cyan(border));
	expect(bottom(false)).toBe(chalk.dim(border));
});

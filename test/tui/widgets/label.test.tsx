import {Box, Text, type TextProps} from 'ink';
import {expect, test} from 'vitest';
import type {Tone} from '../../../source/tui/themes/tones.js';
import {EmphasisContext, FixedLabel, Label, type Emphasis} from '../../../source/tui/widgets/label.js';
import {drawn, lines, painted} from '../_drawn.js';

test.each([
	['normal', 'plain', {}],
	['normal', 'warning', {color: 'yellow', bold: true}],
	['selected', 'plain', {bold: true}],
	['selected', 'warning', {color: 'yellow', bold: true}],
	['selected', 'dim', {dimColor: true}],
	['repeated', 'plain', {dimColor: true}],
	['repeated', 'others', {dimColor: true}],
	['repeated', 'warning', {color: 'yellow', bold: true}],
	['old', 'plain', {dimColor: true}],
	['old', 'warning', {dimColor: true}],
	['old', 'marked', {inverse: true}],
] satisfies ReadonlyArray<[Emphasis, Tone, TextProps]>)(
	'Label with the emphasis "%s" draws text of the tone "%s" with the style %o',
	(emphasis, tone, style) => {
		const label = (
			<EmphasisContext value={emphasis}>
				<Label tone={tone}>text</Label>
			</EmphasisContext>
		);
		expect(painted(label, 'dark')).toBe(painted(<Text {...style}>text</Text>, 'dark'));
	},
);

test('Label has no colors in the mono theme', () => {
	expect(painted(<Label tone="error">text</Label>, 'mono')).toBe(painted(<Text bold>text</Text>, 'dark'));
});

test('Label cuts a long text at its end or in its middle, or wraps it', () => {
	const label = (wrap?: 'truncate-middle' | 'wrap') => (
		<Box width={8}>
			<Label wrap={wrap}>abcdef ghijkl</Label>
		</Box>
	);
	expect(drawn(label())).toBe('abcdef …');
	expect(drawn(label('truncate-middle'))).toBe('abcd…jkl');
	expect(drawn(label('wrap'))).toBe(lines('abcdef', 'ghijkl'));
});

test('Label inside another label keeps its own tone and is cut with it', () => {
	const label = (
		<Box width={6}>
			<Label>
				<Label tone="free">ab</Label> cdefgh
			</Label>
		</Box>
	);
	expect(painted(label, 'dark')).toBe(
		painted(
			<Text>
				<Text bold color="green">
					ab
				</Text>{' '}
				cd…
			</Text>,
			'dark',
		),
	);
});

test('FixedLabel keeps its text if other parts of the line need more room, and fills a column', () => {
	const line = (width?: number) => (
		<Box width={12}>
			<FixedLabel width={width}>fixed</FixedLabel>
			<Label>a long text</Label>
		</Box>
	);
	expect(drawn(line())).toBe('fixeda long…');
	expect(drawn(line(7))).toBe('fixed  a lo…');
});

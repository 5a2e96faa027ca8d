import {expect, test} from 'vitest';
import {
	Clock,
	Count,
	Counts,
	EdgeLine,
	loadWidth,
	memoryLoad,
	PauseBadge,
	TotalLoad,
} from '../../../../source/tui/panels/shared/header-parts.js';
import {FixedLabel, Label} from '../../../../source/tui/widgets/label.js';
import {drawn, painted} from '../../_drawn.js';
import {after, stateOf} from '../../_harness.js';
import {createBox} from '../../_world.js';

const state = await stateOf(await createBox(1), {columns: 100, rows: 30});

test.each([
	['boxed', 26, ' left  middle       right'],
	['boxed', 16, ' left  m… right'],
	['plain', 26, 'left  middle  right'],
	['plain', 14, 'left  middle\nright'],
] as const)('EdgeLine with the frame "%s" in %i columns', (frame, columns, expected) => {
	const line = (
		<EdgeLine
			left={
				<>
					<FixedLabel>left</FixedLabel>
					<Label>middle</Label>
				</>
			}
			right={<Label>right</Label>}
		/>
	);
	expect(drawn(line, {frame, columns})).toBe(expected);
});

test.each([
	[3, 'Mine 3', 'mine'],
	[0, 'Mine 0', 'dim'],
] as const)('Count of %i is "%s" in the tone "%s"', (count, text, tone) => {
	const drawnCount = <Count word="Mine" count={count} tone="mine" />;
	expect(drawn(drawnCount)).toBe(text);
	expect(painted(drawnCount, 'dark')).toBe(painted(<Label tone={tone}>{text}</Label>, 'dark'));
});

const none = {mine: 0, others: 0, drained: 0, unreserved: 0, errors: 0};
const some = {mine: 1, others: 2, drained: 3, unreserved: 4, errors: 5};
const free = {whole: 2, split: 1};

test.each([
	['no GPUs', {free: {whole: 0, split: 0}, counts: none, wording: 'long', always: []}, 'Free 0'],
	[
		'every state',
		{free, counts: some, wording: 'long', always: []},
		'Free 2 +1 MIG  Mine 1  Others 2  Drained 3  Unreserved 4  Error 5',
	],
	[
		'short words',
		{free, counts: some, wording: 'short', always: []},
		'Free 2 +1 MIG  Mine 1  Others 2  Drained 3  Unres 4  Err 5',
	],
	[
		'the shortest words',
		{free, counts: some, wording: 'shortest', always: []},
		'Free 2 +1 MIG  Mine 1  Oth 2  Drain 3  Unr 4  Err 5',
	],
	[
		'counts of zero that are always shown',
		{free, counts: none, wording: 'short', always: ['mine', 'errors']},
		'Free 2 +1 MIG  Mine 0  Err 0',
	],
	[
		'errors as unknown before the first scan',
		{free, counts: some, wording: 'long', isScanned: false, always: []},
		'Free 2 +1 MIG  Mine 1  Others 2  Drained 3  Unreserved 4  Unknown 5',
	],
] as const)('Counts shows %s', (_, properties, expected) => {
	expect(drawn(<EdgeLine left={<Counts {...properties} />} right={undefined} />).trim()).toBe(expected);
});

test('PauseBadge shows how long the screen has been paused', () => {
	const paused = after(state, 'toggle-pause', {kind: 'ticked', nowMs: 61_000});
	expect(drawn(<PauseBadge />, {state: paused})).toBe('[PAUSED 1m]');
	expect(drawn(<PauseBadge />, {state})).toBe('');
});

test('Clock shows the time of the store, and nothing before the first read', () => {
	const later = after(state, {kind: 'ticked', nowMs: 4000});
	expect(drawn(<Clock isShort={false} />, {state: later})).toBe('14:32:10');
	expect(drawn(<Clock isShort />, {state: later})).toBe('14:32');
	expect(drawn(<Clock isShort />, {state: {...state, snapshot: undefined}})).toBe('');
});

test.each([
	['with a bar', 0.5, 8, 'Util ━━━━──── 50%'],
	['without a bar', 0.5, 0, 'Util 50%'],
	['without a total', undefined, 8, 'Util 50%'],
])('TotalLoad %s', (_, share, barWidth, expected) => {
	expect(drawn(<TotalLoad word="Util" of="load" share={share} text="50%" barWidth={barWidth} />)).toBe(expected);
});

test('memoryLoad is the memory in use and in total, and undefined if the total is unknown', () => {
	expect(memoryLoad(40_960, 163_840, 8)?.text).toBe('40/160G');
	expect(memoryLoad(0, 163_840, 0)?.text).toBe('0/160G');
	expect(memoryLoad(0, 0, 0)).toBeUndefined();
});

test.each([
	[0.5, 8],
	[0.5, 0],
	[undefined, 8],
])('loadWidth is the width of a TotalLoad with the share %s and a bar of %i', (share, barWidth) => {
	const load = {word: 'Util', of: 'load', share, text: '50%', barWidth} as const;
	expect(loadWidth(load)).toBe(drawn(<TotalLoad {...load} />).length);
});

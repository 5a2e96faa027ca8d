/** The help dialog: every key, and the meaning of the words and colors on the screen. */
import type {ReactElement} from 'react';
import {Box} from 'ink';
import {states, stateText, type MonitorState} from '../../format/states.js';
import {widthOf} from '../../format/text/width.js';
import type {Binding} from '../keys/bindings.js';
import {bindingsWith} from '../keys/custom.js';
import {keyText} from '../keys/key-names.js';
import {helpGroups, type HelpGroup} from '../state/modes.js';
import {remembering} from '../state/memo.js';
import type {State} from '../state/state.js';
import {useMonitor} from '../state/use-monitor.js';
import {useDrawing} from '../themes/drawing-context.js';
import {loadTone, type Tone} from '../themes/tones.js';
import {FixedLabel, Label} from '../widgets/label.js';
import {StillTable} from '../widgets/still-table.js';
import {DialogBox} from './dialog-box.js';

type HelpLine = {readonly keys: string; readonly words: string};

type Group = {readonly title: string; readonly tone: Tone; readonly lines: readonly HelpLine[]};

const keyWidth = 12;

/** Returns the lines of one group. Keys with the same effect are on one line. */
function keyLines(group: HelpGroup, bindings: readonly Binding[]): readonly HelpLine[] {
	const lines = new Map<string, Set<string>>();
	for (const {help, keys} of bindings) {
		if (help?.[0] === group && keys.length > 0) {
			lines.set(help[1], new Set([...(lines.get(help[1]) ?? []), ...keys]));
		}
	}

	return [...lines].map(([words, keys]) => ({keys: [...keys].map((key) => keyText(key)).join(' '), words}));
}

const keyGroups = ({settings}: State): readonly Group[] =>
	helpGroups.map((title) => ({title, tone: 'key', lines: keyLines(title, bindingsWith(settings.keys))}));

const shownStates = [
	'available',
	'mine',
	'in-use',
	'idle',
	'waiting',
	'unreserved',
	'drained',
	'error',
] as const satisfies readonly MonitorState[];

const marks: Group = {
	title: 'Marks',
	tone: 'strong',
	lines: [
		{keys: '> *', words: 'selected, tagged'},
		{keys: '0-7 (8)', words: '8 GPUs of a reservation'},
		{keys: 'dave?', words: 'uses it without a reservation'},
		{keys: '! dave: x', words: 'runs x on a GPU of somebody else'},
		{keys: '!12m', words: 'ends in less than 15 minutes'},
		{keys: 'on-exit', words: 'ends when its job does'},
		{keys: '80C!', words: 'hot'},
		{keys: 'hidden', words: 'the GPU tool reports no processes'},
	],
};

const loadShares = [0.2, 0.7, 1] as const;

function Colours(): ReactElement {
	const {isAscii} = useDrawing();
	const bar = (isAscii ? '#' : '━').repeat(4);
	return (
		<Box flexDirection="column" marginTop={1} flexShrink={0}>
			<Label>
				{loadShares.map((share) => (
					<Label key={share} tone={loadTone('load', share)}>
						{bar}
					</Label>
				))}
				{' load: calm, busy, nearly full'}
			</Label>
			<Label>
				<Label tone={loadTone('memory', 0.7)}>{bar.repeat(3)}</Label> memory in use
			</Label>
		</Box>
	);
}

const widthOfGroup = ({title, lines}: Group): number =>
	Math.max(widthOf(title), ...lines.map(({words}) => keyWidth + widthOf(words)));

/** Arranges groups in columns of at most `rows` lines, with a blank line between groups. */
function inColumns(groups: readonly Group[], rows: number): ReadonlyArray<readonly Group[]> {
	const columns: Group[][] = [];
	let used = Infinity;
	for (const group of groups) {
		const height = group.lines.length + 1;
		if (used + 1 + height <= rows) {
			columns.at(-1)!.push(group);
			used += 1 + height;
			continue;
		}

		// A group with more than `rows` lines continues in the next column.
		for (let from = 0; from < height; from += rows) {
			const lines = group.lines.slice(Math.max(0, from - 1), from + rows - 1);
			columns.push([{...group, title: from === 0 ? group.title : '', lines}]);
			used = lines.length + 1;
		}
	}

	return columns;
}

const columnGap = 2;

/** Returns the columns of each page. A page has as many columns side by side as fit. */
function pagesOf(
	groups: readonly Group[],
	rows: number,
	width: number,
): ReadonlyArray<ReadonlyArray<readonly Group[]>> {
	const pages: Array<Array<readonly Group[]>> = [];
	let used = Infinity;
	for (const column of inColumns(groups, rows)) {
		const columnWidth = Math.max(...column.map((group) => widthOfGroup(group)));
		if (used + columnGap + columnWidth <= width) {
			pages.at(-1)!.push(column);
			used += columnGap + columnWidth;
		} else {
			pages.push([column]);
			used = columnWidth;
		}
	}

	return pages;
}

/** Number of lines for the title, the states and a blank line. */
const stateRows = shownStates.length + 2;

/** Number of lines for a blank line and the explanation of the colors. */
const colourRows = 3;

const openPage = remembering(
	({settings, size, panels}: State) => [settings.keys, size, panels.helpPage],
	(state) => {
		const {size, panels, settings} = state;
		const rows = Math.max(1, size.rows - 4);
		const width = settings.isLinear ? 0 : size.columns - 6;
		const keys = pagesOf(keyGroups(state), rows, width);
		const hasBoth = rows >= stateRows + marks.lines.length + 1 + colourRows;
		const words = hasBoth
			? [{columns: [[marks]], hasStates: true}]
			: [
					{columns: [], hasStates: true},
					{columns: [[marks]], hasStates: false},
				];
		const pages = [
			...keys.map((columns) => ({tab: 'Keys' as const, columns, hasStates: false})),
			...words.map((page) => ({tab: 'Words' as const, ...page})),
		];
		const count = pages.length;
		const index = ((panels.helpPage % count) + count) % count;
		return {...pages[index]!, index, count};
	},
);

function GroupView({title, tone, lines}: Group): ReactElement {
	return (
		<Box flexDirection="column" flexShrink={0}>
			<Label tone="heading">{title}</Label>
			{lines.map(({keys, words}) => (
				<Box key={words} flexShrink={0}>
					<FixedLabel width={keyWidth} tone={tone}>
						{keys}
					</FixedLabel>
					<Label>{words}</Label>
				</Box>
			))}
		</Box>
	);
}

/** Explains the states of a GPU, with the words that `status` prints for scripts. */
const States = (): ReactElement => (
	<StillTable
		columns={[{title: 'STATE', tone: 'strong'}, {title: 'IN STATUS', tone: 'dim'}, {title: 'MEANING'}]}
		rows={shownStates.map((state) => ({
			STATE: states[state].short,
			'IN STATUS': stateText[state],
			MEANING: states[state].meaning,
		}))}
	/>
);

export function HelpDialog(): ReactElement {
	const {tab, columns, hasStates, index, count} = useMonitor(openPage);
	const {columns: screenWidth} = useMonitor(({size}) => size);
	const widths = columns.map((column) => Math.max(...column.map((group) => widthOfGroup(group))));
	const columnsWidth = widths.reduce((sum, width) => sum + width + columnGap, -columnGap);
	const statesWidth = hasStates ? 60 : 0;
	return (
		<DialogBox
			title={tab === 'Keys' ? '[Keys] Words' : 'Keys [Words]'}
			end={`${index + 1} of ${count}`}
			width={Math.min(screenWidth - 2, Math.max(columnsWidth, statesWidth) + 4)}
		>
			{hasStates ? <States /> : undefined}
			{hasStates && columns.length > 0 ? <Label> </Label> : undefined}
			<Box gap={columnGap}>
				{columns.map((column, at) => (
					<Box key={at} flexDirection="column" rowGap={1} width={widths[at]} flexShrink={0}>
						{column.map((group) => (
							<GroupView key={group.title} {...group} />
						))}
					</Box>
				))}
			</Box>
			{columns.some((column) => column.includes(marks)) ? <Colours /> : undefined}
		</DialogBox>
	);
}

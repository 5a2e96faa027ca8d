/** Parts of the two lines at the top of the screen, which are about this host or about all hosts. */
import type {ReactElement, ReactNode} from 'react';
import {Box} from 'ink';
import type {FreeGpus} from '../../../core/rules/pool/status.js';
import {freeText} from '../../../format/free-gpus.js';
import {gibibytes} from '../../../format/readings.js';
import {states} from '../../../format/states.js';
import {shortDuration} from '../../../format/text/durations.js';
import {widthOf} from '../../../format/text/width.js';
import {storeNow} from '../../state/state.js';
import {useMonitor, useSettings} from '../../state/use-monitor.js';
import {useDrawing} from '../../themes/drawing-context.js';
import {loadTone, type Tone} from '../../themes/tones.js';
import {FixedLabel, Label} from '../../widgets/label.js';
import {Meter} from '../../widgets/meter.js';

const usualGap = 2;

type EdgeLineProperties = {
	readonly left: ReactNode;
	readonly right: ReactNode;
	/** Number of blanks between parts. Defaults to 2. */
	readonly gap?: number;
};

/** A line with parts at both ends. If there is not enough room, parts that may shrink are cut off. A screen reader gets the whole text. */
export function EdgeLine({left, right, gap = usualGap}: EdgeLineProperties): ReactElement {
	const {frame} = useDrawing();
	if (frame === 'plain') {
		return (
			<Box columnGap={gap} flexWrap="wrap">
				{left}
				{right}
			</Box>
		);
	}

	return (
		<Box height={1} paddingX={1} columnGap={1} justifyContent="space-between" flexShrink={0} overflow="hidden">
			<Box gap={gap} overflow="hidden">
				{left}
			</Box>
			<Box gap={gap} flexShrink={0}>
				{right}
			</Box>
		</Box>
	);
}

export function Count({word, count, tone}: CountProperties): ReactElement {
	return (
		<FixedLabel tone={count > 0 ? tone : 'dim'}>
			{word} {count}
		</FixedLabel>
	);
}

type Counted = 'mine' | 'others' | 'drained' | 'unreserved' | 'errors';

/** How long the words of the counts are. */
type Wording = 'long' | 'short' | 'shortest';

export type CountsProperties = {
	readonly free: FreeGpus;
	readonly counts: Readonly<Record<Counted, number>>;
	readonly wording: Wording;
	/** Whether the GPUs were scanned. If false, GPUs with errors are called unknown. Defaults to true. */
	readonly isScanned?: boolean;
	/** The counts that are also shown if they are zero. */
	readonly always: readonly Counted[];
};

type CountProperties = {readonly word: string; readonly count: number; readonly tone: Tone};

/** Returns the counts to show, except the free GPUs. */
function shownCounts({counts, wording, isScanned = true, always}: CountsProperties): readonly CountProperties[] {
	const pick = (long: string, short = long, shortest = short): string => ({long, short, shortest})[wording];
	const words: Readonly<Record<Counted, readonly [word: string, tone: Tone]>> = {
		mine: ['Mine', 'mine'],
		others: [pick('Others', 'Others', 'Oth'), 'others'],
		drained: [pick('Drained', 'Drained', 'Drain'), 'plain'],
		unreserved: [pick(states.unreserved.short, 'Unres', 'Unr'), 'warning'],
		errors: isScanned ? [pick('Error', 'Err'), 'error'] : [pick('Unknown', 'Unknown', 'Unk'), 'plain'],
	};
	return (Object.keys(words) as Counted[])
		.filter((name) => counts[name] > 0 || always.includes(name))
		.map((name) => ({word: words[name][0], count: counts[name], tone: words[name][1]}));
}

const freeLabel = (free: FreeGpus): string => `Free ${freeText(free)}`;

/** Returns the texts of the counts, to measure them. */
export const countTexts = (properties: CountsProperties): readonly string[] => [
	freeLabel(properties.free),
	...shownCounts(properties).map(({word, count}) => `${word} ${count}`),
];

/** Shows how many GPUs are free, such as `Free 2 +1 MIG`, and how many are in each of the other states. */
export function Counts(properties: CountsProperties): ReactElement {
	const {free} = properties;
	return (
		<>
			<FixedLabel tone={free.whole + free.split > 0 ? 'free' : 'dim'}>{freeLabel(free)}</FixedLabel>
			{shownCounts(properties).map((count) => (
				<Count key={count.word} {...count} />
			))}
		</>
	);
}

export function PauseBadge(): ReactElement | undefined {
	const seconds = useMonitor(({pause, nowMs}) => pause && (nowMs - pause.sinceMs) / 1000);
	return seconds === undefined ? undefined : <FixedLabel tone="warning">[PAUSED {shortDuration(seconds)}]</FixedLabel>;
}

/** Shows the time of the store's clock. */
export function Clock({isShort}: {readonly isShort: boolean}): ReactElement | undefined {
	const {formatTime} = useSettings();
	const now = useMonitor(storeNow);
	return now === undefined ? undefined : <Label>{isShort ? formatTime(now).slice(0, 5) : formatTime(now)}</Label>;
}

export type Load = {
	readonly word: string;
	readonly of: 'load' | 'memory';
	/** The part that is in use, from 0 to 1. Undefined if the total is unknown. */
	readonly share: number | undefined;
	readonly text: string;
	/** Width of the bar in terminal columns. 0 for no bar. */
	readonly barWidth: number;
};

const hasBar = ({share, barWidth}: Load): boolean => barWidth > 0 && share !== undefined;

/** Returns the width of a total in terminal columns. */
export const loadWidth = (load: Load): number =>
	widthOf(`${load.word} ${load.text}`) + (hasBar(load) ? load.barWidth + 1 : 0);

/** Shows a total of all GPUs, such as `Util ━━━━──── 61%`. */
export function TotalLoad(load: Load): ReactElement {
	const {word, of, share, text, barWidth} = load;
	return (
		<Box flexShrink={0} gap={1}>
			<Label>{word}</Label>
			{hasBar(load) ? <Meter of={of} share={share!} width={barWidth} /> : undefined}
			<Label tone={share === undefined ? 'plain' : loadTone(of, share)}>{text}</Label>
		</Box>
	);
}

/** Returns the mean load of GPUs, from 0 to 1, as a part of the totals. With a bar, its text has a constant width, so that the bar does not move. */
export const utilizationLoad = (share: number | undefined, barWidth: number): Load | undefined =>
	share === undefined
		? undefined
		: {
				word: 'Util',
				of: 'load',
				share,
				text: `${Math.round(share * 100)}%`.padStart(barWidth === 0 ? 0 : 4),
				barWidth,
			};

/** Returns the memory of all GPUs as a load. Returns undefined if no GPU reports its memory. */
export const memoryLoad = (usedMiB: number, totalMiB: number, barWidth: number): Load | undefined =>
	totalMiB === 0
		? undefined
		: {
				word: 'Mem',
				of: 'memory',
				share: usedMiB / totalMiB,
				text: `${gibibytes(usedMiB).slice(0, -1)}/${gibibytes(totalMiB)}`,
				barWidth,
			};

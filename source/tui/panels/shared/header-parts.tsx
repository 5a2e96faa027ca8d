/** Parts of the two lines at the top of the screen, which are about this host or about all hosts. */
import type {ReactElement, ReactNode} from 'react';
import {Box} from 'ink';
import type {FreeGpus} from '../../../core/rules/pool/status.js';
import {freeText} from '../../../format/free-gpus.js';
import {gibibytes} from '../../../format/readings.js';
import {states} from '../../../format/states.js';
import {shortDuration} from '../../../format/text/durations.js';
import {storeNow} from '../../state/state.js';
import {useMonitor, useSettings} from '../../state/use-monitor.js';
import {useDrawing} from '../../themes/drawing-context.js';
import {loadTone, type Tone} from '../../themes/tones.js';
import {FixedLabel, Label} from '../../widgets/label.js';
import {Meter} from '../../widgets/meter.js';

const gap = 2;

/** A line with parts at both ends. If there is not enough room, parts that may shrink are cut off. A screen reader gets the whole text. */
export function EdgeLine({left, right}: {readonly left: ReactNode; readonly right: ReactNode}): ReactElement {
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

export function Count({word, count, tone}: {readonly word: string; readonly count: number; readonly tone: Tone}) {
	return (
		<FixedLabel tone={count > 0 ? tone : 'dim'}>
			{word} {count}
		</FixedLabel>
	);
}

type Counted = 'mine' | 'others' | 'drained' | 'unreserved' | 'errors';

type CountsProperties = {
	readonly free: FreeGpus;
	readonly counts: Readonly<Record<Counted, number>>;
	readonly isShort: boolean;
	/** Whether the GPUs were scanned. If false, GPUs with errors are called unknown. Defaults to true. */
	readonly isScanned?: boolean;
	/** The counts that are also shown if they are zero. */
	readonly always: readonly Counted[];
};

/** Shows how many GPUs are free, such as `Free 2 +1 MIG`, and how many are in each of the other states. */
export function Counts({free, counts, isShort, isScanned = true, always}: CountsProperties): ReactElement {
	const words: Readonly<Record<Counted, readonly [word: string, tone: Tone]>> = {
		mine: ['Mine', 'mine'],
		others: ['Others', 'others'],
		drained: ['Drained', 'plain'],
		unreserved: [isShort ? 'Unres' : states.unreserved.short, 'warning'],
		errors: isScanned ? [isShort ? 'Err' : 'Error', 'error'] : ['Unknown', 'plain'],
	};
	const names = (Object.keys(words) as Counted[]).filter((name) => counts[name] > 0 || always.includes(name));
	return (
		<>
			<FixedLabel tone={free.whole + free.split > 0 ? 'free' : 'dim'}>Free {freeText(free)}</FixedLabel>
			{names.map((name) => (
				<Count key={name} word={words[name][0]} count={counts[name]} tone={words[name][1]} />
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

type LoadProperties = {
	readonly word: string;
	readonly of: 'load' | 'memory';
	/** The part that is in use, from 0 to 1. Undefined if the total is unknown. */
	readonly share: number | undefined;
	readonly text: string;
	/** Width of the bar in terminal columns. 0 for no bar. */
	readonly barWidth: number;
};

/** Shows a total of all GPUs, such as `Util ━━━━──── 61%`. */
export function TotalLoad({word, of, share, text, barWidth}: LoadProperties): ReactElement {
	return (
		<Box flexShrink={0} gap={1}>
			<Label>{word}</Label>
			{barWidth === 0 || share === undefined ? undefined : <Meter of={of} share={share} width={barWidth} />}
			<Label tone={share === undefined ? 'plain' : loadTone(of, share)}>{text}</Label>
		</Box>
	);
}

type MemoryProperties = {readonly usedMiB: number; readonly totalMiB: number; readonly barWidth: number};

export const TotalMemory = ({usedMiB, totalMiB, barWidth}: MemoryProperties): ReactElement => (
	<TotalLoad
		word="Mem"
		of="memory"
		share={usedMiB / totalMiB}
		text={`${gibibytes(usedMiB).slice(0, -1)}/${gibibytes(totalMiB)}`}
		barWidth={barWidth}
	/>
);

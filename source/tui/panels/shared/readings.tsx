/** Cells with readings, for the tables of GPUs, processes and hosts. */
import type {ReactElement} from 'react';
import {Box} from 'ink';
import {gibibytes} from '../../../format/readings.js';
import {loadTone} from '../../themes/tones.js';
import {Label} from '../../widgets/label.js';
import {Meter} from '../../widgets/meter.js';

/** Width of the number after a bar, such as ` 100%`, in terminal columns. */
export const numberWidth = 5;

/** Minimum width of a column that has a bar and its number. */
export const leastWithBar = 8 + numberWidth;

/** Shows the sign for a missing or unknown value. */
export const Nothing = (): ReactElement => <Label tone="dim">-</Label>;

/** Shows a text, or the sign for a missing value. */
export const Value = ({children}: {readonly children: string | undefined}): ReactElement =>
	children === undefined || ['', '-'].includes(children) ? <Nothing /> : <Label>{children}</Label>;

type LoadProperties = {
	readonly of: 'load' | 'memory';
	/** The filled part of the bar, from 0 to 1. */
	readonly share: number;
	readonly text: string;
	/** Width in terminal columns. If the width is small, only the text is shown. */
	readonly width: number;
};

function Load({of, share, text, width}: LoadProperties): ReactElement {
	const tone = loadTone(of, share);
	return width < leastWithBar ? (
		<Label tone={tone}>{text}</Label>
	) : (
		<Box width={width}>
			<Meter of={of} share={share} width={width - numberWidth} />
			<Box width={numberWidth} justifyContent="flex-end">
				<Label tone={tone}>{text}</Label>
			</Box>
		</Box>
	);
}

type UtilizationProperties = {
	/** The utilization, from 0 to 100. Undefined if unknown. */
	readonly percent: number | undefined;
	readonly width: number;
};

export function Utilization({percent, width}: UtilizationProperties): ReactElement {
	return percent === undefined ? (
		<Label tone="dim">N/A</Label>
	) : (
		<Load of="load" share={percent / 100} text={`${Math.round(percent)}%`} width={width} />
	);
}

type MemoryProperties = {
	readonly usedMiB: number | undefined;
	readonly totalMiB: number | undefined;
	readonly width: number;
};

/** Shows the memory in use. If there is no room for a bar, also shows the total. */
export function Memory({usedMiB, totalMiB = 0, width}: MemoryProperties): ReactElement {
	if (usedMiB === undefined) {
		return <Label tone="dim">N/A</Label>;
	}

	if (totalMiB === 0) {
		return <Label>{gibibytes(usedMiB)}</Label>;
	}

	const used = gibibytes(usedMiB);
	const text = width < leastWithBar ? `${used.slice(0, -1)}/${gibibytes(totalMiB)}` : used;
	return <Load of="memory" share={usedMiB / totalMiB} text={text} width={width} />;
}

export const hotCelsius = 80;

export function Temperature({celsius}: {readonly celsius: number | undefined}): ReactElement {
	if (celsius === undefined) {
		return <Nothing />;
	}

	const isHot = celsius >= hotCelsius;
	return (
		<Label tone={isHot ? 'warning' : 'plain'}>
			{Math.round(celsius)}C{isHot ? '!' : ' '}
		</Label>
	);
}

/** Cells for readings, shared by the GPU, process and host tables. */
import type {ReactElement} from 'react';
import {Box} from 'ink';
import {gibibytes} from '../../../format/readings.js';
import {loadTone} from '../../themes/tones.js';
import {Label} from '../../widgets/label.js';
import {Meter} from '../../widgets/meter.js';

/** Cells of the number behind a bar, such as ` 100%`. */
export const numberWidth = 5;

/** Minimum width of a column with a bar and its number. */
export const leastWithBar = 8 + numberWidth;

/** The sign for a missing or unknown value. */
export const Nothing = (): ReactElement => <Label tone="dim">-</Label>;

type LoadProperties = {
	readonly of: 'load' | 'memory';
	/** 0 to 1. */
	readonly share: number;
	readonly text: string;
	/** Cells of the terminal. Narrow cells show only the text. */
	readonly width: number;
};

/** A bar with its number, both in the color of the load. */
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
	/** 0 to 100, or undefined if unknown. */
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

/** Memory in use. Without a bar, the cell includes the total. */
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

/** GPUs at or above this temperature are highlighted. */
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

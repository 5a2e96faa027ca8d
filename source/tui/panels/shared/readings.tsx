/** Cells of readings, alike in the tables of GPUs, processes and hosts. */
import type {ReactElement} from 'react';
import {Box} from 'ink';
import {gibibytes} from '../../../format/readings.js';
import {loadTone} from '../../themes/tones.js';
import {Label} from '../../widgets/label.js';
import {Meter} from '../../widgets/meter.js';

/** Cells of the number behind a bar: ` 100%`. */
export const numberWidth = 5;

/** The shortest bar that is worth showing, with its number. */
export const leastWithBar = 8 + numberWidth;

/** A reading of which nothing is known or there is nothing to say. */
export const Nothing = (): ReactElement => <Label tone="dim">-</Label>;

type LoadProperties = {
	readonly of: 'load' | 'memory';
	/** 0 to 1. */
	readonly share: number;
	readonly text: string;
	/** Cells of the terminal. Where there is no room for a bar, only the text is shown. */
	readonly width: number;
};

/** A bar with its number, both in the colour of the load. */
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
	/** 0 to 100; undefined when unknown. */
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

/** Memory in use. Without a bar, the total stands beside it. */
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

/** A GPU this hot is marked. */
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

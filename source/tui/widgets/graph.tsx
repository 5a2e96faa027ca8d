import type {ReactElement, ReactNode} from 'react';
import {Box, Spacer} from 'ink';
import {useDrawing} from '../themes/drawing-context.js';
import {loadTone} from '../themes/tones.js';
import {graphRow, graphStyleOf, valuesWithin, type Values} from './graph-characters.js';
import {Label} from './label.js';

type CurveProperties = {
	/** Determines the colors of the rows. */
	readonly of: 'load' | 'memory';
	/** The values. Their number must be what `valuesWithin` returns for the width. */
	readonly values: Values;
	readonly rows: number;
};

/** Draws the area below the values, without axes. */
export function Curve({of, values, rows}: CurveProperties): ReactElement {
	const style = graphStyleOf(useDrawing());
	return (
		<Box flexDirection="column">
			{Array.from({length: rows}, (_, line) => (
				<Label key={line} tone={loadTone(of, (rows - line - 0.5) / rows)}>
					{graphRow(values, rows - 1 - line, rows, style)}
				</Label>
			))}
		</Box>
	);
}

/** A time of day below a graph, centered below its column. */
export type TimeMark = {readonly column: number; readonly text: string};

type Properties = CurveProperties & {
	/** Label at the upper end of the vertical axis, such as `util 100%`. */
	readonly top: string;
	/** Label at the lower end of the vertical axis, such as `0%`. */
	readonly bottom: string;
	/** Label at the left end of the time axis, such as `-5m` or `09:00`. */
	readonly from: string;
	/** Times between both ends of the time axis. Those that would touch the labels at the ends are left out. */
	readonly times?: readonly TimeMark[];
	/** The time of day at the left end. Shown if none of `times` fits. */
	readonly fromTime?: string;
	/** A line between the area and the time axis. */
	readonly under?: ReactNode;
};

/** Width of the labels and the axis at the left of the area, in terminal columns. */
export const graphMargin = 11;

/** Draws a graph with axes. It takes `rows` lines, including the time axis and `under`. */
export function Graph({of, values, rows, top, bottom, from, times = [], fromTime, under}: Properties): ReactElement {
	const drawing = useDrawing();
	const {isAscii} = drawing;
	const columns = Math.ceil(values.length / valuesWithin(1, graphStyleOf(drawing)));
	const axis = isAscii ? '|' : '│';
	const now = 'now';
	const marks = times
		.map(({column, text}) => ({left: column - Math.floor(text.length / 2), text}))
		.filter(({left, text}) => left > from.length && left + text.length < columns - now.length);
	return (
		<Box flexDirection="column" flexShrink={0}>
			<Box>
				<Box flexDirection="column" width={graphMargin - 1} height={rows} alignItems="flex-end">
					<Label tone="dim">{top}</Label>
					<Spacer />
					{rows > 1 ? <Label tone="dim">{bottom}</Label> : undefined}
				</Box>
				<Box flexDirection="column">
					{Array.from({length: rows}, (_, line) => (
						<Label key={line} tone="frame">
							{axis}
						</Label>
					))}
				</Box>
				<Curve of={of} values={values} rows={rows} />
			</Box>
			{under === undefined ? undefined : <Box marginLeft={graphMargin}>{under}</Box>}
			<Box marginLeft={graphMargin} width={columns} justifyContent="space-between">
				<Label tone="dim">{marks.length > 0 || fromTime === undefined ? from : `${from}, ${fromTime}`}</Label>
				{marks.map(({left, text}) => (
					<Box key={left} position="absolute" left={left}>
						<Label tone="dim">{text}</Label>
					</Box>
				))}
				<Label tone="dim">{now}</Label>
			</Box>
		</Box>
	);
}

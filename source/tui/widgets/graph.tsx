import type {ReactElement, ReactNode} from 'react';
import {Box, Spacer} from 'ink';
import {useDrawing} from '../themes/drawing-context.js';
import {loadTone} from '../themes/tones.js';
import {graphRow, graphStyleOf, valuesWithin, type Values} from './graph-characters.js';
import {Label} from './label.js';

type CurveProperties = {
	/** Which colours the rows have, from the lowest to the highest. */
	readonly of: 'load' | 'memory';
	/** As many as `valuesWithin` the width. */
	readonly values: Values;
	/** Lines of the terminal. */
	readonly rows: number;
};

/** The area under the values, without axes. */
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

type Properties = CurveProperties & {
	/** What the upper end stands for: `util 100%`. */
	readonly top: string;
	/** What the lower end stands for: `0%`. */
	readonly bottom: string;
	/** The time at the left end: `-5m`, `09:00`. */
	readonly from: string;
	/** One line between the curve and the times. */
	readonly under?: ReactNode;
};

/** Columns left of the curve: labels and the axis. */
export const graphMargin = 11;

/** A graph with its axes. It takes `rows` lines, one for the times, and one for `under`. */
export function Graph({of, values, rows, top, bottom, from, under}: Properties): ReactElement {
	const drawing = useDrawing();
	const {isAscii} = drawing;
	const columns = Math.ceil(values.length / valuesWithin(1, graphStyleOf(drawing)));
	const axis = isAscii ? '|' : '│';
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
				<Label tone="dim">{from}</Label>
				<Label tone="dim">now</Label>
			</Box>
		</Box>
	);
}

import {memo, type ReactElement, type ReactNode} from 'react';
import {Box, Spacer} from 'ink';
import {useDrawing, type Drawing} from '../themes/drawing-context.js';
import {loadTone} from '../themes/tones.js';
import {Label} from './label.js';

/** The values of a graph, from 0 to 1, oldest first. A value is undefined if it is unknown. */
export type Values = ReadonlyArray<number | undefined>;

/** A braille character has dots in two columns and four rows. A block character shows a height in eighths. */
export type GraphStyle = 'braille' | 'blocks' | 'ascii';

export const graphStyleOf = ({isAscii, graphs}: Pick<Drawing, 'isAscii' | 'graphs'>): GraphStyle =>
	isAscii ? 'ascii' : graphs;

/** Returns how many values a graph of this width can show. */
export const valuesWithin = (columns: number, style: GraphStyle): number => columns * (style === 'braille' ? 2 : 1);

export const eighths = [...'▁▂▃▄▅▆▇█'];

/** Returns the character of a value in one row of a graph. In the lowest row, every known value is visible. */
function cellOf(value: number | undefined, row: number, rows: number, isAscii: boolean): string {
	if (value === undefined) {
		return ' ';
	}

	const height = value * rows - row;
	if (height >= 1) {
		return isAscii ? '#' : '█';
	}

	const isLowest = row === 0;
	if (isAscii) {
		return height >= 0.75 ? '#' : height >= 0.25 || (isLowest && height > 0.02) ? '_' : isLowest ? '.' : ' ';
	}

	const eighth = Math.round(height * 8);
	return eighth >= 1 ? eighths[eighth - 1]! : isLowest ? '▁' : ' ';
}

/** The bits of a braille character for zero to four dots in its left column, counted from below. */
const leftDots = [0, 0x40, 0x44, 0x46, 0x47];
const rightDots = [0, 0x80, 0xa0, 0xb0, 0xb8];
const firstBraille = 0x28_00;

const dotsIn = (value: number | undefined, row: number, rows: number): number =>
	value === undefined ? 0 : Math.min(4, Math.max(row === 0 ? 1 : 0, Math.round(value * rows * 4) - row * 4));

function brailleOf(left: number | undefined, right: number | undefined, row: number, rows: number): string {
	const dots = leftDots[dotsIn(left, row, rows)]! + rightDots[dotsIn(right, row, rows)]!;
	return dots === 0 ? ' ' : String.fromCodePoint(firstBraille + dots);
}

/** Returns the characters of one row of a graph. Row 0 is the lowest. */
export function graphRow(values: Values, row: number, rows: number, style: GraphStyle): string {
	if (style !== 'braille') {
		return values.map((value) => cellOf(value, row, rows, style === 'ascii')).join('');
	}

	return Array.from({length: Math.ceil(values.length / 2)}, (_, index) =>
		brailleOf(values[2 * index], values[2 * index + 1], row, rows),
	).join('');
}

type CurveProperties = {
	/** Determines the colors of the rows. */
	readonly of: 'load' | 'memory';
	/** The values. Their number must be what `valuesWithin` returns for the width. */
	readonly values: Values;
	readonly rows: number;
};

/** Draws the area below the values, without axes. */
function UncachedCurve({of, values, rows}: CurveProperties): ReactElement {
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

/** Renders again only if its properties change, because a graph consists of many elements. */
export const Curve = memo(UncachedCurve);

/** A time of day below a graph, centered below its column. */
export type TimeMark = {readonly column: number; readonly text: string};

type Properties = CurveProperties & {
	/** Labels at the upper and lower end of the vertical axis, such as `util 100%` and `0%`. */
	readonly top: string;
	readonly bottom: string;
	/** Label at the left end of the time axis, such as `-5m` or `09:00`. */
	readonly from: string;
	/** Times between both ends of the time axis. Times that would touch the labels at the ends are left out. */
	readonly times?: readonly TimeMark[];
	/** The time of day at the left end. Shown if none of `times` fits. */
	readonly fromTime?: string;
	/** A line between the area and the time axis. */
	readonly under?: ReactNode;
};

/** Width of the labels and the axis at the left of the area, in terminal columns. */
export const graphMargin = 11;

/** Draws a graph with axes. It takes `rows` lines, including the time axis and `under`. */
function UncachedGraph({of, values, rows, top, bottom, from, times = [], fromTime, under}: Properties): ReactElement {
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

export const Graph = memo(UncachedGraph);

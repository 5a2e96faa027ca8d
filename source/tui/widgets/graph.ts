/** Shares of the whole over time, drawn with characters. What is unknown is left blank. */
import {fit} from '../../format/text/width.js';
import type {Drawing} from './drawing.js';
import {loadTone, span, type Line, type Span} from './styled-text.js';

type Values = ReadonlyArray<number | undefined>;

const eighths = [...'▁▂▃▄▅▆▇█'];
const levels = [...'._-=#'];

/** One character a value, in the colour of its load. */
export const sparkline = (values: Values, isAscii: boolean): readonly Span[] => {
	const characters = isAscii ? levels : eighths;
	return values.map((value) => {
		if (value === undefined) {
			return span(' ');
		}

		// A trace is not nothing, and only the full share is full.
		const rounded = Math.round(value * (characters.length - 1));
		const character = characters[Math.max(value < 0.01 ? 0 : 1, Math.min(characters.length - 1, rounded))]!;
		return span(character, loadTone('load', value));
	});
};

/** What a graph is drawn with: dots of braille, two by four in a cell, blocks in eighths, or plain characters. */
export type GraphStyle = 'braille' | 'blocks' | 'ascii';

/** Of a screen; braille unless it says otherwise. */
export const graphStyleOf = ({isAscii, graphs = 'braille'}: Pick<Drawing, 'isAscii' | 'graphs'>): GraphStyle =>
	isAscii ? 'ascii' : graphs;

/** How many values a graph of so many columns shows. */
export const valuesWithin = (columns: number, style: GraphStyle): number => columns * (style === 'braille' ? 2 : 1);

/** The part of a value that lies in one row of the graph; the lowest row always shows that something is known. */
function cellOf(value: number | undefined, row: number, rows: number, isAscii: boolean): string {
	if (value === undefined) {
		return ' ';
	}

	const height = value * rows - row;
	if (height >= 1) {
		return isAscii ? '#' : '█';
	}

	const isGround = row === 0;
	if (isAscii) {
		return height >= 0.75 ? '#' : height >= 0.25 || (isGround && height > 0.02) ? '_' : isGround ? '.' : ' ';
	}

	const eighth = Math.round(height * 8);
	return eighth >= 1 ? eighths[eighth - 1]! : isGround ? '▁' : ' ';
}

/** The dots of one column of a braille cell that are set, from none to all four, counted from below. */
const leftDots = [0, 0x40, 0x44, 0x46, 0x47];
const rightDots = [0, 0x80, 0xa0, 0xb0, 0xb8];

const dotsIn = (value: number | undefined, row: number, rows: number): number =>
	value === undefined ? 0 : Math.min(4, Math.max(row === 0 ? 1 : 0, Math.round(value * rows * 4) - row * 4));

/** Two values, side by side in one row of the graph. */
function brailleOf(left: number | undefined, right: number | undefined, row: number, rows: number): string {
	const dots = leftDots[dotsIn(left, row, rows)]! + rightDots[dotsIn(right, row, rows)]!;
	return dots === 0 ? ' ' : String.fromCodePoint(0x28_00 + dots);
}

function rowOfGraph(values: Values, row: number, rows: number, style: GraphStyle): string {
	if (style !== 'braille') {
		return values.map((value) => cellOf(value, row, rows, style === 'ascii')).join('');
	}

	return Array.from({length: Math.ceil(values.length / 2)}, (_, index) =>
		brailleOf(values[2 * index], values[2 * index + 1], row, rows),
	).join('');
}

type Graph = {
	/** Which colours its rows have, from the lowest to the highest. */
	readonly of: 'load' | 'memory';
	/** What is drawn, and what the top stands for: `util 100%`. */
	readonly top: string;
	readonly bottom: string;
	/** When it begins: `-5m`. */
	readonly from?: string;
	/** As many as `valuesWithin` its columns. */
	readonly values: Values;
	/** What stands under the curve, as wide as the values. */
	readonly under?: Line;
};

/** Columns before the first value: the words and the axis. */
export const graphMargin = 11;

/** The values alone, in so many lines, each in the colour of its middle. */
export const curveLines = (
	{of, values}: Pick<Graph, 'of' | 'values'>,
	rows: number,
	style: GraphStyle,
): readonly Span[] =>
	Array.from({length: rows}, (_, row) =>
		span(rowOfGraph(values, rows - 1 - row, rows, style), loadTone(of, (rows - row - 0.5) / rows)),
	);

/** `rows` lines of values, what stands under the curve, and a line of times below them. */
export function graphLines(
	{of, top, bottom, from = '-5m', values, under}: Graph,
	rows: number,
	style: GraphStyle,
): readonly Line[] {
	const axis = style === 'ascii' ? '|' : '│';
	const columns = Math.ceil(values.length / valuesWithin(1, style));
	const labels = Array.from({length: rows}, (_, row) => (row === 0 ? top : row === rows - 1 ? bottom : ''));
	const curve = curveLines({of, values}, rows, style);
	const times = `${from}${fit('now', Math.max(0, columns - from.length), 'end')}`;
	return [
		...labels.map((label, row): Line => [
			span(fit(label, graphMargin - 1, 'end'), 'dim'),
			span(axis, 'frame'),
			curve[row]!,
		]),
		...(under === undefined ? [] : [[span(' '.repeat(graphMargin)), ...under]]),
		[span(' '.repeat(graphMargin)), span(fit(times, columns), 'dim')],
	];
}

/** Shares of the whole over time, drawn with characters. What is unknown is left blank. */
import {fit} from '../../format/text/width.js';
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

/** The part of a column that lies in one row of the graph; the lowest row always shows that something is known. */
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

export type Graph = {
	/** Which colours its rows have, from the lowest to the highest. */
	readonly of: 'load' | 'memory';
	/** What is drawn, and what the top stands for: `util 100%`. */
	readonly top: string;
	readonly bottom: string;
	/** When it begins: `-5m`. */
	readonly from?: string;
	readonly values: Values;
	/** What stands under the curve, a line of the values' width. */
	readonly under?: Line;
};

/** Columns before the first value: the words and the axis. */
export const graphMargin = 11;

/** `rows` lines of values, what stands under the curve, and a line of times below them. */
export function graphLines(
	{of, top, bottom, from = '-5m', values, under}: Graph,
	rows: number,
	isAscii: boolean,
): readonly Line[] {
	const axis = isAscii ? '|' : '│';
	const labels = Array.from({length: rows}, (_, row) => (row === 0 ? top : row === rows - 1 ? bottom : ''));
	const times = `${from}${fit('now', Math.max(0, values.length - from.length), 'end')}`;
	return [
		...labels.map((label, row): Line => [
			span(fit(label, graphMargin - 1, 'end'), 'dim'),
			span(axis, 'frame'),
			span(
				values.map((value) => cellOf(value, rows - 1 - row, rows, isAscii)).join(''),
				loadTone(of, (rows - row) / rows),
			),
		]),
		...(under === undefined ? [] : [[span(' '.repeat(graphMargin)), ...under]]),
		[span(' '.repeat(graphMargin)), span(fit(times, values.length), 'dim')],
	];
}

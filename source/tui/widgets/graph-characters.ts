/** The characters of which graphs consist. Unknown values are blank. */
import type {Drawing} from '../themes/drawing-context.js';
import {loadTone, type LoadTone} from '../themes/tones.js';

/** The values of a graph, from 0 to 1, oldest first. A value is undefined if it is unknown. */
export type Values = ReadonlyArray<number | undefined>;

/** A braille character has dots in two columns and four rows. A block character shows a height in eighths. */
export type GraphStyle = 'braille' | 'blocks' | 'ascii';

export const graphStyleOf = ({isAscii, graphs}: Pick<Drawing, 'isAscii' | 'graphs'>): GraphStyle =>
	isAscii ? 'ascii' : graphs;

/** Returns how many values a graph of this width can show. */
export const valuesWithin = (columns: number, style: GraphStyle): number => columns * (style === 'braille' ? 2 : 1);

const eighths = [...'▁▂▃▄▅▆▇█'];
const asciiLevels = [...'._-=#'];

/** Returns the character for a share. From one percent on, something is visible. Only 100 % looks full. */
function levelOf(share: number, isAscii: boolean): string {
	const levels = isAscii ? asciiLevels : eighths;
	const rounded = Math.round(share * (levels.length - 1));
	return levels[Math.max(share < 0.01 ? 0 : 1, Math.min(levels.length - 1, rounded))]!;
}

/** Adjacent characters that have the same tone, and are drawn together. */
export type Run = {readonly text: string; readonly tone: LoadTone | 'plain'};

/** Returns a line with a character for each value, grouped by tone. */
export function sparkRuns(values: Values, isAscii: boolean): readonly Run[] {
	const runs: Array<{text: string; tone: Run['tone']}> = [];
	for (const value of values) {
		const text = value === undefined ? ' ' : levelOf(value, isAscii);
		const tone = value === undefined ? 'plain' : loadTone('load', value);
		const last = runs.at(-1);
		if (last?.tone === tone) {
			last.text += text;
		} else {
			runs.push({text, tone});
		}
	}

	return runs;
}

/** Returns the character of a value in one row of a graph. In the lowest row, something is visible for every known value. */
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

/**
Returns the characters of one row of a graph.

@param row - The number of the row. 0 is the lowest row.
*/
export function graphRow(values: Values, row: number, rows: number, style: GraphStyle): string {
	if (style !== 'braille') {
		return values.map((value) => cellOf(value, row, rows, style === 'ascii')).join('');
	}

	return Array.from({length: Math.ceil(values.length / 2)}, (_, index) =>
		brailleOf(values[2 * index], values[2 * index + 1], row, rows),
	).join('');
}

/** The characters of graphs. Unknown values are blank. */
import type {Drawing} from '../themes/drawing-context.js';
import {loadTone, type LoadTone} from '../themes/tones.js';

/** Shares from 0 to 1, oldest first. Undefined values are unknown. */
export type Values = ReadonlyArray<number | undefined>;

/** A braille character shows two by four dots; a block shows eighths. */
export type GraphStyle = 'braille' | 'blocks' | 'ascii';

export const graphStyleOf = ({isAscii, graphs}: Pick<Drawing, 'isAscii' | 'graphs'>): GraphStyle =>
	isAscii ? 'ascii' : graphs;

/** Returns the number of values in a graph of this width. */
export const valuesWithin = (columns: number, style: GraphStyle): number => columns * (style === 'braille' ? 2 : 1);

const eighths = [...'▁▂▃▄▅▆▇█'];
const asciiLevels = [...'._-=#'];

/** Returns a character for a share. One percent shows a trace, and only 100 % looks full. */
function levelOf(share: number, isAscii: boolean): string {
	const levels = isAscii ? asciiLevels : eighths;
	const rounded = Math.round(share * (levels.length - 1));
	return levels[Math.max(share < 0.01 ? 0 : 1, Math.min(levels.length - 1, rounded))]!;
}

/** Adjacent characters with the same tone. */
export type Run = {readonly text: string; readonly tone: LoadTone | 'plain'};

/** Returns a line of characters, one for each value, grouped by tone. */
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

/** Returns the part of a value in one row of a graph. The lowest row shows a trace of every known value. */
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

/** Bits of a braille character for zero to four dots in one of its columns, from below. */
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
Returns one row of a graph.

@param row - 0 is the lowest.
*/
export function graphRow(values: Values, row: number, rows: number, style: GraphStyle): string {
	if (style !== 'braille') {
		return values.map((value) => cellOf(value, row, rows, style === 'ascii')).join('');
	}

	return Array.from({length: Math.ceil(values.length / 2)}, (_, index) =>
		brailleOf(values[2 * index], values[2 * index + 1], row, rows),
	).join('');
}

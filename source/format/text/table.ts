/** Tables of the command line: columns with a rule under the header, without an outer border. */
import {shrunk, type Column} from './columns.js';
import type {Paint} from './paint.js';
import {truncate, widthOf} from './width.js';

/** The sanitized text of a cell. `paint` colors the text after it has been cut. */
export type Cell = string | {readonly text: string; readonly paint: (text: string) => string};

/** Columns to shrink, in this order, if the table is too wide: each to `least` terminal columns. Removed if `least` is 0. */
export type Sacrifices = ReadonlyArray<readonly [title: string, least: number]>;

export type Room = {readonly width: number | undefined; readonly sacrifices: Sacrifices};

const textOf = (cell: Cell): string => (typeof cell === 'string' ? cell : cell.text);

/** The width between two columns: a space on either side, and a line. */
const gap = 3;

/** Returns the remaining columns, named by position, with their widths. */
function columnsIn(
	room: Room | undefined,
	header: readonly string[],
	rows: ReadonlyArray<readonly Cell[]>,
): readonly Column[] {
	const columns = header.map((title, index) => ({
		name: String(index),
		width: Math.max(widthOf(title), ...rows.map((row) => widthOf(textOf(row[index]!)))),
	}));
	const {width = Infinity, sacrifices = []} = room ?? {};
	const kept = shrunk(
		columns.filter((column) => column.width > 0),
		// Leaves room for the spaces at both ends of a line.
		{width: width - 2, gap},
		sacrifices.map(([title, least]) => [
			String(header.indexOf(title)),
			least === 0 ? 0 : Math.max(least, widthOf(title)),
		]),
	);
	// Text that is cut at a space can be narrower than its column. If all cells are narrower, the column shrinks, too.
	const cutWidth = (row: readonly Cell[], column: Column): number =>
		widthOf(truncate(textOf(row[Number(column.name)]!), column.width));
	return kept.map((column) => ({
		...column,
		width: Math.max(...[header, ...rows].map((row) => cutWidth(row, column))),
	}));
}

function cellText(cell: Cell, width: number, paint: Paint): string {
	const text = truncate(textOf(cell), width);
	const painted = typeof cell === 'string' ? (text === '-' ? paint.dim(text) : text) : cell.paint(text);
	return painted + ' '.repeat(width - widthOf(text));
}

export function ruledTable(
	header: readonly string[],
	rows: ReadonlyArray<readonly Cell[]>,
	paint: Paint,
	room?: Room,
): string {
	const columns = columnsIn(room, header, rows);
	const lineOf = (cells: readonly Cell[]): string =>
		columns
			.map(({name, width}) => ` ${cellText(cells[Number(name)]!, width, paint)} `)
			.join(paint.dim('│'))
			.trimEnd();
	return [
		lineOf(header.map((title) => ({text: title, paint: (text) => paint.header(text)}))),
		...(rows.length === 0 ? [] : [paint.dim(columns.map(({width}) => '─'.repeat(width + 2)).join('┼'))]),
		...rows.map((row) => lineOf(row)),
	].join('\n');
}

/** Tables of the command line: columns with a rule under the header, no outer border. */
import Table from 'cli-table3';
import type {Paint} from './paint.js';
import {truncate, widthOf} from './width.js';

const outerBorder = Object.fromEntries(
	[
		'top',
		'top-mid',
		'top-left',
		'top-right',
		'bottom',
		'bottom-mid',
		'bottom-left',
		'bottom-right',
		'left',
		'left-mid',
		'right',
		'right-mid',
	].map((part) => [part, '']),
);

/** A single line, already harmless; painted after it was cut. */
export type Cell = string | {readonly text: string; readonly paint: (text: string) => string};

/**
What a table gives up where it is too wide, in this order: the column of that title is cut to no fewer than so many columns of the
terminal, or left out at 0.
*/
export type Sacrifices = ReadonlyArray<readonly [title: string, least: number]>;

/** Where it goes: how wide that is, if it ends somewhere, and what may be given up. */
export type Room = {readonly width: number | undefined; readonly sacrifices: Sacrifices};

const textOf = (cell: Cell): string => (typeof cell === 'string' ? cell : cell.text);

/** The widths of the columns as they fit; 0 for those left out. */
function widthsIn(
	room: Room | undefined,
	header: readonly string[],
	rows: ReadonlyArray<readonly Cell[]>,
): readonly number[] {
	const widths = header.map((title, column) =>
		Math.max(widthOf(title), ...rows.map((row) => widthOf(textOf(row[column]!)))),
	);
	const {width = Infinity, sacrifices = []} = room ?? {};
	const excess = (): number => {
		const shown = widths.filter((columns) => columns > 0);
		// A blank on either side of each, and a line between two.
		return shown.reduce((sum, columns) => sum + columns + 3, -1) - width;
	};

	for (const [title, least] of sacrifices) {
		const column = header.indexOf(title);
		const now = widths[column] ?? 0;
		if (excess() > 0 && now > 0) {
			widths[column] = least === 0 ? 0 : Math.min(now, Math.max(least, widthOf(title), now - excess()));
		}
	}

	return widths;
}

/** Trailing blanks are removed. */
export function ruledTable(
	header: readonly string[],
	rows: ReadonlyArray<readonly Cell[]>,
	paint: Paint,
	room?: Room,
): string {
	const widths = widthsIn(room, header, rows);
	const isShown = (_: unknown, column: number): boolean => widths[column]! > 0;
	const table = new Table({
		head: header.filter((title, column) => isShown(title, column)).map((title) => paint.header(title)),
		style: {head: [], border: []},
		chars: {...outerBorder, mid: '─', 'mid-mid': '┼', middle: paint.dim('│')},
	});
	table.push(
		...rows.map((row) =>
			row
				.map((cell, column) => {
					const text = truncate(textOf(cell), widths[column]!);
					return typeof cell === 'string' ? (text === '-' ? paint.dim(text) : text) : cell.paint(text);
				})
				.filter((cell, column) => isShown(cell, column)),
		),
	);
	// The library rules a line between all rows; only the one under the header stays.
	return (
		table
			.toString()
			.split('\n')
			.filter((_, line) => line < 2 || line % 2 === 0)
			// The second is the rule: dimmed as a whole, not sign by sign.
			.map((line, place) => (place === 1 ? paint.dim(line.trimEnd()) : line.trimEnd()))
			.join('\n')
	);
}

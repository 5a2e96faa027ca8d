/**
Columns of text, for every table: how wide each is in the room that there is, what is given up where that is too little, and what grows where
there is more.
*/
import {fit} from './width.js';

/** Widths are in columns of the terminal. */
export type Column<Name extends string = string> = {
	readonly name: Name;
	readonly width: number;
	readonly align?: 'start' | 'end';
};

/** How wide the table may be, and how many blanks are between two columns. */
export type TableRoom = {readonly width: number; readonly gap: number};

/**
What a column gives up: it is cut to no fewer than `least`, or left out at 0. `at once`: there is nothing useful between its width and
the least, so that it is not cut bit by bit.
*/
export type Sacrifice<Name extends string = string> = readonly [name: Name, least: number, how?: 'at once'];

export const totalWidth = (columns: readonly Column[], gap: number): number =>
	columns.reduce((sum, {width}) => sum + width, 0) + gap * Math.max(0, columns.length - 1);

/** Which column stands at this place of a line; the blank behind a column is a part of it. */
export function columnNameAt<Name extends string>(
	columns: ReadonlyArray<Column<Name>>,
	index: number,
	gap: number,
): Name | undefined {
	let end = 0;
	for (const {name, width} of columns) {
		end += width + gap;
		if (index < end) {
			return index < 0 ? undefined : name;
		}
	}

	return undefined;
}

/** The columns after as many sacrifices, in their order, as it takes to fit. */
export function shrunk<Name extends string>(
	columns: ReadonlyArray<Column<Name>>,
	{width: room, gap}: TableRoom,
	sacrifices: ReadonlyArray<Sacrifice<Name>>,
): ReadonlyArray<Column<Name>> {
	let kept = columns;
	for (const [name, least, how] of sacrifices) {
		const excess = totalWidth(kept, gap) - room;
		if (excess <= 0) {
			break;
		}

		kept = kept.flatMap((column) => {
			if (column.name !== name) {
				return [column];
			}

			const width = Math.min(column.width, how === 'at once' ? least : Math.max(least, column.width - excess));
			return least === 0 ? [] : [{...column, width}];
		});
	}

	return kept;
}

/** Up to how wide columns grow in one round. */
export type GrowthRound<Name extends string = string> = Readonly<Partial<Record<Name, number>>>;

/**
The columns with the room that is left over, round by round: within one round each gets the same share of what it wants, and none grows again
before all had their turn.

@param last - Gets what is left over after the last round.
*/
export function grown<Name extends string>(
	columns: ReadonlyArray<Column<Name>>,
	{width: room, gap}: TableRoom,
	rounds: ReadonlyArray<GrowthRound<Name>>,
	last?: Name,
): ReadonlyArray<Column<Name>> {
	let wider = columns;
	for (const most of rounds) {
		const spare = Math.max(0, room - totalWidth(wider, gap));
		const wishes = wider.map(({name, width}) => Math.max(0, (most[name] ?? 0) - width));
		const wanted = wishes.reduce((sum, wish) => sum + wish, 0);
		const given = (wish: number): number => (wanted <= spare ? wish : Math.floor((wish * spare) / wanted));
		wider = wider.map((column, index) => ({...column, width: column.width + given(wishes[index]!)}));
	}

	const rest = Math.max(0, room - totalWidth(wider, gap));
	return wider.map((column) => (column.name === last ? {...column, width: column.width + rest} : column));
}

/** One row: each cell exactly as wide as its column. */
export const rowText = <Name extends string>(
	columns: ReadonlyArray<Column<Name>>,
	cells: Readonly<Record<Name, string>>,
	{gap, ellipsis}: {readonly gap: number; readonly ellipsis?: string},
): string => columns.map(({name, width, align}) => fit(cells[name], width, align, ellipsis)).join(' '.repeat(gap));

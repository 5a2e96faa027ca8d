/** Lays out columns of text: which shrink, which disappear and which grow. */
import {fit} from './width.js';

/** A column of a table or line. Widths are in terminal columns. */
export type Column<Name extends string = string> = {
	readonly name: Name;
	readonly width: number;
	readonly align?: 'start' | 'end';
};

export type TableRoom = {readonly width: number; readonly gap: number};

/** A column that can shrink to the width `least`, or is removed if `least` is 0. With `at once`, the column skips all intermediate widths. */
export type Sacrifice<Name extends string = string> = readonly [name: Name, least: number, how?: 'at once'];

export const totalWidth = (columns: readonly Column[], gap: number): number =>
	columns.reduce((sum, {width}) => sum + width, 0) + gap * Math.max(0, columns.length - 1);

/** Returns the column at a position of a line. The gap after a column belongs to it. */
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

/** Shrinks or removes columns, in the order of `sacrifices`, until the rest fits. Returns the remaining columns. */
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

export type GrowthRound<Name extends string = string> = Readonly<Partial<Record<Name, number>>>;

/** Distributes spare width in rounds, with equal shares for all columns. `last` gets the rest. */
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

export const rowText = <Name extends string>(
	columns: ReadonlyArray<Column<Name>>,
	cells: Readonly<Record<Name, string>>,
	{gap, ellipsis}: {readonly gap: number; readonly ellipsis?: string},
): string => columns.map(({name, width, align}) => fit(cells[name], width, align, ellipsis)).join(' '.repeat(gap));

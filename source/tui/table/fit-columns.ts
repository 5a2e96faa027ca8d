import {grown, shrunk, type Column, type GrowthRound, type Sacrifice} from '../../format/text/columns.js';
import {leastWithBar} from '../panels/shared/readings.js';
import {markerWidth} from './data-table.js';

const isLoad = (name: string): boolean => name === 'utilization' || name === 'memory';

/** How the columns of a table use the space that they have. */
export type Fit<Name extends string> = {
	/** Columns that shrink or disappear if space is short, in this order. */
	readonly sacrifices: ReadonlyArray<Sacrifice<Name>>;
	/** The maximum widths of columns if there is enough space. Columns grow in several rounds. */
	readonly growth: ReadonlyArray<GrowthRound<Name>>;
	/** The first of these columns that is visible gets the remaining space. */
	readonly last: readonly Name[];
	/** Number of blanks between columns. Defaults to 1. */
	readonly gap?: number;
};

/** Returns the columns that fit, with the longest bars that are possible. A load with a number but no bar does not grow. */
export function fitColumns<Name extends string>(
	width: number,
	least: ReadonlyArray<Column<Name>>,
	{sacrifices, growth, last, gap = 1}: Fit<Name>,
): ReadonlyArray<Column<Name>> {
	const room = {width: width - markerWidth, gap};
	const columns = shrunk(least, room, sacrifices);
	const isNumber = (column: Column<Name>): boolean => isLoad(column.name) && column.width < leastWithBar;
	const growing = new Set(columns.filter((column) => !isNumber(column)).map(({name}) => name));
	const rounds = growth.map(
		(round) => Object.fromEntries([...growing].map((name) => [name, round[name]])) as GrowthRound<Name>,
	);
	const rest = last.find((name) => columns.some((column) => column.name === name)) ?? columns.at(-1)?.name;
	return grown(columns, room, rounds, rest).map((column) => (isNumber(column) ? {...column, align: 'end'} : column));
}

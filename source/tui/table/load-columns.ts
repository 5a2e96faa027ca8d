import {
	grown,
	shrunk,
	type Column,
	type GrowthRound,
	type Sacrifice,
	type TableRoom,
} from '../../format/text/columns.js';
import {leastWithBar} from '../panels/shared/readings.js';

const isLoad = (name: string): boolean => name === 'utilization' || name === 'memory';

type Fit<Name extends string> = {
	/** Columns that shrink or disappear if space is short, in this order. */
	readonly sacrifices: ReadonlyArray<Sacrifice<Name>>;
	/** The maximum widths of columns if there is enough space. Columns grow in several rounds. */
	readonly growth: ReadonlyArray<GrowthRound<Name>>;
	/** The first of these columns that is visible gets the remaining space. */
	readonly last: readonly Name[];
};

/** Returns the columns that fit, with the longest bars that are possible. A column with a number but no bar does not grow. */
export function loadColumns<Name extends string>(
	least: ReadonlyArray<Column<Name>>,
	room: TableRoom,
	{sacrifices, growth, last}: Fit<Name>,
): ReadonlyArray<Column<Name>> {
	const columns = shrunk(least, room, sacrifices);
	const isNumber = ({name, width}: Column<Name>): boolean => isLoad(name) && width < leastWithBar;
	const growing = new Set(columns.filter((column) => !isNumber(column)).map(({name}) => name));
	const rounds = growth.map(
		(round) => Object.fromEntries([...growing].map((name) => [name, round[name]])) as GrowthRound<Name>,
	);
	const rest = last.find((name) => columns.some((column) => column.name === name)) ?? columns.at(-1)?.name;
	return grown(columns, room, rounds, rest).map((column) => (isNumber(column) ? {...column, align: 'end'} : column));
}

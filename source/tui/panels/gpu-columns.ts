/** The columns of the table of GPUs: which there are at a width, and how wide each is. */
import {grown, shrunk, totalWidth, type Column, type GrowthRound, type Sacrifice} from '../../format/text/columns.js';

export type ColumnName =
	| 'gpu'
	| 'state'
	| 'owner'
	| 'kind'
	| 'held'
	| 'ends'
	| 'utilization'
	| 'memory'
	| 'temperature'
	| 'power'
	| 'history'
	| 'note'
	| 'process';

export type GpuColumn = Column<ColumnName> & {
	/** Width of the bar in it; undefined: the number alone. */
	readonly barWidth?: number;
};

/** The mark of the selected row, and that of a tagged one. */
export const markerWidth = 2;
const gap = 1;
const leastBar = 8;
/** Behind a bar: ` 100%`. */
const numberWidth = 5;
const leastWithBar = leastBar + numberWidth;

/** The columns with their least widths, those of a bar with it. */
const leastColumns: ReadonlyArray<Column<ColumnName>> = [
	{name: 'gpu', width: 3},
	{name: 'state', width: 10},
	{name: 'owner', width: 8},
	{name: 'kind', width: 6},
	{name: 'held', width: 6, align: 'end'},
	{name: 'ends', width: 7},
	{name: 'utilization', width: leastWithBar},
	{name: 'memory', width: leastWithBar},
	{name: 'temperature', width: 5, align: 'end'},
	{name: 'power', width: 5, align: 'end'},
	{name: 'history', width: 8},
	{name: 'note', width: 16},
	{name: 'process', width: 14},
];

/** What goes first when there is no room for all. Bars leave the number alone. */
const sacrifices: ReadonlyArray<Sacrifice<ColumnName>> = [
	['note', 0],
	['history', 0],
	['power', 0],
	['kind', 0],
	['held', 0],
	['memory', 8, 'at once'],
	['utilization', 4, 'at once'],
	['process', 0],
];

/** The last round is for screens much wider than most. */
const growth: ReadonlyArray<GrowthRound<ColumnName>> = [
	{owner: 12, process: 20},
	{owner: 16, utilization: 12 + numberWidth, memory: 12 + numberWidth, history: 15, note: 20, process: 30},
	{utilization: 20 + numberWidth, memory: 20 + numberWidth, history: 30, note: 30, process: 44},
	{history: 60, note: 44, process: 60},
];

export const columnsWidth = (columns: readonly Column[]): number => markerWidth + totalWidth(columns, gap);

/** By width; every row of a frame asks for the same. */
const known = new Map<number, readonly GpuColumn[]>();

/** The most that fits into `width`, in the order in which the screen narrows. */
export function columnsFor(width: number): readonly GpuColumn[] {
	const columns = known.get(width) ?? fittingColumns(width);
	known.set(width, columns);
	return columns;
}

const isBar = ({name, width}: Column<ColumnName>): boolean =>
	(name === 'utilization' || name === 'memory') && width >= leastWithBar;

function fittingColumns(width: number): readonly GpuColumn[] {
	const room = {width: width - markerWidth, gap};
	const columns = shrunk(leastColumns, room, sacrifices);
	// A number without its bar needs no more.
	const bars = new Set(columns.filter((column) => isBar(column)).map(({name}) => name));
	const rounds = growth.map(({utilization, memory, ...others}) => ({
		...others,
		...(bars.has('utilization') && {utilization}),
		...(bars.has('memory') && {memory}),
	}));
	// The rest goes to what is longest, or where no process is shown to the owner.
	const last = columns.some(({name}) => name === 'process') ? 'process' : 'owner';
	return grown(columns, room, rounds, last).map((column): GpuColumn => {
		const hasNumber = column.name === 'utilization' || column.name === 'memory';
		return {
			...column,
			align: hasNumber && !bars.has(column.name) ? 'end' : column.align,
			barWidth: bars.has(column.name) ? column.width - numberWidth : undefined,
		};
	});
}

/** The columns of the table of all hosts: which there are at a width, and how wide each is. */
import {grown, shrunk, type Column, type GrowthRound, type Sacrifice} from '../../../format/text/columns.js';
import {barNumberWidth} from '../shared/load-cells.js';

export type HostColumnName =
	'host' | 'gpu' | 'state' | 'owner' | 'ends' | 'utilization' | 'memory' | 'temperature' | 'model' | 'process';

export type HostColumn = Column<HostColumnName> & {
	/** Width of the bar in it; undefined: the number alone. */
	readonly barWidth?: number;
};

/** The mark of the selected line. */
export const hostMarkWidth = 2;
const gap = 1;
const leastWithBar = 8 + barNumberWidth;

const leastColumns: ReadonlyArray<Column<HostColumnName>> = [
	{name: 'host', width: 12},
	{name: 'gpu', width: 3, align: 'end'},
	{name: 'state', width: 10},
	{name: 'owner', width: 8},
	{name: 'ends', width: 7},
	{name: 'utilization', width: leastWithBar},
	{name: 'memory', width: leastWithBar},
	{name: 'temperature', width: 5, align: 'end'},
	{name: 'model', width: 10},
	{name: 'process', width: 14},
];

/** What goes first when there is no room for all. Which host it is, and whether it can be had, is shown to the last. */
const sacrifices: ReadonlyArray<Sacrifice<HostColumnName>> = [
	['process', 0],
	['memory', 8, 'at once'],
	['utilization', 4, 'at once'],
	['temperature', 0],
	['model', 0],
];

const growth: ReadonlyArray<GrowthRound<HostColumnName>> = [
	{host: 15},
	{owner: 10},
	{host: 20, process: 20},
	{host: 24, owner: 16, model: 16, process: 30},
	{utilization: 12 + barNumberWidth, memory: 12 + barNumberWidth, model: 24},
	{utilization: 20 + barNumberWidth, memory: 20 + barNumberWidth, process: 60},
];

const hasBar = (name: HostColumnName): boolean => name === 'utilization' || name === 'memory';

/** By width; every line of a frame asks for the same. */
const known = new Map<number, readonly HostColumn[]>();

function fittingColumns(width: number): readonly HostColumn[] {
	const room = {width: width - hostMarkWidth, gap};
	const columns = shrunk(leastColumns, room, sacrifices);
	// A number without its bar needs no more.
	const bars = new Set(
		columns.filter(({name, width: each}) => hasBar(name) && each >= leastWithBar).map(({name}) => name),
	);
	const rounds = growth.map(({utilization, memory, ...others}) => ({
		...others,
		...(bars.has('utilization') && {utilization}),
		...(bars.has('memory') && {memory}),
	}));
	const last = columns.some(({name}) => name === 'process') ? 'process' : 'host';
	return grown(columns, room, rounds, last).map((column): HostColumn => ({
		...column,
		align: hasBar(column.name) && !bars.has(column.name) ? 'end' : column.align,
		barWidth: bars.has(column.name) ? column.width - barNumberWidth : undefined,
	}));
}

/** The most that fits into `width`. */
export function hostColumnsFor(width: number): readonly HostColumn[] {
	const columns = known.get(width) ?? fittingColumns(width);
	known.set(width, columns);
	return columns;
}

/** The columns of the table of processes: which there are at a width, and how wide each is. */
import {
	grown,
	shrunk,
	type Column,
	type GrowthRound,
	type Sacrifice,
	type TableRoom,
} from '../../../format/text/columns.js';
import type {ProcessSortKey} from '../../state/processes/state.js';

export type ProcessColumn = Column<ProcessSortKey>;

/** Short enough for the narrowest form of each column. */
export const processTitles: Readonly<Record<ProcessSortKey, string>> = {
	gpu: 'GPU',
	pid: 'PID',
	user: 'USER',
	right: 'RIGHT',
	load: '%SM',
	memory: 'MEM',
	cpu: 'CPU',
	hostMemory: 'HOST',
	time: 'TIME',
	container: 'CONTAINER',
	command: 'COMMAND',
};

/** The mark of the selected row, and that of a tagged one. */
export const markerWidth = 2;

const leastColumns: readonly ProcessColumn[] = [
	{name: 'gpu', width: 3},
	{name: 'pid', width: 7},
	{name: 'user', width: 8},
	{name: 'right', width: 10},
	{name: 'load', width: 4, align: 'end'},
	{name: 'memory', width: 5, align: 'end'},
	{name: 'cpu', width: 5, align: 'end'},
	{name: 'hostMemory', width: 5, align: 'end'},
	{name: 'time', width: 6, align: 'end'},
	{name: 'container', width: 12},
	{name: 'command', width: 20},
];

/** What goes first when there is no room for all. */
const sacrifices: ReadonlyArray<Sacrifice<ProcessSortKey>> = [
	['container', 0],
	['hostMemory', 0],
	['cpu', 0],
	['time', 0],
	['command', 12],
	['right', 0],
	['load', 0],
	['command', 1],
	['user', 4],
];

const growth: ReadonlyArray<GrowthRound<ProcessSortKey>> = [{user: 12, command: 40}, {user: 16}];

/** From this width on the columns stand farther apart. */
const leastRoomy = 110;

export const gapOf = (width: number): number => (width >= leastRoomy ? 2 : 1);

/** The most of these columns that fits into `width`, the marks included. */
export function processColumnsFor(width: number, names: ReadonlySet<ProcessSortKey>): readonly ProcessColumn[] {
	const room: TableRoom = {width: width - markerWidth, gap: gapOf(width)};
	const wanted = leastColumns.filter(({name}) => names.has(name));
	return grown(shrunk(wanted, room, sacrifices), room, growth, 'command');
}

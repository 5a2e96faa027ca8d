import {grown, shrunk, type Column, type GrowthRound, type Sacrifice} from '../../../format/text/columns.js';
import type {ProcessSortKey} from '../../state/processes/state.js';
import {markerWidth} from '../../table/data-table.js';

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

const leastColumns: ReadonlyArray<Column<ProcessSortKey>> = [
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

/** Columns that shrink or disappear if space is short, in this order. */
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

/** Minimum width of the table for wider gaps between columns. */
const leastRoomy = 110;

export const processGap = (width: number): number => (width >= leastRoomy ? 2 : 1);

/** Returns the columns that fit. The column for containers exists only if a process runs in a container. */
export function processColumns(width: number, hasContainers: boolean): ReadonlyArray<Column<ProcessSortKey>> {
	const room = {width: width - markerWidth, gap: processGap(width)};
	const wanted = leastColumns.filter(({name}) => name !== 'container' || hasContainers);
	return grown(shrunk(wanted, room, sacrifices), room, growth, 'command');
}

import type {ComponentType} from 'react';
import {grown, shrunk, type Column, type GrowthRound, type Sacrifice} from '../../../format/text/columns.js';
import {processSortKeys, type ProcessRow, type ProcessSortKey} from '../../state/processes/state.js';
import {markerWidth, type CellProperties} from '../../table/data-table.js';
import {Label} from '../../widgets/label.js';
import {Command, Container, HostMemory, Load, Memory, Right, textCell, User} from './process-cells.js';

type ProcessColumn = {
	readonly title: string;
	/** Minimum width in terminal columns. */
	readonly width: number;
	readonly align?: 'end';
	readonly Cell: ComponentType<CellProperties<ProcessRow>>;
};

export const processColumns: Readonly<Record<ProcessSortKey, ProcessColumn>> = {
	gpu: {title: 'GPU', width: 3, Cell: ({row: {row}}) => <Label tone="strong">{row.index}</Label>},
	pid: {title: 'PID', width: 7, Cell: ({row: {process}}) => <Label>{process.pid}</Label>},
	user: {title: 'USER', width: 8, Cell: User},
	right: {title: 'RIGHT', width: 10, Cell: Right},
	load: {title: '%SM', width: 4, align: 'end', Cell: Load},
	memory: {title: 'MEM', width: 5, align: 'end', Cell: Memory},
	cpu: {title: 'CPU', width: 5, align: 'end', Cell: textCell('cpu')},
	hostMemory: {title: 'HOST', width: 5, align: 'end', Cell: HostMemory},
	time: {title: 'TIME', width: 6, align: 'end', Cell: textCell('time')},
	container: {title: 'CONTAINER', width: 12, Cell: Container},
	command: {title: 'COMMAND', width: 20, Cell: Command},
};

export const processTitles = Object.fromEntries(Object.entries(processColumns).map(([name, {title}]) => [name, title]));

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
export function fittingColumns(width: number, hasContainers: boolean): ReadonlyArray<Column<ProcessSortKey>> {
	const room = {width: width - markerWidth, gap: processGap(width)};
	const wanted = processSortKeys
		.filter((name) => name !== 'container' || hasContainers)
		.map((name) => ({name, width: processColumns[name].width, align: processColumns[name].align}));
	return grown(shrunk(wanted, room, sacrifices), room, growth, 'command');
}

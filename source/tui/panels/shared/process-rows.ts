/** The processes on a GPU, one line each. */
import type {StatusRow} from '../../../core/rules/pool/status.js';
import type {GpuProcess} from '../../../core/model/types.js';
import {shortDuration} from '../../../format/text/durations.js';
import {sanitize} from '../../../format/text/text.js';
import {rowText, type Column} from '../../../format/text/columns.js';
import {truncate} from '../../../format/text/width.js';
import {asTree} from '../../state/processes/rows.js';
import {storeNow, type State} from '../../state/state.js';
import {ellipsisOf, glyphsOf} from '../../widgets/drawing.js';
import {span, type Line} from '../../widgets/styled-text.js';
import {byMemory, gibibytes, processText} from '../../../format/readings.js';

type ColumnName = 'pid' | 'user' | 'load' | 'memory' | 'cpu' | 'time';

type Cells = Readonly<Record<ColumnName, string>>;

/** The columns before the command; `from` how wide a panel each is there. Narrow panels do without what is least asked for. */
const allColumns: ReadonlyArray<Column<ColumnName> & {readonly from?: number}> = [
	{name: 'pid', width: 7},
	{name: 'user', width: 6},
	{name: 'load', width: 3, align: 'end', from: 44},
	{name: 'memory', width: 5, align: 'end'},
	{name: 'cpu', width: 5, align: 'end', from: 56},
	{name: 'time', width: 6, align: 'end', from: 50},
];

/** With this much room names are longer, and columns farther apart. */
const wide = 60;
/** With this much, hardly any name is cut. */
const veryWide = 100;

/** The titles above the cells. */
const processTitles: Cells = {pid: 'PID', user: 'USER', load: '%SM', memory: 'MEM', cpu: 'CPU', time: 'TIME'};

/** All cells of a process but its command, and the blanks before that. */
function joinCells(cells: Cells, state: State, width: number): string {
	const isWide = width >= wide;
	const columns = allColumns
		.filter(({from = 0}) => width >= from)
		.map((column) => (column.name === 'user' && isWide ? {...column, width: width >= veryWide ? 12 : 8} : column));
	const gap = isWide ? 2 : 1;
	return rowText(columns, cells, {gap, ellipsis: ellipsisOf(state)}) + ' '.repeat(gap);
}

const percent = (value: number | undefined): string => (value === undefined ? '-' : String(Math.round(value)));

function timeOf({startTime}: GpuProcess, now: number | undefined): string {
	return startTime === undefined || now === undefined ? '-' : shortDuration(now - startTime);
}

/** What is known of a process, in few characters each. */
export function processCells(process: GpuProcess, state: State): Cells {
	const {pid, user, utilizationPercent, cpuPercent, memoryUsedMiB} = process;
	return {
		pid: String(pid),
		user: sanitize(user ?? '?'),
		load: percent(utilizationPercent),
		memory: memoryUsedMiB === undefined ? 'N/A' : gibibytes(memoryUsedMiB),
		cpu: cpuPercent === undefined ? '-' : `${percent(cpuPercent)}%`,
		time: timeOf(process, storeNow(state)),
	};
}

/** Levels of a tree that are drawn: a deeper one moves no further to the right. */
const deepest = 8;

/** The line that leads from a parent to its child. */
export const branchText = (depth: number, state: State): string =>
	depth === 0 ? '' : `${' '.repeat(2 * Math.min(depth, deepest) - 2)}${glyphsOf(state).branch} `;

function processLine(
	{process, depth}: {readonly process: GpuProcess; readonly depth: number},
	row: StatusRow,
	state: State,
	width: number,
): Line {
	const isSquatter = row.squatters.includes(process);
	const {containerId} = process;
	const cells = processCells(process, state);
	const branch = branchText(depth, state);
	return [
		span(joinCells(cells, state, width), isSquatter ? 'warning' : 'plain'),
		...(branch === '' ? [] : [span(branch, 'dim')]),
		...(isSquatter ? [span('not the holder: ', 'warning')] : []),
		span(processText(process), isSquatter ? 'warning' : 'plain'),
		...(containerId === undefined
			? []
			: [span(`  in ${truncate(sanitize(containerId), 12, ellipsisOf(state))}`, 'dim')]),
	];
}

/** One line a process, below a line of titles where asked for; empty when there are none or they are unknown. */
export function processLines(
	row: StatusRow,
	state: State,
	{width, hasHead}: {readonly width: number; readonly hasHead: boolean},
): readonly Line[] {
	if (row.processes.length === 0) {
		return [];
	}

	const ordered = byMemory(row.processes);
	const placed = state.panels.isTree
		? asTree(ordered.map((process) => ({process, gpu: row.index}))).map(({row: {process}, depth}) => ({process, depth}))
		: ordered.map((process) => ({process, depth: 0}));
	return [
		...(hasHead ? [[span(`${joinCells(processTitles, state, width)}COMMAND`, 'heading')]] : []),
		...placed.map((each) => processLine(each, row, state, width)),
	];
}

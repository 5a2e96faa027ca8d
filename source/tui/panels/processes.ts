/** The panel of the processes: those of all GPUs in one table, a line for each process on each of its GPUs. */
import {
	grown,
	shrunk,
	type Column,
	type GrowthRound,
	type Sacrifice,
	columnNameAt,
	rowText,
} from '../../format/text/columns.js';
import {type ProcessSortKey, type ProcessRow} from '../state/processes/state.js';
import {processRightText} from '../../format/process-right.js';
import {sanitize} from '../../format/text/text.js';
import {fit} from '../../format/text/width.js';
import type {ProcessRight} from '../../core/rules/pool/process-right.js';
import type {State} from '../state/state.js';
import {ellipsisOf} from '../widgets/drawing.js';
import {inBold, loadTone, span, type Line, type Span, type Tone, inTone, lineText} from '../widgets/styled-text.js';
import {gibibytes, processText} from '../../format/readings.js';
import type {Room} from '../regions.js';
import {remembering} from '../state/memo.js';
import {allProcesses, taggedProcesses, visibleProcesses} from '../state/processes/rows.js';
import type {Pointed} from '../state/mouse.js';
import {isFiltered} from '../state/table/state.js';
import {rangeText, windowOf, type PanelBody} from '../widgets/panel-frames.js';
import {branchText, processCells} from './shared/process-rows.js';
import {nothing} from './shared/load-cells.js';
import {orderText} from './shared/order-text.js';

type ProcessColumn = Column<ProcessSortKey>;

/** Short enough for the narrowest form of each column. */
const processTitles: Readonly<Record<ProcessSortKey, string>> = {
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
const markerWidth = 2;

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

/** Containers have a column where there are any. */
const hasContainers = remembering(
	(state: State) => [allProcesses(state)],
	(state) => allProcesses(state).some(({process}) => process.containerId !== undefined),
);

type Table = {readonly columns: readonly ProcessColumn[]; readonly gap: number};

/** The most of the columns that fits into `width`, the marks included. */
function tableOf(state: State, width: number): Table {
	const room = {width: width - markerWidth, gap: width >= leastRoomy ? 2 : 1};
	const wanted = leastColumns.filter(({name}) => name !== 'container' || hasContainers(state));
	return {columns: grown(shrunk(wanted, room, sacrifices), room, growth, 'command'), gap: room.gap};
}

/** Whether someone ought to do something about it. */
export const isAlarming = (right: ProcessRight): boolean => right === 'not-holder' || right === 'unreserved';

const rightTones: Readonly<Record<ProcessRight, Tone>> = {
	'not-holder': 'warning',
	unreserved: 'warning',
	unknown: 'dim',
	little: 'dim',
	desktop: 'dim',
	holder: 'plain',
};

function userCell({process, right}: ProcessRow, {settings}: State): Span {
	const words = sanitize(process.user ?? '?');
	return span(words, isAlarming(right) ? 'warning' : process.user === settings.requester.account ? 'mine' : 'plain');
}

function memoryCell({process, row}: ProcessRow, words: string): Span {
	const total = row.reading?.memoryTotalMiB;
	return process.memoryUsedMiB === undefined
		? span(words, 'dim')
		: span(words, total === undefined ? 'plain' : loadTone('memory', process.memoryUsedMiB / total));
}

/** What stands in each column of a row, of any width. */
function cellsOf(placed: ProcessRow, state: State): Readonly<Record<ProcessSortKey, Span>> {
	const {process, row, right} = placed;
	const cells = processCells(process, state);
	const {utilizationPercent, hostMemoryMiB, containerId} = process;
	return {
		gpu: span(String(row.index), 'strong'),
		pid: span(cells.pid),
		user: userCell(placed, state),
		right: span(processRightText[right].short, rightTones[right]),
		load: utilizationPercent === undefined ? nothing : span(cells.load, loadTone('load', utilizationPercent / 100)),
		memory: memoryCell(placed, cells.memory),
		cpu: cells.cpu === '-' ? nothing : span(cells.cpu),
		hostMemory: hostMemoryMiB === undefined ? nothing : span(gibibytes(hostMemoryMiB)),
		time: cells.time === '-' ? nothing : span(cells.time),
		container: containerId === undefined ? nothing : span(sanitize(containerId)),
		command: span(branchText(placed.depth, state) + processText(process), isAlarming(right) ? 'warning' : 'plain'),
	};
}

/** The cells of a row, each exactly as wide as its column, with blanks between them. */
function cellsLine(placed: ProcessRow, {columns, gap}: Table, state: State): Line {
	const cells = cellsOf(placed, state);
	const ellipsis = ellipsisOf(state);
	return columns.flatMap(({name, width, align}, index): Line => {
		const {text, tone} = cells[name];
		const piece = span(fit(text, width, align, ellipsis), tone);
		return index === 0 ? [piece] : [span(' '.repeat(gap)), piece];
	});
}

const headOf = ({columns, gap}: Table): Line => [
	span(' '.repeat(markerWidth) + rowText(columns, processTitles, {gap}), 'heading'),
];

function lineOf(placed: ProcessRow, isSelected: boolean, state: State, table: Table): Line {
	const marks = `${isSelected ? '>' : ' '}${state.processes.tags.has(placed.key) ? '*' : ' '}`;
	const cells = cellsLine(placed, table, state);
	const line = state.scanFailure === undefined ? cells : inTone(cells, 'dim');
	const [first, ...rest] = line;
	return isSelected
		? [span(`${marks}${lineText([first!])}`, 'marked'), ...inBold(rest)]
		: [span(marks, 'key'), ...line];
}

function emptyText({processes: {filter}, observation}: State): string {
	if (isFiltered(filter)) {
		return 'No process matches; Esc clears the filter';
	}

	return observation !== undefined &&
		observation.gpus.length > 0 &&
		observation.gpus.every(({place}) => place !== undefined)
		? 'what runs on the nodes is not read from here'
		: 'no process is seen on any GPU';
}

/** What is at this line and column of the panel: a process, or the heading of a column. */
export function processAt(
	state: State,
	{rows, width}: Room,
	{column, line}: {readonly column: number; readonly line: number},
): Pointed | undefined {
	if (line === 0) {
		const {columns, gap} = tableOf(state, width);
		const name = columnNameAt(columns, column - markerWidth, gap);
		return name === undefined ? undefined : {on: 'heading', panel: 'processes', key: name};
	}

	const total = visibleProcesses(state).length;
	const {from, to} = windowOf(firstShown(state), {total, shown: rows - 1});
	const position = from + line - 1;
	return position < to ? {on: 'row', panel: 'processes', index: position} : undefined;
}

/** The rows follow the selection only while they have the focus. */
const firstShown = ({panels, processes}: State): number => (panels.focus === 'processes' ? processes.firstRow : 0);

/** A head, and below it as many processes as there is room for. */
export function processesPanel(state: State, {rows, width}: Room): PanelBody {
	const all = visibleProcesses(state);
	const table = tableOf(state, width);
	const {sort, filter, position} = state.processes;
	const isFocused = state.panels.focus === 'processes';
	const {from, to} = windowOf(firstShown(state), {total: all.length, shown: rows - 1});
	const lines = all
		.slice(from, to)
		.map((placed, index) => lineOf(placed, isFocused && from + index === position, state, table));
	return {
		beside: orderText({sort, filter, tagged: taggedProcesses(state).length}, (key) => processTitles[key]),
		lines: [headOf(table), ...(all.length === 0 ? [[span(`  ${emptyText(state)}`, 'dim')]] : lines)],
		end: rangeText(from, to, all.length),
	};
}

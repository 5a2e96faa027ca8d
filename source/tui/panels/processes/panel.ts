/** The panel of the processes: those of all GPUs in one table, a line for each process on each of its GPUs. */
import {columnNameAt} from '../../../format/text/columns.js';
import {fit} from '../../../format/text/width.js';
import type {Room} from '../../layout.js';
import {remembering} from '../../state/memo.js';
import {allProcesses, taggedProcesses, visibleProcesses} from '../../state/processes/rows.js';
import {processSortKeys, type ProcessRow, type ProcessSortKey} from '../../state/processes/state.js';
import type {Pointed} from '../../state/mouse.js';
import type {State} from '../../state/state.js';
import {isFiltered} from '../../state/table/state.js';
import {rangeText, windowOf} from '../../widgets/scroll.js';
import {inTone, lineText, span, type Line} from '../../widgets/styled-text.js';
import {orderText} from '../shared/order-text.js';
import type {PanelBody} from '../shared/panel-body.js';
import {gapOf, markerWidth, processColumnsFor, processTitles, type ProcessColumn} from './columns.js';
import {processCellsLine} from './cells.js';

const allNames: ReadonlySet<ProcessSortKey> = new Set(processSortKeys);
const namesWithoutContainer: ReadonlySet<ProcessSortKey> = new Set(
	processSortKeys.filter((key) => key !== 'container'),
);

/** Containers have a column where there are any. */
const namesOf = remembering(
	(state: State) => [allProcesses(state)],
	(state) =>
		allProcesses(state).some(({process}) => process.containerId !== undefined) ? allNames : namesWithoutContainer,
);

type Table = {readonly columns: readonly ProcessColumn[]; readonly gap: number};

function headOf({columns, gap}: Table): Line {
	const cells = columns.map(({name, width: cellWidth, align}) => fit(processTitles[name], cellWidth, align));
	return [span(' '.repeat(markerWidth) + cells.join(' '.repeat(gap)), 'heading')];
}

/** The selected line stands out, beside its mark. */
const inBold = (line: Line): Line => line.map(({text, tone}) => ({text, tone: tone === 'plain' ? 'strong' : tone}));

function lineOf(placed: ProcessRow, isSelected: boolean, state: State, {columns, gap}: Table): Line {
	const marks = `${isSelected ? '>' : ' '}${state.processes.tags.has(placed.key) ? '*' : ' '}`;
	const cells = processCellsLine(placed, columns, gap, state);
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
		const name = columnNameAt(processColumnsFor(width, namesOf(state)), column - markerWidth, gapOf(width));
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
	const table: Table = {columns: processColumnsFor(width, namesOf(state)), gap: gapOf(width)};
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

/** The cells of the table of GPUs. */
import type {StatusRow} from '../../../core/rules/pool/status.js';
import {seriesOf} from '../../../core/live/utilization-history.js';
import {migText} from '../../../format/status-labels.js';
import {isOver, sharesText} from '../../../format/shares.js';
import {shortDuration} from '../../../format/text/durations.js';
import {sanitize} from '../../../format/text/text.js';
import {truncate, widthOf} from '../../../format/text/width.js';
import type {State} from '../../state/state.js';
import {gpuText, meanOf, membersOf, type TableRow} from '../../state/table/fold.js';
import {tagOf} from '../../state/table/state.js';
import {ellipsisOf} from '../../widgets/drawing.js';
import {sparkline} from '../../widgets/graph.js';
import {span, type Line, type Span} from '../../widgets/styled-text.js';
import {byMemory, processText, shortBusId, shortModel} from '../../../format/readings.js';
import {
	areProcessesHidden,
	endText,
	faultOf,
	noteText,
	ownerText,
	placeText,
	serviceText,
	stateWord,
} from '../shared/labels.js';
import {fitCell, memoryCell, nothing, temperatureCell, utilizationCell} from '../shared/load-cells.js';
import type {GpuColumn, ColumnName} from './columns.js';

/** However many they are, the count is in view. */
function gpuNumbers(row: TableRow, width: number, ellipsis: string): string {
	const words = gpuText(row);
	const count = words.indexOf(' ');
	return widthOf(words) <= width || count === -1
		? words
		: truncate(words.slice(0, count), width - (words.length - count), ellipsis) + words.slice(count);
}

type Series = ReadonlyArray<number | undefined>;

/** The mean of what is known of several GPUs, column by column. */
const meanSeries = (all: readonly Series[]): Series =>
	all[0]!.map((_, column) => meanOf(all.map((series) => series[column])));

/** `8 GPUs of box1, box2`: the nodes of a job. */
function nodeText(members: readonly StatusRow[]): string | undefined {
	const nodes = [...new Set(members.map(({reading}) => reading?.place?.node).filter((node) => node !== undefined))];
	return nodes.length === 0 ? undefined : sanitize(`${members.length} GPUs of ${nodes.join(', ')}`);
}

/** The largest process, how many more there are, and before them whatever is wrong. */
function processCell(row: TableRow, isScanned: boolean): Span {
	const fault = faultOf(row);
	if (fault !== undefined && isScanned) {
		return span(sanitize(fault), 'error');
	}

	const service = serviceText(row);
	return service !== undefined && (row.processes.length === 0 || row.health.length > 0) ? service : useSpan(row);
}

/** Who uses it against the right of another, who shares it, or the largest process, and how many more there are. */
export function useSpan(row: TableRow): Span {
	const [squatter] = byMemory(row.squatters);
	if (squatter !== undefined) {
		return span(`! ${sanitize(squatter.user ?? '')}: ${processText(squatter)}`, 'warning');
	}

	const shared = sharesText(row, {isOverFirst: true});
	if (shared !== undefined) {
		return span(shared, row.shares!.some((share) => isOver(share)) ? 'warning' : 'plain');
	}

	const place = row.members === undefined ? placeText(row) : nodeText(row.members);
	if (place !== undefined) {
		return span(place);
	}

	const [first, ...others] = byMemory(row.processes);
	const parts = migText(row.reading);
	if (first !== undefined) {
		const words = processText(first) + (others.length > 0 ? ` +${others.length}` : '');
		return span(parts === undefined ? words : `MIG: ${words}`);
	}

	return parts === undefined ? (areProcessesHidden(row) ? span('hidden', 'dim') : nothing) : span(parts);
}

type CellOf = (row: TableRow, column: GpuColumn, state: State) => Line;

/** What stands in each column of a row. */
const cells: Readonly<Record<ColumnName, CellOf>> = {
	gpu: (row, {width}, state) => [span(gpuNumbers(row, width, ellipsisOf(state)), 'strong')],
	state: (row, _, {settings, observation}) => [stateWord(row, settings.requester, observation !== undefined)],
	owner: (row, _, {settings}) => [ownerText(row, settings.requester)],
	kind: ({lease}) => [lease ? span(lease.type === 'run' ? 'RUN' : 'MANUAL') : nothing],
	held: ({heldSeconds}) => [heldSeconds === undefined ? nothing : span(shortDuration(heldSeconds))],
	ends: (row) => [endText(row)],
	utilization: ({reading}, column, state) => utilizationCell(reading?.utilizationPercent, column, state),
	memory: ({reading}, column, state) =>
		memoryCell({usedMiB: reading?.memoryUsedMiB, totalMiB: reading?.memoryTotalMiB}, column, state),
	temperature: ({reading}) => [temperatureCell(reading?.temperatureCelsius)],
	power: ({reading}) => [reading?.powerWatts === undefined ? nothing : span(`${Math.round(reading.powerWatts)}W`)],
	history: (row, {width}, {history, nowMs, settings}) =>
		sparkline(
			meanSeries(
				membersOf(row).map(({index, reading}) =>
					seriesOf(history, tagOf(index, reading), 'utilization', {columns: width, nowMs}),
				),
			),
			settings.isAscii,
		),
	note(row) {
		const note = noteText(row);
		return [note === '' ? nothing : span(note)];
	},
	model: ({reading}) => [reading?.name === undefined ? nothing : span(shortModel(reading.name))],
	fan: ({reading}) => [reading?.fanPercent === undefined ? nothing : span(`${Math.round(reading.fanPercent)}%`)],
	clock: ({reading}) => [reading?.smClockMHz === undefined ? nothing : span(`${Math.round(reading.smClockMHz)}MHz`)],
	pci: ({reading}) => [reading?.pciBusId === undefined ? nothing : span(shortBusId(reading.pciBusId))],
	numa: ({reading}) => [reading?.numaNode === undefined ? nothing : span(String(reading.numaNode))],
	process: (row, _, {observation}) => [processCell(row, observation !== undefined)],
};

/** The cell of a row in a column, exactly as wide as the column. */
export const gpuCell = (row: TableRow, column: GpuColumn, state: State): Line =>
	fitCell(cells[column.name](row, column, state), column, ellipsisOf(state));

/** The panel of GPUs. Its table has a row for each GPU, or for each reservation of several GPUs. */
import {useMemo, type ReactElement} from 'react';
import {Box} from 'ink';
import {gpuColumnNames, usualGpuColumns, type GpuColumnName} from '../../../format/monitor-settings.js';
import {commonMemory, gibibytes, shortModel} from '../../../format/readings.js';
import type {Column, GrowthRound, Sacrifice} from '../../../format/text/columns.js';
import {widthOf} from '../../../format/text/width.js';
import {layoutOf, tableRowsOf} from '../../layout.js';
import {gpuText, type TableRow} from '../../state/gpus/fold.js';
import {gpuTable, visibleRows} from '../../state/gpus/rows.js';
import type {State} from '../../state/state.js';
import {isFiltered} from '../../state/table/state.js';
import {useMonitor} from '../../state/use-monitor.js';
import {shownColumns} from '../../state/view/state.js';
import {blockWidthOf, DataTable, type CellProperties, type DataColumn} from '../../table/data-table.js';
import {Label, type Emphasis} from '../../widgets/label.js';
import {PanelFrame, useInnerWidth, type PanelProperties} from '../shared/panel-frame.js';
import {leastWithBar} from '../shared/readings.js';
import {fitColumns, TableOrder, useTable} from '../../table/table-panel.js';
import {isRepeated} from './cells.js';
import {gpuColumns} from './columns.js';

/**
Columns that shrink or disappear if space is short, in this order. The GPU, its state, its owner and its load always stay. A load that is only 8 or 4
terminal columns wide is a number without a bar.
*/
const sacrifices: ReadonlyArray<Sacrifice<GpuColumnName>> = [
	['note', 0],
	['history', 0],
	['power', 0],
	['kind', 0],
	['held', 0],
	['process', 14],
	['memory', 8, 'at once'],
	['utilization', 4, 'at once'],
	['process', 0],
	// These columns disappear last, because they are shown only if the user chose them or if the GPU models differ.
	['pci', 0],
	['numa', 0],
	['clock', 0],
	['fan', 0],
	['model', 0],
	['temperature', 0],
	['ends', 0],
	['owner', 4],
];

/** The rounds in which the columns share spare width. A column without a width for a round does not grow in that round. */
const growth = Array.from(
	{length: Math.max(...gpuColumnNames.map((name) => gpuColumns[name].growth?.length ?? 0))},
	(_, round): GrowthRound<GpuColumnName> =>
		Object.fromEntries(gpuColumnNames.map((name) => [name, gpuColumns[name].growth?.[round]])),
);

/** The facts, other than the width, that decide which columns fit. */
type GpuColumnNeeds = {
	readonly chosen?: readonly GpuColumnName[];
	/** Length of the longest list of GPUs in a row. */
	readonly gpu?: number;
	/** Length of the longest name of a model. */
	readonly model?: number;
};

/** Maximum width of a list of GPUs. A longer list is shortened, but still ends in the number of GPUs. */
const mostGpuWidth = 14;
const leastModelWidth = 5;
const mostModelWidth = 24;

const within = (width: number, least: number, most: number): number => Math.max(least, Math.min(width, most));

/** Returns as many of the chosen columns as fit into `width`, with the width of each. */
export function fittingColumns(
	width: number,
	{chosen = usualGpuColumns, gpu = 0, model = gpuColumns.model.width}: GpuColumnNeeds = {},
): ReadonlyArray<Column<GpuColumnName>> {
	const needed: Partial<Record<GpuColumnName, number>> = {
		gpu: within(gpu, gpuColumns.gpu.width, mostGpuWidth),
		model: within(model, leastModelWidth, gpuColumns.model.width),
	};
	const least = chosen.map((name) => ({
		name,
		width: needed[name] ?? gpuColumns[name].width,
		align: gpuColumns[name].align,
	}));
	const rounds = growth.map((round) => ({...round, model: Math.min(model, mostModelWidth)}));
	return fitColumns(width, least, {sacrifices, growth: rounds, last: ['process', 'note', 'owner']});
}

const longest = (rows: readonly TableRow[], textOf: (row: TableRow) => string): number =>
	Math.max(0, ...rows.map((row) => widthOf(textOf(row))));

function useColumns(width: number): ReadonlyArray<DataColumn<TableRow>> {
	const rows = useMonitor(gpuTable.drawn);
	const chosen = useMonitor(shownColumns);
	const isStale = useMonitor(({connection}) => connection.kind === 'lost');
	const hasScanFailed = useMonitor(({scanFailure}) => scanFailure !== undefined);
	const memory = useMonitor(({observation}) => commonMemory(observation?.gpus ?? []));
	const gpu = longest(rows, gpuText);
	const model = longest(rows, ({reading}) => shortModel(reading?.name ?? ''));
	return useMemo(
		() =>
			fittingColumns(width, {chosen, gpu, model}).map(({name, width: columnWidth, align}): DataColumn<TableRow> => {
				const {title, source, isOfReservation = false, Cell} = gpuColumns[name];
				const isOld = (source === 'store' && isStale) || (source === 'tool' && hasScanFailed);
				const emphasisOf = isOld
					? (): Emphasis => 'old'
					: isOfReservation
						? (cell: CellProperties<TableRow>): Emphasis => (isRepeated(cell) ? 'repeated' : 'normal')
						: undefined;
				const hasMemory = name === 'memory' && columnWidth >= leastWithBar && memory !== undefined;
				// The column of the owner begins with a blank, in which the line that connects the GPUs of a reservation is drawn.
				const isOwner = name === 'owner';
				return {
					name,
					title: hasMemory ? `${title}/${gibibytes(memory)}` : isOwner ? ` ${title}` : title,
					width: isOwner ? columnWidth + 1 : columnWidth,
					gap: isOwner ? 0 : 1,
					align,
					Cell,
					emphasisOf,
				};
			}),
		[width, chosen, gpu, model, isStale, hasScanFailed, memory],
	);
}

/** Shows the table. `width` is in terminal columns, and `height` in lines including the head. */
export function GpuTable({width, height}: {readonly width: number; readonly height: number}): ReactElement {
	const filter = useMonitor((state) => state.gpus.filter);
	const blocks = useMonitor((state) => layoutOf(state).tableColumns);
	const columns = useColumns(blockWidthOf(width, blocks));
	const {table} = useTable('gpus', blocks * (height - 1));
	return (
		<DataTable
			{...table}
			columns={columns}
			height={height}
			width={width}
			blocks={blocks}
			empty={isFiltered(filter) ? <Label tone="dim">No GPU matches; Esc clears the filter</Label> : undefined}
		/>
	);
}

const hasFoldedRows = (state: State): boolean => visibleRows(state).some(({members}) => members !== undefined);

function Order(): ReactElement {
	const {preset} = useMonitor(({view}) => view);
	const hasFolds = useMonitor(hasFoldedRows);
	return (
		<>
			{preset === 'default' ? undefined : (
				<Label>
					preset <Label tone="strong">{preset}</Label>
				</Label>
			)}
			<TableOrder name="gpus" columns={gpuColumns} />
			{hasFolds ? (
				// Shrinks before the order and the filter do.
				<Box flexShrink={8}>
					<Label>
						by reservation <Label tone="key">g</Label>
					</Label>
				</Box>
			) : undefined}
		</>
	);
}

export function GpusPanel({width, rows: height}: PanelProperties): ReactElement {
	const innerWidth = useInnerWidth(width);
	const {range} = useTable('gpus', useMonitor(tableRowsOf));
	const hasFolds = useMonitor(hasFoldedRows);
	return (
		<PanelFrame
			name="gpus"
			beside={<Order />}
			end={hasFolds && range !== '' ? `${range} rows` : range}
			width={width}
			rows={height}
		>
			<GpuTable width={innerWidth} height={height} />
		</PanelFrame>
	);
}

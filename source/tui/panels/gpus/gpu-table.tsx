/** The table of GPUs. It has a row for each GPU, or for each reservation of several GPUs. */
import {useMemo, type ReactElement} from 'react';
import {commonMemory, gibibytes, shortModel} from '../../../format/readings.js';
import {widthOf} from '../../../format/text/width.js';
import {layoutOf} from '../../layout.js';
import {gpuText, type TableRow} from '../../state/gpus/fold.js';
import {visibleRows} from '../../state/gpus/rows.js';
import {isFiltered} from '../../state/table/state.js';
import {useMonitor} from '../../state/use-monitor.js';
import {shownColumns} from '../../state/view/state.js';
import {blockWidthOf, DataTable, type CellProperties, type DataColumn} from '../../table/data-table.js';
import {useTable} from '../../table/use-table.js';
import {Label, type Emphasis} from '../../widgets/label.js';
import {leastWithBar} from '../shared/readings.js';
import {isRepeated} from './cells.js';
import {gpuColumns} from './columns.js';
import {fittingColumns} from './fit.js';

const longest = (rows: readonly TableRow[], textOf: (row: TableRow) => string): number =>
	Math.max(0, ...rows.map((row) => widthOf(textOf(row))));

function useColumns(width: number): ReadonlyArray<DataColumn<TableRow>> {
	const rows = useMonitor(visibleRows);
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
				// The line that connects the GPUs of a reservation is drawn in the blank before the owner.
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

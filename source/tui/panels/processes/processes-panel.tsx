/** The panel of processes. A process has a row for each GPU that it uses. */
import {useMemo, type ReactElement} from 'react';
import {allProcesses, processTable} from '../../state/processes/rows.js';
import type {ProcessRow} from '../../state/processes/state.js';
import {remembering} from '../../state/memo.js';
import type {State} from '../../state/state.js';
import {isFiltered} from '../../state/table/state.js';
import {useMonitor} from '../../state/use-monitor.js';
import {DataTable, type DataColumn} from '../../table/data-table.js';
import {useTable} from '../../table/use-table.js';
import {Label} from '../../widgets/label.js';
import {PanelFrame, useInnerWidth, type PanelProperties} from '../shared/panel-frame.js';
import {TableOrder} from '../shared/table-order.js';
import {fittingColumns, processColumns, processGap} from './columns.js';

const hasContainers = remembering(
	(state: State) => [allProcesses(state)],
	(state) => allProcesses(state).some(({process}) => process.containerId !== undefined),
);

function emptyText({processes: {filter}, observation}: State): string {
	if (isFiltered(filter)) {
		return 'No process matches; Esc clears the filter';
	}

	return observation !== undefined &&
		observation.gpus.length > 0 &&
		observation.gpus.every(({place}) => place !== undefined)
		? 'processes on the nodes cannot be read from here'
		: 'no GPU has a visible process';
}

function useColumns(width: number): ReadonlyArray<DataColumn<ProcessRow>> {
	const withContainers = useMonitor(hasContainers);
	const hasScanFailed = useMonitor(({scanFailure}) => scanFailure !== undefined);
	return useMemo(
		() =>
			fittingColumns(width, withContainers).map((column): DataColumn<ProcessRow> => ({
				...column,
				title: processColumns[column.name].title,
				gap: processGap(width),
				Cell: processColumns[column.name].Cell,
				emphasisOf: hasScanFailed ? () => 'old' : undefined,
			})),
		[width, withContainers, hasScanFailed],
	);
}

/** Adds the order and the filter to the panel's title. */
function Order(): ReactElement {
	const sort = useMonitor(({processes}) => processes.sort);
	const filter = useMonitor(({processes}) => processes.filter);
	const tagged = useMonitor((state) => processTable.tagged(state).length);
	return <TableOrder sort={sort} filter={filter} tagged={tagged} titleOf={(name) => processColumns[name].title} />;
}

export function ProcessesPanel({width, rows: height}: PanelProperties): ReactElement {
	const innerWidth = useInnerWidth(width);
	const empty = useMonitor(emptyText);
	const columns = useColumns(innerWidth);
	const {table, range} = useTable('processes', height - 1);
	return (
		<PanelFrame name="processes" beside={<Order />} end={range} width={width} rows={height}>
			<DataTable
				{...table}
				columns={columns}
				height={height}
				width={innerWidth}
				empty={<Label tone="dim">{empty}</Label>}
			/>
		</PanelFrame>
	);
}

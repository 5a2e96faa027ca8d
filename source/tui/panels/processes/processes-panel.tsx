/** The panel of processes. A process has a row for each GPU that it uses. */
import {useMemo, type ReactElement} from 'react';
import {allProcesses} from '../../state/processes/rows.js';
import type {ProcessRow} from '../../state/processes/state.js';
import {remembering} from '../../state/memo.js';
import type {State} from '../../state/state.js';
import {isFiltered} from '../../state/table/state.js';
import {useMonitor} from '../../state/use-monitor.js';
import type {DataColumn} from '../../table/data-table.js';
import {useInnerWidth, type PanelProperties} from '../shared/panel-frame.js';
import {TablePanel} from '../../table/table-panel.js';
import {fittingColumns, processColumns, processGap, processTitles} from './columns.js';

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

export function ProcessesPanel(properties: PanelProperties): ReactElement {
	const columns = useColumns(useInnerWidth(properties.width));
	return <TablePanel {...properties} name="processes" columns={columns} titles={processTitles} emptyText={emptyText} />;
}

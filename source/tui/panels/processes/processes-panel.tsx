/** The panel of processes. A process has a row for each GPU that it uses. */
import type {ReactElement} from 'react';
import {allProcesses} from '../../state/processes/rows.js';
import type {ProcessRow} from '../../state/processes/state.js';
import {remembering} from '../../state/memo.js';
import type {State} from '../../state/state.js';
import {isFiltered} from '../../state/table/state.js';
import {useMonitor} from '../../state/use-monitor.js';
import type {Fit} from '../../table/fit-columns.js';
import {Label} from '../../widgets/label.js';
import {useInnerWidth, type PanelProperties} from '../shared/panel-frame.js';
import {TablePanel, type TableColumn} from '../shared/table-panel.js';
import {Command, Container, HostMemory, Load, Memory, Right, textCell, User} from './process-cells.js';

const columns = {
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
} as const satisfies Readonly<Record<string, TableColumn<ProcessRow>>>;

const fit: Fit<keyof typeof columns> = {
	sacrifices: [
		['container', 0],
		['hostMemory', 0],
		['cpu', 0],
		['time', 0],
		['command', 12],
		['right', 0],
		['load', 0],
		['command', 1],
		['user', 4],
	],
	growth: [{user: 12, command: 40}, {user: 16}],
	last: ['command'],
};

/** Minimum width of the table for wider gaps between columns. */
const leastRoomy = 110;
const roomyFit = {...fit, gap: 2};

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
		? 'what runs on the nodes is not read from here'
		: 'no process is seen on any GPU';
}

export function ProcessesPanel(place: PanelProperties): ReactElement {
	const isRoomy = useInnerWidth(place.width) >= leastRoomy;
	const withContainers = useMonitor(hasContainers);
	const isOld = useMonitor(({scanFailure}) => scanFailure !== undefined);
	const empty = useMonitor(emptyText);
	return (
		<TablePanel
			{...place}
			name="processes"
			columns={columns}
			fit={isRoomy ? roomyFit : fit}
			hidden={withContainers ? undefined : 'container'}
			isOld={isOld}
			empty={empty}
		/>
	);
}

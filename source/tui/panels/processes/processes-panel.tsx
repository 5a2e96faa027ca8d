/** The panel of processes. A process has a row for each GPU that it uses. */
import type {ReactElement, ComponentType} from 'react';
import type {ProcessRight} from '../../../core/rules/pool/process-right.js';
import {processRightText} from '../../../format/process-right.js';
import {gibibytes, processText} from '../../../format/readings.js';
import {sanitize} from '../../../format/text/text.js';
import {remembering} from '../../state/memo.js';
import {allProcesses} from '../../state/processes/rows.js';
import type {ProcessRow} from '../../state/processes/state.js';
import {storeNow, type State} from '../../state/state.js';
import {isFiltered} from '../../state/table/state.js';
import {useMonitor, useSettings} from '../../state/use-monitor.js';
import type {CellProperties} from '../../table/data-table.js';
import {loadTone, type Tone} from '../../themes/tones.js';
import {Label} from '../../widgets/label.js';
import {useInnerWidth, type PanelProperties} from '../shared/panel-frame.js';
import {Branch, processCells} from '../shared/process-cells.js';
import {Nothing, Value} from '../shared/readings.js';
import {TablePanel, type Fit, type TableColumn} from '../../table/table-panel.js';

type Properties = CellProperties<ProcessRow>;

export const isAlarming = (right: ProcessRight): boolean => right === 'not-holder' || right === 'unreserved';

const rightTones: Readonly<Record<ProcessRight, Tone>> = {
	'not-holder': 'warning',
	unreserved: 'warning',
	unknown: 'dim',
	little: 'dim',
	desktop: 'dim',
	holder: 'plain',
};

function User({row: {process, right}}: Properties): ReactElement {
	const {account} = useSettings().requester;
	const tone = isAlarming(right) ? 'warning' : process.user === account ? 'mine' : 'plain';
	return <Label tone={tone}>{sanitize(process.user ?? '?')}</Label>;
}

function Memory({row: {process, row}}: Properties): ReactElement {
	const total = row.reading?.memoryTotalMiB;
	const {memoryUsedMiB} = process;
	const tone =
		memoryUsedMiB === undefined ? 'dim' : total === undefined ? 'plain' : loadTone('memory', memoryUsedMiB / total);
	return <Label tone={tone}>{processCells(process, undefined).memory}</Label>;
}

function Load({row: {process}}: Properties): ReactElement {
	const {utilizationPercent} = process;
	return utilizationPercent === undefined ? (
		<Nothing />
	) : (
		<Label tone={loadTone('load', utilizationPercent / 100)}>{Math.round(utilizationPercent)}</Label>
	);
}

const textCell = (name: 'cpu' | 'time'): ComponentType<Properties> =>
	function TextCell({row: {process}}) {
		const now = useMonitor(storeNow);
		return <Value>{processCells(process, now)[name]}</Value>;
	};

function Command({row: {process, right, depth}}: Properties): ReactElement {
	return (
		<Label tone={isAlarming(right) ? 'warning' : 'plain'}>
			<Branch depth={depth} />
			{processText(process)}
		</Label>
	);
}

const Right = ({row: {right}}: Properties): ReactElement => (
	<Label tone={rightTones[right]}>{processRightText[right].short}</Label>
);

const HostMemory = ({row: {process}}: Properties): ReactElement => (
	<Value>{process.hostMemoryMiB === undefined ? undefined : gibibytes(process.hostMemoryMiB)}</Value>
);

const Container = ({row: {process}}: Properties): ReactElement => <Value>{sanitize(process.containerId ?? '')}</Value>;

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
		? 'processes on the nodes cannot be read from here'
		: 'no GPU has a visible process';
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

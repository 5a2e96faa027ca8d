/** The panel of detached jobs. It is shown alone, when its key is pressed. */
import type {ComponentType, ReactElement} from 'react';
import type {JobState} from '../../../core/model/jobs.js';
import type {JobRow} from '../../../core/rules/jobs/rows.js';
import {detailsCell, timeText} from '../../../format/jobs.js';
import {sanitize} from '../../../format/text/text.js';
import {storeNow, type State} from '../../state/state.js';
import {isFiltered} from '../../state/table/state.js';
import {useMonitor, useSettings} from '../../state/use-monitor.js';
import type {CellProperties} from '../../table/data-table.js';
import type {Tone} from '../../themes/tones.js';
import {Label} from '../../widgets/label.js';
import type {PanelProperties} from '../shared/panel-frame.js';
import {Value} from '../shared/readings.js';
import {TablePanel, type Fit, type TableColumn} from '../../table/table-panel.js';

type Properties = CellProperties<JobRow>;

const stateTones: Readonly<Record<JobState, Tone>> = {
	running: 'free',
	pending: 'plain',
	queued: 'plain',
	completed: 'dim',
	cancelled: 'dim',
	failed: 'error',
	timeout: 'error',
	lost: 'error',
};

function User({row}: Properties): ReactElement {
	const {account} = useSettings().requester;
	return <Label tone={row.account === account ? 'mine' : 'plain'}>{sanitize(row.account)}</Label>;
}

const textCell = (textOf: (row: JobRow, now: number) => string): ComponentType<Properties> =>
	function TextCell({row}) {
		return <Value>{useMonitor((state) => textOf(row, storeNow(state) ?? row.submitTime))}</Value>;
	};

const columns = {
	id: {title: 'ID', width: 6, Cell: ({row}) => <Label tone="strong">{sanitize(row.id)}</Label>},
	state: {title: 'STATE', width: 9, Cell: ({row}) => <Label tone={stateTones[row.state]}>{row.state}</Label>},
	user: {title: 'USER', width: 8, Cell: User},
	gpus: {title: 'GPUS', width: 4, align: 'end', Cell: ({row}) => <Value>{row.count?.toString()}</Value>},
	time: {title: 'TIME', width: 6, align: 'end', Cell: textCell(timeText)},
	command: {title: 'COMMAND', width: 24, Cell: ({row}) => <Label>{sanitize(row.command)}</Label>},
	details: {title: 'DETAILS', width: 20, Cell: textCell(detailsCell)},
} as const satisfies Readonly<Record<string, TableColumn<JobRow>>>;

const fit: Fit<keyof typeof columns> = {
	sacrifices: [
		['command', 12],
		['details', 12],
		['gpus', 0],
		['user', 4],
		['command', 1],
	],
	growth: [{user: 12, command: 34}, {id: 10}],
	last: ['details'],
	gap: 2,
};

function emptyText({jobs: {filter}, seenJobs}: State): string {
	if (seenJobs?.problem !== undefined) {
		return `The jobs cannot be read: ${seenJobs.problem}`;
	}

	if (isFiltered(filter)) {
		return 'No job matches; Esc clears the filter';
	}

	return seenJobs === undefined
		? 'reading the jobs'
		: 'no job is waiting or running, and none ended in the last day; to submit one: canhazgpu run --detach -- COMMAND';
}

export function JobsPanel(place: PanelProperties): ReactElement {
	const empty = useMonitor(emptyText);
	const isOld = useMonitor(({connection, seenJobs}) => connection.kind === 'lost' || seenJobs?.problem !== undefined);
	return <TablePanel {...place} name="jobs" columns={columns} fit={fit} isOld={isOld} empty={empty} />;
}

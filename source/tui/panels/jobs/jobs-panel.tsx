/** The panel of detached jobs. It is shown alone, when its key is pressed. */
import {useMemo, type ComponentType, type ReactElement} from 'react';
import type {JobState} from '../../../core/model/jobs.js';
import type {JobRow} from '../../../core/rules/jobs/rows.js';
import {detailsCell, timeText} from '../../../format/jobs.js';
import {sanitize} from '../../../format/text/text.js';
import type {JobSortKey} from '../../state/jobs/state.js';
import {storeNow, type State} from '../../state/state.js';
import {isFiltered} from '../../state/table/state.js';
import {useMonitor, useSettings} from '../../state/use-monitor.js';
import type {CellProperties, DataColumn} from '../../table/data-table.js';
import type {Tone} from '../../themes/tones.js';
import {Label} from '../../widgets/label.js';
import {useInnerWidth, type PanelProperties} from '../shared/panel-frame.js';
import {Nothing} from '../shared/readings.js';
import {TablePanel} from '../../table/table-panel.js';
import {jobColumns, jobTitles} from './columns.js';

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
		const text = useMonitor((state) => textOf(row, storeNow(state) ?? row.submitTime));
		return text === '-' ? <Nothing /> : <Label>{text}</Label>;
	};

const cells: Readonly<Record<JobSortKey, ComponentType<Properties>>> = {
	id: ({row}) => <Label tone="strong">{sanitize(row.id)}</Label>,
	state: ({row}) => <Label tone={stateTones[row.state]}>{row.state}</Label>,
	user: User,
	gpus: ({row}) => (row.count === undefined ? <Nothing /> : <Label>{row.count}</Label>),
	time: textCell(timeText),
	command: ({row}) => <Label>{sanitize(row.command)}</Label>,
	details: textCell(detailsCell),
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

export function JobsPanel(properties: PanelProperties): ReactElement {
	const innerWidth = useInnerWidth(properties.width);
	const isOld = useMonitor(({connection, seenJobs}) => connection.kind === 'lost' || seenJobs?.problem !== undefined);
	const columns = useMemo(
		() =>
			jobColumns(innerWidth).map((column): DataColumn<JobRow> => ({
				...column,
				title: jobTitles[column.name],
				gap: 2,
				Cell: cells[column.name],
				emphasisOf: isOld ? () => 'old' : undefined,
			})),
		[innerWidth, isOld],
	);
	return <TablePanel {...properties} name="jobs" columns={columns} titles={jobTitles} emptyText={emptyText} />;
}

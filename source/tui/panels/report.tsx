/** The panel of the report: GPU hours by user, GPU, day or model. */
import type {ReactElement} from 'react';
import {Box} from 'ink';
import type {Report} from '../../core/rules/pool/report.js';
import {totalHoursText} from '../../format/tables/report.js';
import {counted} from '../../format/text/numbers.js';
import {sanitize} from '../../format/text/text.js';
import {truncate} from '../../format/text/width.js';
import {reportRowsWithin} from '../layout.js';
import type {State} from '../state/state.js';
import {useMonitor} from '../state/use-monitor.js';
import {Label} from '../widgets/label.js';
import {StillTable, type StillColumn} from '../widgets/still-table.js';
import {PanelFrame, useInnerWidth, useScroll, type PanelProperties} from './shared/panel-frame.js';

/** Returns the report that the panel should show. Undefined while that report is being computed. */
const currentReport = ({report, panels}: State): State['report'] =>
	report?.by === panels.reportBy && report.days === panels.reportDays ? report : undefined;

/** Width of the figures beside the names and bars, in terminal columns. */
const figuresWidth = 52;
const shortestBar = 10;
const longestBar = 60;
const longestName = 30;
const shortestName = 10;

type TableProperties = {
	readonly by: string;
	readonly report: Report;
	readonly from: number;
	readonly to: number;
	readonly width: number;
};

function ReportTable({by, report, from, to, width}: TableProperties): ReactElement {
	const {rows, totalInstanceHours} = report;
	const largest = Math.max(...rows.map(({percentage}) => percentage));
	const hasInstances = totalInstanceHours !== undefined;
	const spare = width - figuresWidth - (hasInstances ? 12 : 0);
	const nameWidth = Math.max(shortestName, Math.min(longestName, Math.floor(spare / 3)));
	const barWidth = Math.min(longestBar, spare - nameWidth);
	const key = by.toUpperCase();
	const columns: readonly StillColumn[] = [
		{title: key, tone: 'strong'},
		{title: 'GPU HOURS', align: 'right'},
		...(hasInstances ? [{title: 'MIG HOURS', align: 'right'} as const] : []),
		{title: 'SHARE', align: 'right'},
		{title: 'RUN', align: 'right'},
		{title: 'MANUAL', align: 'right'},
		...(barWidth < shortestBar ? [] : [{title: ' ', tone: 'memory-8'} as const]),
	];
	return (
		<StillTable
			columns={columns}
			rows={rows.slice(from, to).map((row) => ({
				[key]: truncate(sanitize(row.key), nameWidth),
				'GPU HOURS': row.gpuHours.toFixed(2),
				'MIG HOURS': (row.instanceHours ?? 0).toFixed(2),
				SHARE: `${row.percentage.toFixed(1)}%`,
				RUN: String(row.runCount),
				MANUAL: String(row.manualCount),
				' ': '━'.repeat(Math.max(1, Math.round((barWidth * row.percentage) / Math.max(1, largest)))),
			}))}
		/>
	);
}

export function ReportPanel({width, rows}: PanelProperties): ReactElement {
	const innerWidth = useInnerWidth(width);
	const by = useMonitor(({panels}) => panels.reportBy);
	const days = useMonitor(({panels}) => panels.reportDays);
	const shown = useMonitor(currentReport);
	const count = shown?.kind === 'made' ? shown.report.rows.length : undefined;
	const {first, to, range} = useScroll('report', count, reportRowsWithin(rows));
	return (
		<PanelFrame
			name="report"
			about={`by ${by === 'gpu' ? 'GPU' : by}, ${counted(days, 'day')}`}
			end={range}
			width={width}
			rows={rows}
		>
			{shown === undefined ? (
				<Label tone="dim"> adding up</Label>
			) : shown.kind === 'failed' ? (
				<Label tone="warning"> {sanitize(shown.reason)}</Label>
			) : count === 0 ? (
				<Label tone="dim"> No GPUs were reserved in the last {counted(days, 'day')}</Label>
			) : (
				<Box flexDirection="column" rowGap={1}>
					<ReportTable by={by} report={shown.report} from={first} to={to} width={innerWidth} />
					<Label>
						<Label tone="strong"> {totalHoursText(shown.report)}</Label>,{' '}
						{counted(shown.report.totalReservations, 'reservation')} by {counted(shown.report.uniqueUsers, 'user')} in
						the last {counted(days, 'day')}
					</Label>
				</Box>
			)}
		</PanelFrame>
	);
}

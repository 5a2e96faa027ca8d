/** The panel of the report: who used how much. */
import type {ReportRow} from '../../core/rules/pool/report.js';
import {counted} from '../../format/text/numbers.js';
import {sanitize} from '../../format/text/text.js';
import {totalHoursText} from '../../format/tables/report.js';
import {grown, rowText, type Column} from '../../format/text/columns.js';
import {reportRowsWithin} from '../layout.js';
import type {Room} from '../regions.js';
import {reportDays} from '../state/panels/state.js';
import type {State} from '../state/state.js';
import {barSpans} from '../widgets/bar.js';
import {ellipsisOf} from '../widgets/drawing.js';
import {span, type Line} from '../widgets/styled-text.js';
import {rangeText, windowOf, type PanelBody} from '../widgets/panel-frames.js';

/** The report that is asked for; undefined while it is being made. */
export const currentReport = ({report, panels}: State): State['report'] =>
	report?.by === panels.reportBy ? report : undefined;

type ColumnName = 'key' | 'hours' | 'instances' | 'share' | 'runs' | 'manuals' | 'bar';

/** A shorter bar says nothing. */
const leastBar = 10;
const figure = 'end';

/** Names are cut before the bars get short; the blanks are those at the edges and before the bar. */
const columnsFor = (width: number, hasInstances: boolean): ReadonlyArray<Column<ColumnName>> =>
	grown<ColumnName>(
		[
			{name: 'key', width: 10},
			{name: 'hours', width: 11, align: figure},
			...(hasInstances ? [{name: 'instances', width: 11, align: figure} as const] : []),
			{name: 'share', width: 8, align: figure},
			{name: 'runs', width: 6, align: figure},
			{name: 'manuals', width: 8, align: figure},
			{name: 'bar', width: 0},
		],
		{width: width - 4, gap: 0},
		[{bar: 60}, {key: 30}],
	);

type RowOptions = {readonly largest: number; readonly columns: ReadonlyArray<Column<ColumnName>>};

function rowLine(
	{key, gpuHours, instanceHours = 0, percentage, runCount, manualCount}: ReportRow,
	{largest, columns}: RowOptions,
	state: State,
): Line {
	const share = largest > 0 ? percentage / largest : 0;
	const barWidth = columns.at(-1)!.width;
	const cells = {
		key: sanitize(key),
		hours: gpuHours.toFixed(2),
		instances: instanceHours.toFixed(2),
		share: `${percentage.toFixed(1)}%`,
		runs: String(runCount),
		manuals: String(manualCount),
		bar: '',
	};
	const [keyColumn, ...figures] = columns.slice(0, -1);
	const options = {gap: 0, ellipsis: ellipsisOf(state)};
	return [
		span(` ${rowText([keyColumn!], cells, options)}`, 'strong'),
		span(rowText(figures, cells, options)),
		span('  '),
		...(barWidth < leastBar ? [] : barSpans('memory', share, barWidth, state.settings)),
	];
}

export function reportPanel(state: State, {rows, width}: Room): PanelBody {
	const report = currentReport(state);
	if (report === undefined) {
		return {lines: [[span(' adding up', 'dim')]], end: ''};
	}

	if (report.kind === 'failed') {
		return {lines: [[span(` ${sanitize(report.reason)}`, 'warning')]], end: ''};
	}

	const {rows: all, totalInstanceHours, totalReservations, uniqueUsers} = report.report;
	if (all.length === 0) {
		return {lines: [[span(` Nothing was used in the last ${counted(reportDays, 'day')}`, 'dim')]], end: ''};
	}

	const sums: Line = [
		span(` ${totalHoursText(report.report)}`, 'strong'),
		span(
			`, ${counted(totalReservations, 'reservation')} by ${counted(uniqueUsers, 'user')} in the last ${counted(reportDays, 'day')}`,
		),
	];
	const {from, to} = windowOf(state.panels.scroll.report, {total: all.length, shown: reportRowsWithin(rows)});
	const end = rangeText(from, to, all.length);
	const options = {
		columns: columnsFor(width, totalInstanceHours !== undefined),
		largest: Math.max(...all.map(({percentage}) => percentage)),
	};
	const titles = {
		key: report.by.toUpperCase(),
		hours: 'GPU HOURS',
		instances: 'MIG HOURS',
		share: 'SHARE',
		runs: 'RUN',
		manuals: 'MANUAL',
		bar: '',
	};
	const head = ` ${rowText(options.columns.slice(0, -1), titles, {gap: 0})}`;
	return {
		lines: [[span(head, 'heading')], ...all.slice(from, to).map((row) => rowLine(row, options, state)), [], sums],
		end,
	};
}

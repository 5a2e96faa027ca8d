/** Who used how much, as lines; where there is a screen to draw on, ink-table draws the same rows. */
import type {ReportRow} from '../../core/rules/pool/report.js';
import {counted} from '../../format/text/numbers.js';
import {sanitize} from '../../format/text/text.js';
import {fit} from '../../format/text/width.js';
import {hasReportTable, reportRowsWithin} from '../layout.js';
import {reportDays} from '../state/report.js';
import type {State} from '../state/state.js';
import {bar} from '../widgets/glyphs.js';
import {span, type Line} from '../widgets/styled-text.js';
import {rangeWords, windowOf, type Extent} from '../widgets/scroll.js';
import {reportCells, type ReportCells} from './report-cells.js';

/** The report that is asked for; undefined while it is being made. */
export const currentReport = ({report, panels}: State): State['report'] =>
	report?.by === panels.reportBy ? report : undefined;

export function reportExtent(state: State, rows: number): Extent {
	const report = currentReport(state);
	return {
		total: report?.kind === 'made' ? report.report.rows.length : 0,
		shown: reportRowsWithin(state, rows),
	};
}

/** The rows for the table below the first line of its panel. Undefined: there is none to draw. */
export function reportTable(state: State, rows: number, width: number): readonly ReportCells[] | undefined {
	const report = currentReport(state);
	if (!hasReportTable(state) || report?.kind !== 'made') {
		return undefined;
	}

	const all = report.report.rows;
	const {from, to} = windowOf(state.panels.scroll.report, reportExtent(state, rows));
	const largest = Math.max(...all.map(({percentage}) => percentage));
	return to > from ? reportCells(all.slice(from, to), {by: report.by, largest, width}) : undefined;
}

const barWidth = 24;

function rowLine(
	{key, gpuHours, percentage, runCount, manualCount}: ReportRow,
	largest: number,
	state: State,
	keyWidth: number,
): Line {
	const {filled, rest} = bar(largest > 0 ? percentage / largest : 0, barWidth, state.settings.isAscii);
	return [
		span(` ${fit(sanitize(key), keyWidth)}`, 'strong'),
		span(fit(gpuHours.toFixed(2), 11, 'end')),
		span(fit(`${percentage.toFixed(1)}%`, 8, 'end')),
		span(fit(String(runCount), 6, 'end')),
		span(fit(String(manualCount), 8, 'end')),
		span(`  ${filled}`),
		span(rest, 'dim'),
	];
}

export type ReportView = {readonly lines: readonly Line[]; readonly end: string};

export function reportView(state: State, rows: number, width: number): ReportView {
	const report = currentReport(state);
	if (report === undefined) {
		return {lines: [[span(' adding up', 'dim')]], end: ''};
	}

	if (report.kind === 'failed') {
		return {lines: [[span(` ${sanitize(report.reason)}`, 'warning')]], end: ''};
	}

	const {rows: all, totalGpuHours, totalReservations, uniqueUsers} = report.report;
	if (all.length === 0) {
		return {lines: [[span(` Nothing was used in the last ${counted(reportDays, 'day')}`, 'dim')]], end: ''};
	}

	const sums: Line = [
		span(` ${totalGpuHours.toFixed(2)} GPU hours`, 'strong'),
		span(
			`, ${counted(totalReservations, 'reservation')} by ${counted(uniqueUsers, 'user')} in the last ${counted(reportDays, 'day')}`,
		),
	];
	const {from, to} = windowOf(state.panels.scroll.report, reportExtent(state, rows));
	const end = rangeWords(from, to, all.length);
	if (hasReportTable(state)) {
		return {lines: [sums], end};
	}

	const keyWidth = Math.min(30, Math.max(10, width - barWidth - 36));
	const largest = Math.max(...all.map(({percentage}) => percentage));
	const head = [
		` ${fit(report.by.toUpperCase(), keyWidth)}`,
		fit('GPU HOURS', 11, 'end'),
		fit('SHARE', 8, 'end'),
		fit('RUN', 6, 'end'),
		fit('MANUAL', 8, 'end'),
	].join('');
	return {
		lines: [
			[span(head, 'heading')],
			...all.slice(from, to).map((row) => rowLine(row, largest, state, keyWidth)),
			[],
			sums,
		],
		end,
	};
}

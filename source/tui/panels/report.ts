/** The panel of the report: who used how much. */
import type {ReportRow} from '../../core/rules/pool/report.js';
import {counted} from '../../format/text/numbers.js';
import {sanitize} from '../../format/text/text.js';
import {fit} from '../../format/text/width.js';
import {reportRowsWithin, type Room} from '../layout.js';
import {reportDays} from '../state/report.js';
import type {State} from '../state/state.js';
import {bar, ellipsisOf} from '../widgets/glyphs.js';
import {loadTone, span, type Line} from '../widgets/styled-text.js';
import {rangeWords, windowOf, type Extent} from '../widgets/scroll.js';
import type {PanelBody} from './shared/panel-body.js';

/** The report that is asked for; undefined while it is being made. */
export const currentReport = ({report, panels}: State): State['report'] =>
	report?.by === panels.reportBy ? report : undefined;

export function reportExtent(state: State, rows: number): Extent {
	const report = currentReport(state);
	return {
		total: report?.kind === 'made' ? report.report.rows.length : 0,
		shown: reportRowsWithin(rows),
	};
}

type RowLayout = {readonly largest: number; readonly keyWidth: number; readonly barWidth: number};

/** Columns for the figures. */
const figuresWidth = 11 + 8 + 6 + 8;
const leastBar = 10;
const mostBar = 60;

function rowLine(
	{key, gpuHours, percentage, runCount, manualCount}: ReportRow,
	{largest, keyWidth, barWidth}: RowLayout,
	state: State,
): Line {
	const share = largest > 0 ? percentage / largest : 0;
	const {filled, rest} = barWidth < leastBar ? {filled: '', rest: ''} : bar(share, barWidth, state.settings.isAscii);
	return [
		span(` ${fit(sanitize(key), keyWidth, 'start', ellipsisOf(state))}`, 'strong'),
		span(fit(gpuHours.toFixed(2), 11, 'end')),
		span(fit(`${percentage.toFixed(1)}%`, 8, 'end')),
		span(fit(String(runCount), 6, 'end')),
		span(fit(String(manualCount), 8, 'end')),
		span(`  ${filled}`, loadTone('memory', share)),
		span(rest, 'dim'),
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
	const room = width - figuresWidth - 4;
	const keyWidth = Math.min(30, Math.max(10, room - mostBar));
	const layout = {
		keyWidth,
		barWidth: Math.min(mostBar, room - keyWidth),
		largest: Math.max(...all.map(({percentage}) => percentage)),
	};
	const head = [
		` ${fit(report.by.toUpperCase(), keyWidth)}`,
		fit('GPU HOURS', 11, 'end'),
		fit('SHARE', 8, 'end'),
		fit('RUN', 6, 'end'),
		fit('MANUAL', 8, 'end'),
	].join('');
	return {
		lines: [[span(head, 'heading')], ...all.slice(from, to).map((row) => rowLine(row, layout, state)), [], sums],
		end,
	};
}

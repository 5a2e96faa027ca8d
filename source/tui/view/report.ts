/** Who used how much, as lines; where there is a screen to draw on, ink-table draws the same rows. */
import type {ReportRow} from '../../core/rules/pool/report.js';
import {counted} from '../../format/text/numbers.js';
import {sanitize} from '../../format/text/text.js';
import {fit, widthOf} from '../../format/text/width.js';
import {hasReportTable, reportRowsWithin} from '../layout.js';
import {reportDays} from '../state/report.js';
import type {State} from '../state/state.js';
import {bar} from '../widgets/glyphs.js';
import {span, type Line} from '../widgets/styled-text.js';
import {rangeWords, windowOf, type Extent} from '../widgets/scroll.js';

/** The cells of one row. Their length is their width, which is how the table's library measures them. */
export type ReportCells = Readonly<Record<string, string>>;

const segmenter = new Intl.Segmenter();

/** As many characters as columns: what is wider or narrower than it is long becomes question marks. */
function evened(text: string): string {
	return [...segmenter.segment(sanitize(text))]
		.map(({segment}) => (widthOf(segment) === segment.length ? segment : '?'.repeat(widthOf(segment))))
		.join('');
}

/** Without the name and the bar: four columns of figures, a space at both sides of each cell, and the lines between. */
const figureWidths = {hours: 9, share: 6, run: 5, manual: 6} as const;
const between = 3;
const barWidth = 24;

/** Cells for a table of at most `width`; without bars where there is no room for them. */
export function reportCells(
	rows: readonly ReportRow[],
	{by, largest, width}: {readonly by: string; readonly largest: number; readonly width: number},
): readonly ReportCells[] {
	const figures = Object.values(figureWidths).reduce((sum, value) => sum + value + between, 0);
	const room = width - figures - between - 1;
	const hasBars = room >= barWidth + between + 12;
	const nameWidth = Math.max(4, Math.min(30, room - (hasBars ? barWidth + between : 0)));
	return rows.map(({key, gpuHours, percentage, runCount, manualCount}) => {
		const {filled, rest} = bar(largest > 0 ? percentage / largest : 0, barWidth, false);
		return {
			[by.toUpperCase()]: fit(evened(key), nameWidth),
			'GPU HOURS': fit(gpuHours.toFixed(2), figureWidths.hours, 'end'),
			SHARE: fit(`${percentage.toFixed(1)}%`, figureWidths.share, 'end'),
			RUN: fit(String(runCount), figureWidths.run, 'end'),
			MANUAL: fit(String(manualCount), figureWidths.manual, 'end'),
			...(hasBars && {' ': filled + rest}),
		};
	});
}

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

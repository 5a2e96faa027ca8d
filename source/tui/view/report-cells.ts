/** The report's rows as cells whose length is their width, which is how the table's library measures them. */
import type {ReportRow} from '../../core/rules/pool/report.js';
import {sanitize} from '../../format/text/text.js';
import {fit, widthOf} from '../../format/text/width.js';
import {bar} from '../widgets/glyphs.js';

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

/** Cells of a load: a bar with its number, alike in the table of GPUs and in that of all hosts. */
import {fit} from '../../../format/text/width.js';
import type {State} from '../../state/state.js';
import {barSpans} from '../../widgets/bar.js';
import {loadTone, span, type Line} from '../../widgets/styled-text.js';
import {gibibytes} from '../../../format/readings.js';

/** What stands where a reading is not known. */
export const unavailable = span('N/A', 'dim');

/** Cells that the number behind a bar takes: ` 100%`. */
export const barNumberWidth = 5;

/** The column of a cell. `barWidth` is in cells; without one there is no room for a bar, and the number stands alone. */
type LoadColumn = {readonly barWidth?: number | undefined};

type Load = {readonly of: 'load' | 'memory'; readonly share: number; readonly number: string};

/** A bar with its number, both in the colour of the load. */
function barCell({of, share, number}: Load, {barWidth}: LoadColumn, {settings}: State): Line {
	const tone = loadTone(of, share);
	return barWidth === undefined
		? [span(number, tone)]
		: [...barSpans(of, share, barWidth, settings), span(fit(number, barNumberWidth, 'end'), tone)];
}

/** @param percent - 0 to 100; undefined when it is not known. */
export const utilizationCell = (percent: number | undefined, column: LoadColumn, state: State): Line =>
	percent === undefined
		? [unavailable]
		: barCell({of: 'load', share: percent / 100, number: `${Math.round(percent)}%`}, column, state);

type Memory = {readonly usedMiB: number | undefined; readonly totalMiB: number | undefined};

/** Without a bar the total stands beside what is used. */
export function memoryCell({usedMiB, totalMiB}: Memory, column: LoadColumn, state: State): Line {
	if (usedMiB === undefined) {
		return [unavailable];
	}

	if (totalMiB === undefined || totalMiB === 0) {
		return [span(gibibytes(usedMiB))];
	}

	const number =
		column.barWidth === undefined ? `${gibibytes(usedMiB).slice(0, -1)}/${gibibytes(totalMiB)}` : gibibytes(usedMiB);
	return barCell({of: 'memory', share: usedMiB / totalMiB, number}, column, state);
}

/** Cells of readings, alike in the table of GPUs and in that of all hosts: a bar with its number, a temperature. */
import {
	grown,
	shrunk,
	type Column,
	type GrowthRound,
	type Sacrifice,
	type TableRoom,
} from '../../../format/text/columns.js';
import {fit} from '../../../format/text/width.js';
import type {State} from '../../state/state.js';
import {barSpans} from '../../widgets/bar.js';
import {fitLine, loadTone, span, type Line, type Span} from '../../widgets/styled-text.js';
import {gibibytes} from '../../../format/readings.js';

/** Where there is nothing to say. */
export const nothing = span('-', 'dim');

/** Where a load is not known. */
const unavailable = span('N/A', 'dim');

/** Cells that the number behind a bar takes: ` 100%`. */
export const barNumberWidth = 5;

const leastBar = 8;
export const leastWithBar = leastBar + barNumberWidth;

/** A column of a table with loads. */
export type LoadColumn<Name extends string = string> = Column<Name> & {
	/** Width of the bar in it; undefined: the number alone. */
	readonly barWidth?: number | undefined;
};

const isLoad = (name: string): boolean => name === 'utilization' || name === 'memory';

/**
The most of these columns that fits, with bars as long as there is room for them. A number without its bar needs no more.

@param options.last - Of these columns, the first that is there takes the room that is left.
*/
export function loadColumns<Name extends string>(
	least: ReadonlyArray<Column<Name>>,
	room: TableRoom,
	{
		sacrifices,
		growth,
		last,
	}: {
		readonly sacrifices: ReadonlyArray<Sacrifice<Name>>;
		readonly growth: ReadonlyArray<GrowthRound<Name>>;
		readonly last: readonly Name[];
	},
): ReadonlyArray<LoadColumn<Name>> {
	const columns = shrunk(least, room, sacrifices);
	const bars = new Set(columns.filter(({name, width}) => isLoad(name) && width >= leastWithBar).map(({name}) => name));
	const hasNumberAlone = (name: Name): boolean => isLoad(name) && !bars.has(name);
	const rounds = growth.map((round) => {
		const grows = columns.filter(({name}) => !hasNumberAlone(name)).map(({name}) => [name, round[name]]);
		return Object.fromEntries(grows) as GrowthRound<Name>;
	});
	const spacious = last.find((wanted) => columns.some(({name}) => name === wanted)) ?? columns.at(-1)?.name;
	return grown(columns, room, rounds, spacious).map((column) => ({
		...column,
		align: hasNumberAlone(column.name) ? 'end' : column.align,
		barWidth: bars.has(column.name) ? column.width - barNumberWidth : undefined,
	}));
}

/** Hotter than this is marked. */
export const hotCelsius = 80;

export const temperatureCell = (celsius: number | undefined): Span =>
	celsius === undefined
		? nothing
		: celsius >= hotCelsius
			? span(`${Math.round(celsius)}C!`, 'warning')
			: span(`${Math.round(celsius)}C `);

/** A cell exactly as wide as its column. Only cells of a single piece can be too long. */
export function fitCell(cell: Line, {width, align}: Pick<Column, 'width' | 'align'>, ellipsis: string): Line {
	const [first] = cell;
	return cell.length === 1 && first !== undefined
		? [span(fit(first.text, width, align, ellipsis), first.tone)]
		: fitLine(cell, width, ellipsis);
}

type Bar = Pick<LoadColumn, 'barWidth'>;

type Load = {readonly of: 'load' | 'memory'; readonly share: number; readonly number: string};

/** A bar with its number, both in the colour of the load. */
function barCell({of, share, number}: Load, {barWidth}: Bar, {settings}: State): Line {
	const tone = loadTone(of, share);
	return barWidth === undefined
		? [span(number, tone)]
		: [...barSpans(of, share, barWidth, settings), span(fit(number, barNumberWidth, 'end'), tone)];
}

/** @param percent - 0 to 100; undefined when it is not known. */
export const utilizationCell = (percent: number | undefined, column: Bar, state: State): Line =>
	percent === undefined
		? [unavailable]
		: barCell({of: 'load', share: percent / 100, number: `${Math.round(percent)}%`}, column, state);

type Memory = {readonly usedMiB: number | undefined; readonly totalMiB: number | undefined};

/** Without a bar the total stands beside what is used. */
export function memoryCell({usedMiB, totalMiB}: Memory, column: Bar, state: State): Line {
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

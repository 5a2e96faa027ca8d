/** The graphs of all GPUs on a wide screen, a tile each: who has it, how busy it is, and how busy it was. */
import {sideBySide} from '../widgets/panel-frames.js';
import type {StatusRow} from '../../core/rules/pool/status.js';
import {gibibytes} from '../../format/readings.js';
import {truncate, widthOf} from '../../format/text/width.js';
import {layoutOf, loadsRangeOf, type LoadTiles} from '../layout.js';
import type {Room} from '../regions.js';
import type {Pointed} from '../state/mouse.js';
import {ownRange, rangeWord} from '../state/panels/state.js';
import {gpuCountOf, rowsOf, type State} from '../state/state.js';
import {membersOf} from '../state/table/fold.js';
import {visibleRows} from '../state/table/rows.js';
import {ellipsisOf} from '../widgets/drawing.js';
import {curveLines, graphStyleOf} from '../widgets/graph.js';
import {fitLine, lineWidth, loadTone, span, type Line, type Span} from '../widgets/styled-text.js';
import {ownerText, stateWord} from './shared/labels.js';
import {shownValues} from './shared/graphs.js';

/** Between two tiles, and between the two graphs of one. */
const gap = 2;

/** From this width on, the memory has its graph beside that of the load. */
const leastForMemory = 36;

/** Before the first tile there is a blank. */
const tileWidthOf = (width: number, {columns}: LoadTiles): number =>
	Math.floor((width - 1 - gap * (columns - 1)) / columns);

/** How busy it is now, in the colours of the curves below. */
function loadNumbers({reading}: StatusRow): Line {
	const {utilizationPercent, memoryUsedMiB, memoryTotalMiB} = reading ?? {};
	return [
		utilizationPercent === undefined
			? span('N/A', 'dim')
			: span(`${Math.round(utilizationPercent)}%`, loadTone('load', utilizationPercent / 100)),
		...(memoryUsedMiB === undefined
			? []
			: [
					span(' '),
					span(
						gibibytes(memoryUsedMiB).padStart(4),
						memoryTotalMiB === undefined ? 'plain' : loadTone('memory', memoryUsedMiB / memoryTotalMiB),
					),
				]),
	];
}

/** Who has it or uses it; of one that no one has, its state. */
function holderText(row: StatusRow, state: State): Span {
	const {requester} = state.settings;
	return row.owner === undefined && row.shares === undefined && row.state !== 'unreserved'
		? stateWord(row, requester, state.observation !== undefined)
		: ownerText(row, requester);
}

/** `> 0 alice           84%  60G`. */
function tileHead(row: StatusRow, state: State, width: number): Line {
	const isSelected = row.index === state.selectedGpu;
	const indexWidth = String(gpuCountOf(state) - 1).length;
	const name = span(
		`${isSelected ? '>' : ' '} ${String(row.index).padStart(indexWidth)}`,
		isSelected ? 'marked' : 'strong',
	);
	const {text, tone} = holderText(row, state);
	const numbers = state.observation === undefined ? [] : [span(' '), ...loadNumbers(row)];
	const room = width - widthOf(name.text) - lineWidth(numbers);
	const ellipsis = ellipsisOf(state);
	return [name, ...fitLine([span(' '), span(truncate(text, Math.max(1, room - 1), ellipsis), tone)], room), ...numbers];
}

function tile(
	row: StatusRow,
	state: State,
	{tileRows, width}: {readonly tileRows: number; readonly width: number},
): readonly Line[] {
	const linesOf = (reading: 'utilization' | 'memory', columns: number) =>
		curveLines(
			{
				of: reading === 'utilization' ? 'load' : 'memory',
				values: shownValues(state, row, reading, {range: loadsRangeOf(state), columns}),
			},
			tileRows - 1,
			graphStyleOf(state.settings),
		);
	const isHalved = width >= leastForMemory;
	const columns = isHalved ? Math.floor((width - gap) / 2) : width;
	const load = linesOf('utilization', columns);
	const memory = isHalved ? linesOf('memory', columns) : [];
	return [
		tileHead(row, state, width),
		...load.map((curve, index) => fitLine(isHalved ? [curve, span(' '.repeat(gap)), memory[index]!] : [curve], width)),
	];
}

export function loadsTitle(state: State): Line {
	const range = loadsRangeOf(state);
	return [
		span('Loads', 'strong'),
		span(`  last ${rangeWord(range)}`),
		...(range !== ownRange && state.past?.kind === 'failed' ? [span(' unknown', 'warning')] : []),
	];
}

/** All tiles, GPU by GPU from left to right; none where there is no room for them. */
export function loadsLines(state: State, {width: all}: Pick<Room, 'width'>): readonly Line[] {
	const {loads: tiles} = layoutOf(state);
	if (tiles === undefined) {
		return [];
	}

	const {columns, tileRows} = tiles;
	const width = tileWidthOf(all, tiles);
	const rows = rowsOf(state);
	return Array.from({length: Math.ceil(rows.length / columns)}, (_, line) => {
		const beside = rows.slice(line * columns, (line + 1) * columns).map((row) => tile(row, state, {tileRows, width}));
		return sideBySide(beside, span(' '.repeat(gap))).map((row): Line => [span(' '), ...row]);
	}).flat();
}

/** The row of the table whose GPU has its tile at this line and column; undefined beside all tiles. */
export function loadTileAt(
	state: State,
	{width}: Pick<Room, 'width'>,
	{column, line}: {readonly column: number; readonly line: number},
): Pointed | undefined {
	const {loads} = layoutOf(state);
	// There is a blank before the first.
	const offset = column - 1;
	if (loads === undefined || offset < 0) {
		return undefined;
	}

	const tileColumn = Math.floor(offset / (tileWidthOf(width, loads) + gap));
	const gpu = Math.floor(line / loads.tileRows) * loads.columns + tileColumn;
	if (tileColumn >= loads.columns || gpu >= gpuCountOf(state)) {
		return undefined;
	}

	const index = visibleRows(state).findIndex((shown) => membersOf(shown).some((member) => member.index === gpu));
	return index === -1 ? undefined : {on: 'row', panel: 'table', index};
}

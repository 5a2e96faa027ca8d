/** The panel of the GPUs: one line each. */
import type {StatusRow} from '../../../core/rules/pool/status.js';
import {columnNameAt} from '../../../format/text/columns.js';
import {fit, widthOf} from '../../../format/text/width.js';
import {layoutOf} from '../../layout.js';
import type {Room} from '../../regions.js';
import {remembering} from '../../state/memo.js';
import type {State} from '../../state/state.js';
import {gpuText, membersOf, type TableRow} from '../../state/table/fold.js';
import {taggedGpus, visibleRows} from '../../state/table/rows.js';
import {shownColumns} from '../../state/view/state.js';
import {isSortKey, type Pointed} from '../../state/mouse.js';
import {isFiltered, tagOf, type SortKey} from '../../state/table/state.js';
import {glyphsOf} from '../../widgets/drawing.js';
import {rangeText, type PanelBody, sideBySide} from '../../widgets/panel-frames.js';
import {inBold, inTone, lineText, span, type Line, type Span} from '../../widgets/styled-text.js';
import {commonMemory, gibibytes, shortModel} from '../../../format/readings.js';
import {orderText} from '../shared/order-text.js';
import {noteText, ownerText} from '../shared/labels.js';
import {gpuTitles, columnsFor, markerWidth, type GpuColumn, type Needs} from './columns.js';
import {gpuCell} from './cells.js';

/** The title of a column, as the frame names the order. */
const sortTitle = (name: SortKey): string => gpuTitles[name].short.trim();

/** The same for all rows, in view or not, so that nothing jumps while they scroll. */
const needsOf = remembering(
	(state: State) => [visibleRows(state), state.settings],
	(state): Needs => {
		const rows = visibleRows(state);
		const longest = (wordsOf: (row: TableRow) => string): number =>
			Math.max(0, ...rows.map((row) => widthOf(wordsOf(row))));
		return {
			gpu: longest((row) => gpuText(row)),
			model: longest(({reading}) => shortModel(reading?.name ?? '')),
			owner: longest((row) => ownerText(row, state.settings.requester).text),
			note: longest((row) => noteText(row)),
		};
	},
);

const columnsOf = (state: State, width: number): readonly GpuColumn[] =>
	columnsFor(width, {chosen: shownColumns(state), needs: needsOf(state)});

/** The line of titles above the table. */
function tableHead(state: State, width: number): Line {
	const memory = commonMemory(state.observation?.gpus ?? []);
	const text = columnsOf(state, width).map(({name, width: columnWidth, align, barWidth}) => {
		const isCommon = name === 'memory' && barWidth !== undefined && memory !== undefined;
		return fit(isCommon ? `${gpuTitles.memory.short}/${gibibytes(memory)}` : gpuTitles[name].short, columnWidth, align);
	});
	return [span(fit(' '.repeat(markerWidth) + text.join(' '), width), 'heading')];
}

/** What the store says goes dim when it is lost, what the tool says when scans fail. */
const fromStore = new Set<GpuColumn['name']>(['state', 'owner', 'kind', 'held', 'ends', 'note']);

/** What is the same for all GPUs of a reservation. */
const ofReservation = new Set<GpuColumn['name']>(['state', 'owner', 'kind', 'held', 'ends', 'note', 'process']);

/** The peer's reservations have no id to be known by. */
const isSameReservation = (row: StatusRow, other: StatusRow | undefined): boolean =>
	row.lease?.leaseId !== undefined && row.lease.leaseId === other?.lease?.leaseId;

/** Words that a row has in common with the one above it are faint: so a reservation of many GPUs is seen as one. */
const faint = (line: Line): Line =>
	line.map((piece) => (piece.tone === 'plain' || piece.tone === 'others' ? span(piece.text, 'dim') : piece));

/** The rows of the table above and below, as it is ordered, and whether the one above is in view. */
type Neighbours = {readonly above?: StatusRow; readonly below?: StatusRow; readonly isAboveShown: boolean};

/** Before the owner: the line at the side of GPUs of one reservation that stand together. */
function bracketOf(row: StatusRow, {above, below}: Neighbours, state: State): Span {
	const {topLeft, vertical, bottomLeft} = glyphsOf(state);
	const [isBelowFirst, isAboveLast] = [isSameReservation(row, above), isSameReservation(row, below)];
	return isBelowFirst ? span(isAboveLast ? vertical : bottomLeft, 'frame') : span(isAboveLast ? topLeft : ' ', 'frame');
}

const isTagged = (row: TableRow, {table}: State): boolean =>
	membersOf(row).some(({index, reading}) => table.tags.has(tagOf(index, reading)));

function tableRow(row: TableRow, neighbours: Neighbours, state: State, width: number): Line {
	const isSelected = row.index === state.selectedGpu;
	const isStale = state.connection.kind === 'lost';
	const {above, isAboveShown} = neighbours;
	const isRepeated = !isSelected && isAboveShown && above !== undefined && isSameReservation(row, above);
	const columns = columnsOf(state, width);
	const cells = columns.map((column) => {
		const fitted = gpuCell(row, column, state);
		const isOld = fromStore.has(column.name) ? isStale : column.name !== 'gpu' && state.scanFailure !== undefined;
		return isOld
			? inTone(fitted, 'dim')
			: isRepeated && ofReservation.has(column.name) && lineText(fitted) === lineText(gpuCell(above, column, state))
				? faint(fitted)
				: fitted;
	});
	const [first, ...rest] = cells;
	const following = rest.flatMap((fitted, index) => [
		columns[index + 1]!.name === 'owner' ? bracketOf(row, neighbours, state) : span(' '),
		...fitted,
	]);
	const marks = `${isSelected ? '>' : ' '}${isTagged(row, state) ? '*' : ' '}`;
	const line = isSelected
		? [span(`${marks}${lineText(first!)}`, 'marked'), ...inBold(following)]
		: [span(marks, 'key'), ...first!, ...following];
	const spare = width - line.reduce((sum, {text}) => sum + widthOf(text), 0);
	return spare > 0 ? [...line, span(' '.repeat(spare))] : line;
}

/** Between two GPUs of one line. */
const columnGap = 3;

const columnWidthOf = (width: number, tableColumns: number): number =>
	Math.floor((width - columnGap * (tableColumns - 1)) / tableColumns);

/** What is at this line and column of the panel: a GPU, or the heading of a column that it can be sorted by. */
export function gpuAt(
	state: State,
	{rows, width}: Room,
	{column, line}: {readonly column: number; readonly line: number},
): Pointed | undefined {
	const {tableColumns} = layoutOf(state);
	const columnWidth = columnWidthOf(width, tableColumns);
	const block = Math.min(tableColumns - 1, Math.floor(column / (columnWidth + columnGap)));
	if (line === 0) {
		const name = columnNameAt(
			columnsOf(state, columnWidth),
			column - block * (columnWidth + columnGap) - markerWidth,
			1,
		);
		return name !== undefined && isSortKey(name) ? {on: 'heading', panel: 'table', key: name} : undefined;
	}

	const position = state.firstRow + block * (rows - 1) + line - 1;
	return position < visibleRows(state).length ? {on: 'row', panel: 'table', index: position} : undefined;
}

export function gpusPanel(state: State, {rows, width}: Room): PanelBody {
	const all = visibleRows(state);
	const {tableColumns} = layoutOf(state);
	const lines = rows - 1;
	const from = state.firstRow;
	const to = Math.min(all.length, from + lines * tableColumns);
	const columnWidth = columnWidthOf(width, tableColumns);
	const blocks = Array.from({length: tableColumns}, (_, block) => {
		const start = from + block * lines;
		return [
			tableHead(state, columnWidth),
			...all.slice(start, Math.min(to, start + lines)).map((row, line) => {
				const index = start + line;
				const neighbours = {above: all[index - 1], below: all[index + 1], isAboveShown: line > 0};
				return tableRow(row, neighbours, state, columnWidth);
			}),
		];
	});
	const hasFolds = all.some(({members}) => members !== undefined);
	const range = rangeText(from, to, all.length);
	const isFilteredOut = all.length === 0 && isFiltered(state.table.filter);
	return {
		beside: [
			state.view.preset === 'default' ? [] : [span('preset '), span(state.view.preset, 'strong')],
			...orderText({sort: state.table.sort, filter: state.table.filter, tagged: taggedGpus(state).length}, sortTitle),
			hasFolds ? [span('by reservation '), span('g', 'key')] : [],
		],
		end: hasFolds && range !== '' ? `${range} rows` : range,
		lines: [
			// Those of the first column come first.
			...sideBySide(blocks, span(` ${glyphsOf(state).vertical} `, 'frame')),
			...(isFilteredOut ? [[span('  No GPU matches; Esc clears the filter', 'dim')]] : []),
		],
	};
}

/** The whole screen as lines, purely: exactly as many as there are rows, each exactly as wide as the terminal. */
import type {StatusRow} from '../../core/status.js';
import {sanitize} from '../../format/text.js';
import {selectedRow, taggedGpus, visibleRows} from '../table/rows.js';
import {isFiltered} from '../table/state.js';
import {rowsOf, type State} from '../state.js';
import {detailLines, detailTitle} from './detail.js';
import {dialogView} from './dialog.js';
import {footerLine} from './footer.js';
import {ellipsisOf, glyphsOf} from './glyphs.js';
import {headerLine} from './header.js';
import {layoutOf, smallest, type Layout} from './layout.js';
import {messageLine} from './message.js';
import {beside, block, edge, inFrame, rule} from './panels.js';
import {queueHead, queueLines} from './queue.js';
import {fitLine, joined, span, type Line} from './spans.js';
import {summaryLine} from './summary.js';
import {sortTitle, tableHead, tableRow} from './table.js';

/** A dialog over the lines. */
export type Overlay = {readonly top: number; readonly left: number; readonly lines: readonly Line[]};

export type View = {readonly lines: readonly Line[]; readonly overlay?: Overlay};

/** `1-24 of 64`, when not all are in view. */
function rangeOf(state: State, {tableRows}: Layout): string {
	const count = visibleRows(state).length;
	const {firstRow} = state;
	return count > tableRows ? `${firstRow + 1}-${Math.min(count, firstRow + tableRows)} of ${count}` : '';
}

function tableLines(state: State, layout: Layout, width: number): readonly Line[] {
	const shown = visibleRows(state)
		.slice(state.firstRow, state.firstRow + layout.tableRows)
		.map((row) => tableRow(row, state, width));
	return [tableHead(state, width), ...block(shown, layout.tableRows, width)];
}

/** `1:GPUs  sort GPU^  filter -`. */
function tableTitle(state: State): Line {
	const {sort, filter} = state.table;
	const words = [filter.user, filter.isMine ? 'mine' : undefined, filter.text.trim()].filter(Boolean).join(' ');
	const tagged = taggedGpus(state).length;
	return joined([
		[span('1:GPUs', 'strong')],
		[span('sort '), span(`${sortTitle(sort.by)}${sort.isInverted ? 'v' : '^'}`, 'key')],
		[span('filter '), span(isFiltered(filter) ? sanitize(words) : '-', isFiltered(filter) ? 'warning' : 'plain')],
		tagged > 0 ? [span(`tagged ${tagged}`, 'key')] : [],
	]);
}

function framedBody(state: State, layout: Layout): readonly Line[] {
	const {columns} = state.size;
	const glyphs = glyphsOf(state);
	const table = [
		edge(columns, glyphs, {title: tableTitle(state), end: rangeOf(state, layout)}),
		...tableLines(state, layout, columns - 2).map((line) => inFrame(line, glyphs)),
	];
	const {queueRows, detailRows} = layout;
	if (queueRows === undefined) {
		return [...table, edge(columns, glyphs, {corners: 'bottom'})];
	}

	const queueWidth = Math.max(45, Math.floor(columns * 0.36));
	const selected = selectedRow(state);
	return [
		...table,
		...beside(
			{title: 'Queue', lines: [queueHead(state), ...queueLines(state, queueRows - 1)], width: queueWidth},
			{
				title: selected === undefined ? 'Detail' : `Detail GPU ${selected.index}`,
				lines: detailLines(selected, state, detailRows),
				width: columns - queueWidth,
			},
			queueRows,
			glyphs,
		),
	];
}

/** Nothing about the order or the choice of rows needs to be told. */
const isPlain = ({table}: State): boolean =>
	table.sort.by === 'gpu' && !table.sort.isInverted && !isFiltered(table.filter) && table.tags.size === 0;

function ruledBody(state: State, layout: Layout): readonly Line[] {
	const {columns} = state.size;
	const {queueRows, detailRows} = layout;
	const glyphs = glyphsOf(state);
	const selected = selectedRow(state);
	const blockOf = (lines: readonly Line[], height: number): readonly Line[] =>
		block(lines, height, columns, glyphs.ellipsis);
	const title =
		detailRows > 1 && selected !== undefined ? [span(`GPU ${selected.index}`, 'strong')] : detailTitle(selected, state);
	const queue =
		queueRows === undefined
			? []
			: [rule(columns, glyphs, [span('Queue', 'strong')]), ...blockOf(queueLines(state, queueRows), queueRows)];
	const below = [...blockOf(detailLines(selected, state, detailRows), detailRows), ...queue];
	return [
		rule(columns, glyphs, isPlain(state) ? [] : tableTitle(state), rangeOf(state, layout)),
		...tableLines(state, layout, columns),
		rule(columns, glyphs, title),
		...below,
		// Where nothing stands below it, one rule is enough.
		...(below.length > 0 ? [rule(columns, glyphs)] : []),
	];
}

function overlayOf(state: State): Overlay | undefined {
	const {dialog, size} = state;
	if (dialog === undefined) {
		return undefined;
	}

	const glyphs = glyphsOf(state);
	const {title, lines, width: wantedWidth} = dialogView(dialog, state, glyphs);
	const width = Math.min(wantedWidth, size.columns - 2);
	const framed = [
		edge(width, glyphs, {title: [span(title, 'strong')]}),
		...lines.map((line) => inFrame(fitLine([span(' '), ...line], width - 2, glyphs.ellipsis), glyphs)),
		edge(width, glyphs, {corners: 'bottom'}),
	]
		.slice(0, size.rows)
		.map((line) => line.map((piece) => (piece.tone === 'frame' ? span(piece.text, 'heading') : piece)));
	return {
		top: Math.max(0, Math.floor((size.rows - framed.length) / 2) - (size.rows > 18 ? 1 : 0)),
		left: Math.floor((size.columns - width) / 2),
		lines: framed,
	};
}

/** What is left when there is no room for more. */
function smallView(rows: readonly StatusRow[], state: State): View {
	const {columns, rows: height} = state.size;
	const need = `need ${smallest.columns}x${smallest.rows}, have ${columns}x${height}`;
	const words = [span(' '), span(need, 'warning'), span(' '.repeat(3)), span('q', 'key'), span(' Quit')];
	const lines = height < 2 ? [words] : [summaryLine(rows, state), words];
	return {lines: block(lines, height, columns, ellipsisOf(state))};
}

export function viewOf(state: State): View {
	const layout = layoutOf(state);
	const rows = rowsOf(state);
	if (layout.isTooSmall) {
		return smallView(rows, state);
	}

	return {
		lines: [
			headerLine(state),
			summaryLine(rows, state),
			...(layout.isFramed ? framedBody(state, layout) : ruledBody(state, layout)),
			messageLine(state),
			footerLine(state),
		],
		overlay: overlayOf(state),
	};
}

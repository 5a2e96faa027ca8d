/** The whole screen as lines, purely: exactly as many as there are rows, each exactly as wide as the terminal. */
import type {StatusRow} from '../../core/status.js';
import {gpuCountOf, rowsOf, type State} from '../state.js';
import {detailLines, detailTitle} from './detail.js';
import {dialogView} from './dialog.js';
import {footerLine} from './footer.js';
import {glyphsOf, type Glyphs} from './glyphs.js';
import {headerLine} from './header.js';
import {layoutOf, smallest, type Layout} from './layout.js';
import {messageLine} from './message.js';
import {beside, edge, inFrame, padded, rule} from './panels.js';
import {queueHead, queueLines} from './queue.js';
import {fitLine, span, type Line} from './spans.js';
import {summaryLine} from './summary.js';
import {tableHead, tableRow} from './table.js';

/** A dialog over the lines. */
export type Overlay = {readonly top: number; readonly left: number; readonly lines: readonly Line[]};

export type View = {readonly lines: readonly Line[]; readonly overlay?: Overlay};

/** `1-24 of 64`, when not all are in view. */
function rangeOf(state: State, {tableRows}: Layout): string {
	const count = gpuCountOf(state);
	const {firstRow} = state;
	return count > tableRows ? `${firstRow + 1}-${Math.min(count, firstRow + tableRows)} of ${count}` : '';
}

function tableLines(rows: readonly StatusRow[], state: State, layout: Layout, width: number, glyphs: Glyphs): readonly Line[] {
	const shown = rows
		.slice(state.firstRow, state.firstRow + layout.tableRows)
		.map((row) => tableRow(row, state, width, glyphs.ellipsis));
	return [tableHead(state, width), ...padded(shown, layout.tableRows, width)];
}

function framedBody(rows: readonly StatusRow[], state: State, layout: Layout, glyphs: Glyphs): readonly Line[] {
	const {columns} = state.size;
	const table = tableLines(rows, state, layout, columns - 2, glyphs);
	const top = edge(columns, glyphs, {title: [span('GPUs', 'strong')], end: rangeOf(state, layout)});
	const framedTable = table.map((line) => inFrame(line, glyphs));
	if (layout.queueRows === undefined) {
		return [top, ...framedTable, edge(columns, glyphs, {corners: 'bottom'})];
	}

	const queueWidth = Math.max(45, Math.floor(columns * 0.36));
	const detailWidth = columns - queueWidth;
	const queue = [
		queueHead(queueWidth - 2, glyphs.ellipsis),
		...queueLines(state, queueWidth - 2, layout.queueRows - 1, glyphs.ellipsis),
	];
	const selected = rows[state.selectedGpu];
	const detail = detailLines(selected, state, detailWidth - 2, layout.detailRows, glyphs.ellipsis);
	return [
		top,
		...framedTable,
		...beside(
			{title: 'Queue', lines: queue, width: queueWidth},
			{title: selected === undefined ? 'Detail' : `Detail GPU ${selected.index}`, lines: detail, width: detailWidth},
			layout.queueRows,
			glyphs,
		),
	];
}

function ruledBody(rows: readonly StatusRow[], state: State, layout: Layout, glyphs: Glyphs): readonly Line[] {
	const {columns} = state.size;
	const selected = rows[state.selectedGpu];
	const queue =
		layout.queueRows === undefined
			? []
			: [
					rule(columns, glyphs, [span('Queue', 'strong')]),
					...padded(queueLines(state, columns, layout.queueRows, glyphs.ellipsis), layout.queueRows, columns),
				];
	return [
		rule(columns, glyphs, [], rangeOf(state, layout)),
		...tableLines(rows, state, layout, columns, glyphs),
		rule(columns, glyphs, layout.detailRows > 1 && selected ? [span(`GPU ${selected.index}`, 'strong')] : detailTitle(selected, state)),
		...padded(
			detailLines(selected, state, columns, layout.detailRows, glyphs.ellipsis),
			layout.detailRows,
			columns,
		),
		...queue,
		rule(columns, glyphs),
	];
}

function overlayOf(state: State, glyphs: Glyphs): Overlay | undefined {
	const {dialog, size} = state;
	if (dialog === undefined) {
		return undefined;
	}

	const {title, lines, width: wantedWidth} = dialogView(dialog, state, glyphs);
	const width = Math.min(wantedWidth, size.columns - 2);
	const framed = [
		edge(width, glyphs, {title: [span(title, 'strong')]}),
		...lines.map((line) => inFrame(fitLine([span(' '), ...line], width - 2, glyphs.ellipsis), glyphs)),
		edge(width, glyphs, {corners: 'bottom'}),
	].slice(0, size.rows);
	return {
		top: Math.max(0, Math.floor((size.rows - framed.length) / 2) - (size.rows > 18 ? 1 : 0)),
		left: Math.floor((size.columns - width) / 2),
		lines: framed,
	};
}

/** What is left when there is no room for more. */
function smallView(rows: readonly StatusRow[], state: State, glyphs: Glyphs): View {
	const {columns, rows: height} = state.size;
	const need = `need ${smallest.columns}x${smallest.rows}, have ${columns}x${height}`;
	const lines = [
		summaryLine(rows, state, glyphs.ellipsis),
		fitLine([span(' '), span(need, 'warning'), span('   '), span('q', 'key'), span(' Quit')], columns, glyphs.ellipsis),
	];
	return {lines: padded(height < 2 ? lines.slice(1) : lines, height, columns)};
}

export function viewOf(state: State): View {
	const layout = layoutOf(state);
	const glyphs = glyphsOf(state.settings.isAscii);
	const rows = rowsOf(state);
	if (layout.isTooSmall) {
		return smallView(rows, state, glyphs);
	}

	const body = layout.isFramed ? framedBody(rows, state, layout, glyphs) : ruledBody(rows, state, layout, glyphs);
	return {
		lines: [
			headerLine(state, glyphs.ellipsis),
			summaryLine(rows, state, glyphs.ellipsis),
			...body,
			messageLine(state, glyphs.ellipsis),
			footerLine(state),
		],
		overlay: overlayOf(state, glyphs),
	};
}

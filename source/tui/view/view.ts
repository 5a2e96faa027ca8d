/** The whole screen as lines, purely: exactly as many as there are rows, each exactly as wide as the terminal. */
import type {StatusRow} from '../../core/rules/pool/status.js';
import {rowsOf, type State} from '../state/state.js';
import {dialogView} from '../dialogs/dialog.js';
import {ellipsisOf, glyphsOf} from '../widgets/glyphs.js';
import {layoutOf, roomOf, smallest} from '../layout.js';
import {block, edge, inFrame} from '../widgets/panel-frames.js';
import {fitLine, span, type Line} from '../widgets/styled-text.js';
import {bodyLines} from './body.js';
import {footerLine} from './footer.js';
import {reportTable} from './report.js';
import type {ReportCells} from './report-cells.js';
import {headerLine} from './header.js';
import {messageLine} from './message.js';
import {summaryLine} from './summary.js';

/** A dialog over the lines. */
export type Overlay = {readonly top: number; readonly left: number; readonly lines: readonly Line[]};

/** A table of its own kind over the lines. */
export type TableView = {readonly top: number; readonly left: number; readonly rows: readonly ReportCells[]};

export type View = {readonly lines: readonly Line[]; readonly overlay?: Overlay; readonly table?: TableView};

/** Below the header, the summary, the panel's edge and its first line. */
const tableTop = 4;

function tableOf(state: State): TableView | undefined {
	const {alone, isFramed} = layoutOf(state);
	if (alone !== 'report') {
		return undefined;
	}

	const {rows: height, width} = roomOf(state, 'report');
	const rows = reportTable(state, height, width - 1);
	return rows && {top: tableTop, left: isFramed ? 2 : 1, rows};
}

function overlayOf(state: State): Overlay | undefined {
	const {dialog, size} = state;
	const glyphs = glyphsOf(state);
	const view = dialog && dialogView(dialog, state, glyphs);
	if (view === undefined) {
		return undefined;
	}

	const {title, lines, end, width: wantedWidth} = view;
	const width = Math.min(wantedWidth, size.columns - 2);
	const framed = [
		edge(width, glyphs, {title: [span(title, 'strong')], end}),
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
			...bodyLines(state, layout),
			messageLine(state),
			footerLine(state),
		],
		overlay: overlayOf(state),
		table: tableOf(state),
	};
}

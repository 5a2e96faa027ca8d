/** The panels between the summary and the message, in frames where there is room for them, else between rules. */
import type {PanelName} from '../panels/state.js';
import {selectedRow} from '../table/rows.js';
import {isFiltered} from '../table/state.js';
import type {State} from '../state/state.js';
import {glyphsOf} from '../widgets/glyphs.js';
import {queueWidthOf, roomOf, type Layout} from '../layout.js';
import {beside, block, edge, framedPanel, rule, type Panel} from '../widgets/panel-frames.js';
import type {Line} from '../widgets/styled-text.js';
import {detailTitle} from './detail.js';
import {panelOf} from './contents.js';

const contentOf = (name: PanelName, state: State): Panel => panelOf(name, state, roomOf(state, name));

function framedBody(state: State, {tableRows, detailRows, eventRows}: Layout): readonly Line[] {
	const {columns} = state.size;
	const glyphs = glyphsOf(state);
	const table = contentOf('table', state);
	const top = framedPanel(table, {width: columns, rows: tableRows + 1}, glyphs);
	if (detailRows === 0) {
		return [...top, edge(columns, glyphs, {corners: 'bottom', isFocused: table.isFocused})];
	}

	const share = {width: columns, leftWidth: queueWidthOf(columns), rows: detailRows};
	const middle = beside(contentOf('queue', state), contentOf('detail', state), share, glyphs);
	if (eventRows === 0) {
		return [...top, ...middle];
	}

	const events = contentOf('events', state);
	return [
		...top,
		...middle,
		...framedPanel(events, {width: columns, rows: eventRows}, glyphs),
		edge(columns, glyphs, {corners: 'bottom', isFocused: events.isFocused}),
	];
}

/** Nothing about the table's order or choice of rows needs to be told. */
const isPlain = ({table}: State): boolean =>
	table.sort.by === 'gpu' && !table.sort.isInverted && !isFiltered(table.filter) && table.tags.size === 0;

function ruledBody(state: State, {tableRows, detailRows, queueRows, eventRows}: Layout): readonly Line[] {
	const {columns} = state.size;
	const glyphs = glyphsOf(state);
	const {ellipsis} = glyphs;
	const table = contentOf('table', state);
	const below = (['detail', 'queue', 'events'] as const).flatMap((name): readonly Line[] => {
		const rows = {detail: detailRows, queue: queueRows, events: eventRows}[name];
		const {title, end, lines} = contentOf(name, state);
		// The detail's rule is always there: with no room below it, it says the most important itself.
		return name === 'detail' && rows < 2
			? [rule(columns, glyphs, detailTitle(selectedRow(state), state)), ...block(lines, rows, columns, ellipsis)]
			: rows === 0
				? []
				: [rule(columns, glyphs, title, end), ...block(lines, rows, columns, ellipsis)];
	});
	return [
		rule(columns, glyphs, isPlain(state) ? [] : table.title, table.end),
		...block(table.lines, tableRows + 1, columns, ellipsis),
		...below,
		// Where nothing stands below it, one rule is enough.
		...(below.length > 1 ? [rule(columns, glyphs)] : []),
	];
}

function bodyAlone(name: PanelName, state: State, {isFramed, bodyRows}: Layout): readonly Line[] {
	const {columns} = state.size;
	const glyphs = glyphsOf(state);
	const panel = contentOf(name, state);
	return isFramed
		? [
				...framedPanel(panel, {width: columns, rows: bodyRows - 2}, glyphs),
				edge(columns, glyphs, {corners: 'bottom', isFocused: true}),
			]
		: [
				rule(columns, glyphs, panel.title, panel.end),
				...block(panel.lines, bodyRows - 2, columns, glyphs.ellipsis),
				rule(columns, glyphs),
			];
}

export function bodyLines(state: State, layout: Layout): readonly Line[] {
	if (layout.alone !== undefined) {
		return bodyAlone(layout.alone, state, layout);
	}

	return layout.isFramed ? framedBody(state, layout) : ruledBody(state, layout);
}

/** What stands in each panel, and in its title. */
import {sanitize} from '../../format/text/text.js';
import type {PanelName} from '../panels/state.js';
import {reportDays} from '../state/report.js';
import {selectedRow, taggedGpus, visibleRows} from '../table/rows.js';
import {isFiltered} from '../table/state.js';
import type {State} from '../state/state.js';
import {ellipsisOf} from '../widgets/glyphs.js';
import {graphRowsOf, hasQueueHead, type Room} from '../layout.js';
import {block, type PanelContent} from '../widgets/panel-frames.js';
import {joined, span, type Line} from '../widgets/styled-text.js';
import {rangeWords, windowOf} from '../widgets/scroll.js';
import {detailLines, graphsOf} from './detail.js';
import {eventsView} from './events.js';
import {allProcessesView} from './all-processes.js';
import {queueHead, queueView} from './queue.js';
import {reportView} from './report.js';
import {sortTitle, tableHead, tableRow} from './table.js';

/** `1:GPUs`: the key that leads there, and what it is. */
function nameOf(panel: PanelName, state: State): string {
	const selected = selectedRow(state);
	const names: Readonly<Record<PanelName, string>> = {
		table: '1:GPUs',
		detail: selected === undefined ? '2:Detail' : `2:Detail GPU ${selected.index}`,
		queue: '3:Queue',
		report: `4:Report by ${state.panels.reportBy}, ${reportDays} days`,
		events: '5:Events',
		processes: '6:Processes',
	};
	return names[panel];
}

/** The name, standing out where the keys go. */
const titleOf = (panel: PanelName, state: State): Line => [
	span(nameOf(panel, state), state.panels.focus === panel ? 'marked' : 'strong'),
];

/** `sort GPU^  filter -  tagged 2`. */
function tableTitle(state: State): Line {
	const {sort, filter} = state.table;
	const words = [filter.user, filter.isMine ? 'mine' : undefined, filter.text.trim()].filter(Boolean).join(' ');
	const tagged = taggedGpus(state).length;
	return joined([
		titleOf('table', state),
		[span('sort '), span(`${sortTitle(sort.by)}${sort.isInverted ? 'v' : '^'}`, 'strong')],
		isFiltered(filter) ? [span('filter '), span(sanitize(words), 'warning')] : [],
		tagged > 0 ? [span(`tagged ${tagged}`, 'warning')] : [],
	]);
}

function tablePanel(state: State, {rows, width}: Room): Pick<PanelContent, 'title' | 'end' | 'lines'> {
	const all = visibleRows(state);
	const to = Math.min(all.length, state.firstRow + rows - 1);
	const shown = all.slice(state.firstRow, to).map((row) => tableRow(row, state, width));
	const nothing: readonly Line[] =
		all.length === 0 && isFiltered(state.table.filter)
			? [[span('  No GPU matches; Esc clears the filter', 'dim')]]
			: [];
	return {
		title: tableTitle(state),
		end: rangeWords(state.firstRow, to, all.length),
		lines: [tableHead(state, width), ...shown, ...nothing],
	};
}

function detailPanel(state: State, {rows, width}: Room): Pick<PanelContent, 'title' | 'end' | 'lines'> {
	const all = detailLines(state, {rows, width});
	const shown = rows - graphRowsOf(rows);
	const {from, to} = windowOf(state.panels.scroll.detail, {total: all.length, shown});
	const model = sanitize(selectedRow(state)?.reading?.name ?? '');
	return {
		title: joined([titleOf('detail', state), model === '' ? [] : [span(model)]]),
		end: rangeWords(from, to, all.length),
		lines: [...block(all.slice(from, to), shown, width, ellipsisOf(state)), ...graphsOf(state, rows, width)],
	};
}

function queuePanel(state: State, {rows, width}: Room): Pick<PanelContent, 'title' | 'end' | 'lines'> {
	const head = hasQueueHead(state) ? [queueHead(state, width)] : [];
	const {lines, first, total} = queueView(state, rows - head.length, width);
	return {
		title: titleOf('queue', state),
		end: rangeWords(first, Math.min(total, first + lines.length), total),
		lines: [...head, ...lines],
	};
}

export function panelOf(panel: PanelName, state: State, room: Room): PanelContent {
	const isFocused = state.panels.focus === panel;
	switch (panel) {
		case 'table': {
			return {...tablePanel(state, room), isFocused};
		}

		case 'detail': {
			return {...detailPanel(state, room), isFocused};
		}

		case 'queue': {
			return {...queuePanel(state, room), isFocused};
		}

		case 'report': {
			return {title: titleOf(panel, state), ...reportView(state, room.rows, room.width), isFocused};
		}

		case 'events': {
			return {title: titleOf(panel, state), ...eventsView(state, room.rows), isFocused};
		}

		case 'processes': {
			return {title: titleOf(panel, state), ...allProcessesView(state, room), isFocused};
		}
	}
}

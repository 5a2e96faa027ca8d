/** The panels: what each is called, what stands in it, and how far it scrolls. */
import {isScrolling, panelNames, type PanelName, reportDays, type ScrollingPanel} from '../state/panels/state.js';
import {selectedRow} from '../state/table/rows.js';
import type {State} from '../state/state.js';
import {type Room, pageRowsOf, roomOf} from '../regions.js';
import {type PanelContent, type PanelBody, windowOf} from '../widgets/panel-frames.js';
import {joined, span} from '../widgets/styled-text.js';
import type {Action} from '../state/actions.js';
import {amongText, detailPanel, detailLines} from './detail.js';
import {eventsPanel, eventCount} from './events.js';
import {gpusPanel} from './gpus/panel.js';
import {hostsPanel} from './hosts.js';
import {processesPanel} from './processes.js';
import {queuePanel} from './queue.js';
import {reportPanel, currentReport} from './report.js';

type Panel = {
	readonly nameOf: (state: State) => string;
	readonly bodyOf: (state: State, room: Room) => PanelBody;
};

function detailName(state: State): string {
	const selected = selectedRow(state);
	return selected === undefined ? 'Detail' : `Detail ${amongText(selected.index, state)}`;
}

const panels: Readonly<Record<PanelName, Panel>> = {
	table: {nameOf: () => 'GPUs', bodyOf: gpusPanel},
	detail: {nameOf: detailName, bodyOf: detailPanel},
	queue: {nameOf: () => 'Queue', bodyOf: queuePanel},
	report: {
		nameOf: ({panels: {reportBy}}) => `Report by ${reportBy === 'gpu' ? 'GPU' : reportBy}, ${reportDays} days`,
		bodyOf: reportPanel,
	},
	events: {nameOf: () => 'Events', bodyOf: eventsPanel},
	processes: {nameOf: () => 'Processes', bodyOf: processesPanel},
	hosts: {nameOf: () => 'Hosts', bodyOf: hostsPanel},
};

/** A panel in its room. Its title begins with the key that leads there: `1:GPUs`. */
export function panelOf(name: PanelName, state: State, room: Room): PanelContent {
	const {nameOf, bodyOf} = panels[name];
	const {beside = [], end, lines} = bodyOf(state, room);
	const isFocused = state.panels.focus === name;
	const title = span(`${panelNames.indexOf(name) + 1}:${nameOf(state)}`, isFocused ? 'marked' : 'strong');
	return {title: joined([[title], ...beside]), end, lines, isFocused};
}

const lineCounts: Readonly<Record<ScrollingPanel, (state: State) => number>> = {
	detail: (state) => detailLines(state, roomOf(state, 'detail')).length,
	report(state) {
		const report = currentReport(state);
		return report?.kind === 'made' ? report.report.rows.length : 0;
	},
	events: eventCount,
};

/** What happens when scrolling went further than there are lines to draw. Undefined: it did not. */
export function scrollLimit(state: State): Action | undefined {
	const {focus: panel, scroll} = state.panels;
	if (!isScrolling(panel) || scroll[panel] === 0) {
		return undefined;
	}

	const beyond = scroll[panel];
	const {from: first} = windowOf(beyond, {total: lineCounts[panel](state), shown: pageRowsOf(state, panel)});
	return first === beyond ? undefined : {kind: 'scroll-limited', panel, beyond, first};
}

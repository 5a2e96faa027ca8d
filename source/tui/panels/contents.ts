/** The panels: what each is called, and what stands in it. */
import {panelNames, type PanelName, reportDays} from '../state/panels/state.js';
import {selectedRow} from '../state/table/rows.js';
import type {State} from '../state/state.js';
import type {Room} from '../layout.js';
import type {PanelContent} from '../widgets/panel-frames.js';
import {joined, span} from '../widgets/styled-text.js';
import {amongText, detailPanel} from './detail.js';
import {eventsPanel} from './events.js';
import {gpusPanel} from './gpus/panel.js';
import {hostsPanel} from './hosts/hosts.js';
import {processesPanel} from './processes/panel.js';
import {queuePanel} from './queue.js';
import {reportPanel} from './report.js';
import type {PanelBody} from './shared/panel-body.js';

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

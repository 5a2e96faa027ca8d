/** What the keys do to the panels. */
import type {State} from '../state/state.js';
import {extentOf, queueRowsOf} from '../widgets/extent.js';
import type {PanelIntent} from './intents.js';
import {selectedPlace, selectPlace} from './queue-selection.js';
import {panelNames, reportKinds, type PanelName, type PanelsState, type ScrollingPanel} from './state.js';

const withPanels = (state: State, more: Partial<PanelsState>): State => ({
	...state,
	panels: {...state.panels, ...more},
});

const focusPanel = (state: State, focus: PanelName): State => withPanels(state, {focus});

const neighbour = <Value>(values: readonly Value[], value: Value, step: 1 | -1): Value =>
	values[(values.indexOf(value) + step + values.length) % values.length]!;

const isScrolling = (panel: PanelName): panel is ScrollingPanel => panel !== 'table' && panel !== 'queue';

/** Scrolls no further than there are lines. */
function scrollTo(state: State, panel: ScrollingPanel, line: number): State {
	const {total, shown} = extentOf(state, panel);
	const first = Math.max(0, Math.min(line, total - shown));
	return withPanels(state, {scroll: {...state.panels.scroll, [panel]: first}});
}

/** Lines for the panel that has the focus; in the queue the selection goes so far. */
function moveBy(state: State, lines: number): State {
	const {focus, scroll} = state.panels;
	if (focus === 'queue') {
		return selectPlace(state, (selectedPlace(state) ?? 0) + lines);
	}

	return isScrolling(focus)
		? scrollTo(state, focus, Math.min(scroll[focus], extentOf(state, focus).total) + lines)
		: state;
}

function pageOf(state: State): number {
	const {focus} = state.panels;
	return Math.max(1, isScrolling(focus) ? extentOf(state, focus).shown : queueRowsOf(state));
}

const report = (state: State, step: 1 | -1): State =>
	withPanels(state, {
		reportBy: neighbour(reportKinds, state.panels.reportBy, step),
		scroll: {...state.panels.scroll, report: 0},
	});

export const panelIntents: Readonly<Record<PanelIntent, (state: State) => State>> = {
	'focus-table': (state) => focusPanel(state, 'table'),
	'focus-detail': (state) => focusPanel(state, 'detail'),
	'focus-queue': (state) => focusPanel(state, 'queue'),
	'focus-report': (state) => focusPanel(state, 'report'),
	'focus-events': (state) => focusPanel(state, 'events'),
	'focus-next-panel': (state) => focusPanel(state, neighbour(panelNames, state.panels.focus, 1)),
	'focus-previous-panel': (state) => focusPanel(state, neighbour(panelNames, state.panels.focus, -1)),
	'leave-panel': (state) => withPanels(state, {focus: 'table', isZoomed: false}),
	zoom: (state) => withPanels(state, {isZoomed: !state.panels.isZoomed}),
	unzoom: (state) => withPanels(state, {isZoomed: false}),
	'line-up': (state) => moveBy(state, -1),
	'line-down': (state) => moveBy(state, 1),
	'page-up': (state) => moveBy(state, -pageOf(state)),
	'page-down': (state) => moveBy(state, pageOf(state)),
	'first-line': (state) => moveBy(state, -Infinity),
	'last-line': (state) => moveBy(state, Infinity),
	'toggle-tree': (state) => withPanels(state, {isTree: !state.panels.isTree}),
	'report-next': (state) => report(state, 1),
	'report-previous': (state) => report(state, -1),
	'help-next': (state) => withPanels(state, {helpPage: state.panels.helpPage + 1}),
	'help-previous': (state) => withPanels(state, {helpPage: state.panels.helpPage - 1}),
};

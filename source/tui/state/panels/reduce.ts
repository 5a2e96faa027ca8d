/** What the keys do to the panels. */
import {flashMs, type State} from '../state.js';
import {pageRowsOf} from '../../layout.js';
import {selectedPosition, selectPosition} from './queue-selection.js';
import {panelNames, reportKinds, type PanelName, type PanelsState, type ScrollingPanel} from './state.js';

const withPanels = (state: State, more: Partial<PanelsState>): State => ({
	...state,
	panels: {...state.panels, ...more},
});

const focusPanel = (state: State, focus: PanelName): State => withPanels(state, {focus});

const neighbour = <Value>(values: readonly Value[], value: Value, step: 1 | -1): Value =>
	values[(values.indexOf(value) + step + values.length) % values.length]!;

const isScrolling = (panel: PanelName): panel is ScrollingPanel => panel !== 'table' && panel !== 'queue';

/** Further than any panel has lines. */
const farthest = Number.MAX_SAFE_INTEGER;

/** The view draws no further than there are lines, and {@link PanelUpdate} brings the number back. */
const scrollTo = (state: State, panel: ScrollingPanel, line: number): State =>
	withPanels(state, {scroll: {...state.panels.scroll, [panel]: Math.max(0, Math.min(line, farthest))}});

/** Lines for the panel that has the focus; in the queue the selection goes so far. */
function moveBy(state: State, lines: number): State {
	const {focus, scroll} = state.panels;
	if (focus === 'queue') {
		return selectPosition(state, (selectedPosition(state) ?? 0) + lines);
	}

	return isScrolling(focus) ? scrollTo(state, focus, scroll[focus] + lines) : state;
}

const pageOf = (state: State): number => Math.max(1, pageRowsOf(state, state.panels.focus));

const report = (state: State, step: 1 | -1): State =>
	withPanels(state, {
		reportBy: neighbour(reportKinds, state.panels.reportBy, step),
		scroll: {...state.panels.scroll, report: 0},
	});

/** The tree is drawn in the detail, which may not be on the screen: so the key says what it did. */
const toggleTree = (state: State): State => ({
	...withPanels(state, {isTree: !state.panels.isTree}),
	flash: {
		level: 'ok',
		text: state.panels.isTree
			? 'The detail lists processes by memory'
			: 'The detail shows each process below its parent',
		untilMs: state.nowMs + flashMs,
	},
});

export const panelIntents = {
	'focus-table': (state) => focusPanel(state, 'table'),
	'focus-detail': (state) => focusPanel(state, 'detail'),
	'focus-queue': (state) => focusPanel(state, 'queue'),
	'focus-report': (state) => focusPanel(state, 'report'),
	'focus-events': (state) => focusPanel(state, 'events'),
	'focus-processes': (state) => focusPanel(state, 'processes'),
	'focus-next-panel': (state) => focusPanel(state, neighbour(panelNames, state.panels.focus, 1)),
	'focus-previous-panel': (state) => focusPanel(state, neighbour(panelNames, state.panels.focus, -1)),
	'leave-panel': (state) => withPanels(state, {focus: 'table', isZoomed: false}),
	zoom: (state) => withPanels(state, {isZoomed: !state.panels.isZoomed}),
	unzoom: (state) => withPanels(state, {isZoomed: false}),
	'line-up': (state) => moveBy(state, -1),
	'line-down': (state) => moveBy(state, 1),
	'page-up': (state) => moveBy(state, -pageOf(state)),
	'page-down': (state) => moveBy(state, pageOf(state)),
	'first-line': (state) => moveBy(state, -farthest),
	'last-line': (state) => moveBy(state, farthest),
	'toggle-tree': toggleTree,
	'report-next': (state) => report(state, 1),
	'report-previous': (state) => report(state, -1),
	'help-next': (state) => withPanels(state, {helpPage: state.panels.helpPage + 1}),
	'help-previous': (state) => withPanels(state, {helpPage: state.panels.helpPage - 1}),
} as const satisfies Readonly<Record<string, (state: State) => State>>;

/** What a user may want of the panels. */
export type PanelIntent = keyof typeof panelIntents;

/** A panel was scrolled to `beyond`, where it has no lines; `first` is the first line that was drawn. */
export type PanelUpdate = {
	readonly kind: 'scroll-limited';
	readonly panel: ScrollingPanel;
	readonly beyond: number;
	readonly first: number;
};

/** A key that came between the drawing and this has the last word. */
export const afterPanelUpdate = (state: State, {panel, beyond, first}: PanelUpdate): State =>
	state.panels.scroll[panel] === beyond ? scrollTo(state, panel, first) : state;

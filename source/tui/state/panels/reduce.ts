import {withFlash, type State} from '../state.js';
import {graphRowsOf, layoutOf, pageRowsOf, roomOf} from '../../layout.js';
import {selectOwnEntry} from '../queue/rows.js';
import {neighborOf} from '../ring.js';
import {focusedTable, isTableName, tables} from '../table/tables.js';
import {
	rangeWord,
	panelNames,
	pastRanges,
	reportKinds,
	reportPeriods,
	type PanelName,
	type PanelsState,
	type ScrollingPanel,
} from './state.js';

const withPanels = (state: State, more: Partial<PanelsState>): State => ({
	...state,
	panels: {...state.panels, ...more},
});

/** Focuses a panel. A host without a pool has only the host table. If the events lose the focus, scrolls them to the newest event. */
export function focusPanel(state: State, focus: PanelName): State {
	if (state.settings.hasNoPool === true && focus !== 'hosts') {
		return withFlash(state, 'warning', 'This computer has no GPU pool: only other hosts can be shown');
	}

	const {focus: before, scroll} = state.panels;
	return withPanels(state, {focus, scroll: before === 'events' && focus !== before ? {...scroll, events: 0} : scroll});
}

function leavePanel(state: State): State {
	const shown = withPanels(state, {isZoomed: false});
	return state.settings.hasNoPool === true ? shown : focusPanel(shown, 'gpus');
}

/** Focuses the next or previous panel. Skips the jobs, which have their own key, and the host table if no other hosts are configured. */
function focusNeighbour(state: State, step: 1 | -1): State {
	const {hasNoPool, otherHosts = []} = state.settings;
	const {focus} = state.panels;
	const names = panelNames.filter(
		(name) => name === focus || (name !== 'jobs' && (name !== 'hosts' || otherHosts.length > 0)),
	);
	return hasNoPool === true ? state : focusPanel(state, neighborOf(names, focus, step));
}

/** A number of lines that no panel reaches. */
const farthest = Number.MAX_SAFE_INTEGER;

/** Scrolls a panel. If `line` is beyond the last line, a {@link PanelUpdate} corrects the number after the panel was drawn. */
export const scrollTo = (state: State, panel: ScrollingPanel, line: number): State =>
	withPanels(state, {scroll: {...state.panels.scroll, [panel]: Math.max(0, Math.min(line, farthest))}});

export const moveIn = (state: State, panel: PanelName, by: number): State =>
	isTableName(panel)
		? tables[panel].change(state, {kind: 'move', by})
		: scrollTo(state, panel, state.panels.scroll[panel] + by);

const moveBy = (state: State, by: number): State => moveIn(state, state.panels.focus, by);

/** Handles Escape. Clears the tags. If there are no tags, clears the filter. If there is no filter either, returns to the GPUs. */
const clearMarks = (state: State): State => focusedTable(state).cleared(state) ?? leavePanel(state);

const pageOf = (state: State): number => Math.max(1, pageRowsOf(state, state.panels.focus));

const report = (state: State, step: 1 | -1): State =>
	withPanels(state, {
		reportBy: neighborOf(reportKinds, state.panels.reportBy, step),
		scroll: {...state.panels.scroll, report: 0},
	});

function changeReportDays(state: State, step: 1 | -1): State {
	const days = reportPeriods[reportPeriods.indexOf(state.panels.reportDays) + step];
	return days === undefined
		? withFlash(state, 'warning', step > 0 ? 'The report covers at most 90 days' : 'The report covers at least one day')
		: withPanels(state, {reportDays: days, scroll: {...state.panels.scroll, report: 0}});
}

/** Toggles the tree of processes. Shows a message, because the detail panel and the process table may both be hidden. */
const toggleTree = (state: State): State =>
	withFlash(
		withPanels(state, {isTree: !state.panels.isTree}),
		'ok',
		state.panels.isTree ? 'Processes are shown as a list' : 'Processes are shown as a tree',
	);

/** Zooms the focused panel, or shows all panels again. Refuses if the panel is alone anyway: a zoom would hide panels once the window is larger. */
function changeZoom(state: State, isZoomed: boolean): State {
	if (!state.panels.isZoomed && layoutOf(state).alone !== undefined) {
		return withFlash(state, 'warning', 'This panel always has the whole screen here: Esc goes back to the GPUs');
	}

	return isZoomed === state.panels.isZoomed
		? withFlash(state, 'warning', 'No panel fills the screen: press + to zoom one')
		: withPanels(state, {isZoomed});
}

const hasGraphs = (state: State): boolean => graphRowsOf(roomOf(state, 'detail').rows) > 0;

/** Changes the time range of the graphs. Shows a message, because the detail panel may have no room for graphs. */
function changeRange(state: State, step: 1 | -1): State {
	if (state.settings.engine !== undefined) {
		return withFlash(state, 'warning', 'The load of the nodes cannot be read here, so there are no graphs');
	}

	const index = pastRanges.indexOf(state.panels.range) + step;
	const range = pastRanges[index];
	return range === undefined
		? withFlash(
				state,
				'warning',
				step > 0
					? 'The load is kept for a day: the graphs go no further back'
					: 'The graphs show the last 5 minutes: [ looks further back',
			)
		: withFlash(
				withPanels(state, {range}),
				'ok',
				`Graphs show the last ${rangeWord(range)}${hasGraphs(state) ? '' : ': press 2 and + to see them'}`,
			);
}

export const panelIntents = {
	'focus-gpus': (state) => focusPanel(state, 'gpus'),
	'focus-detail': (state) => focusPanel(state, 'detail'),
	'focus-queue': (state) => focusPanel(state.panels.focus === 'queue' ? state : selectOwnEntry(state), 'queue'),
	'focus-report': (state) => focusPanel(state, 'report'),
	'focus-events': (state) => focusPanel(state, 'events'),
	'focus-processes': (state) => focusPanel(state, 'processes'),
	'focus-hosts': (state) => focusPanel(state, 'hosts'),
	'focus-jobs': (state) => focusPanel(state, 'jobs'),
	'focus-next-panel': (state) => focusNeighbour(state, 1),
	'focus-previous-panel': (state) => focusNeighbour(state, -1),
	'leave-panel': leavePanel,
	'clear-marks': clearMarks,
	zoom: (state) => changeZoom(state, !state.panels.isZoomed),
	unzoom: (state) => changeZoom(state, false),
	'line-up': (state) => moveBy(state, -1),
	'line-down': (state) => moveBy(state, 1),
	'page-up': (state) => moveBy(state, -pageOf(state)),
	'page-down': (state) => moveBy(state, pageOf(state)),
	'first-line': (state) => moveBy(state, -farthest),
	'last-line': (state) => moveBy(state, farthest),
	'toggle-tree': toggleTree,
	'look-back': (state) => changeRange(state, 1),
	'look-forward': (state) => changeRange(state, -1),
	'report-next': (state) => report(state, 1),
	'report-previous': (state) => report(state, -1),
	'report-longer': (state) => changeReportDays(state, 1),
	'report-shorter': (state) => changeReportDays(state, -1),
	'help-next': (state) => withPanels(state, {helpPage: state.panels.helpPage + 1}),
	'help-previous': (state) => withPanels(state, {helpPage: state.panels.helpPage - 1}),
} as const satisfies Readonly<Record<string, (state: State) => State>>;

export type PanelIntent = keyof typeof panelIntents;

/** Reports that a panel was scrolled to the line `beyond`, which does not exist. `first` is the first line that was drawn instead. */
export type PanelUpdate = {
	readonly kind: 'scroll-limited';
	readonly panel: ScrollingPanel;
	readonly beyond: number;
	readonly first: number;
};

/** Corrects the scroll position of a panel. Does nothing if a key has scrolled the panel since it was drawn. */
export const afterPanelUpdate = (state: State, {panel, beyond, first}: PanelUpdate): State =>
	state.panels.scroll[panel] === beyond ? scrollTo(state, panel, first) : state;

/** How the lines of the screen are shared out. The table and the footer are always there; the rest gives way. */
import type {PanelName, PastRange} from './state/panels/state.js';
import {foldedCount} from './state/table/fold.js';
import type {State} from './state/state.js';

/** Below this nothing but a summary is shown. */
export const smallest = {columns: 60, rows: 15} as const;

const isBelowSmallest = ({columns, rows}: State['size']): boolean => columns < smallest.columns || rows < smallest.rows;

/** Too small for panels and dialogs. What is read aloud line by line needs no room. */
export const isTooSmall = ({size, settings}: Pick<State, 'size' | 'settings'>): boolean =>
	!settings.isLinear && isBelowSmallest(size);

export type Layout = {
	/** Panels with sides, side by side; else rules between them. */
	readonly isFramed: boolean;
	/** Lines between the summary and the message. */
	readonly bodyRows: number;
	/** Lines of the table without its head. */
	readonly tableRows: number;
	/** How many GPUs stand side by side in one line of the table. */
	readonly tableColumns: number;
	/** Lines inside each panel; 0: it is not there. */
	readonly detailRows: number;
	readonly queueRows: number;
	readonly eventRows: number;
	readonly processRows: number;
	/** The graphs of all GPUs, between the queue and the events of a wide screen. */
	readonly loads?: LoadTiles;
	/** Room for the processes of all GPUs beside everything else. */
	readonly isWide: boolean;
	/** Two columns below the table: the queue above the events, and the detail, on a wide screen above all processes. */
	readonly hasColumns: boolean;
	/** The panel below the table that is as wide as the screen; below a queue there may be the events. */
	readonly below?: 'processes' | 'queue';
	/** The one panel that has all the room. */
	readonly alone?: PanelName;
};

/** Tiles of equal size, each with a line of words above its graphs. */
export type LoadTiles = {
	/** Lines of all of them. */
	readonly rows: number;
	/** How many stand side by side. */
	readonly columns: number;
	/** Lines of each. */
	readonly tileRows: number;
};

/** Header, summary, message and footer. */
const fixedRows = 4;

type Shares = Pick<Layout, 'tableRows' | 'detailRows' | 'queueRows' | 'eventRows' | 'processRows' | 'loads'>;

type Counts = {
	/** Of the terminal. */
	readonly columns: number;
	/** Rows of the table: GPUs of one reservation may share one. */
	readonly gpus: number;
	readonly allGpus: number;
	readonly waiting: number;
};

/** The least that is worth showing, from the roomiest on: the events give way first, then the graphs, then queue and detail. */
const framedLevels = [
	{panelRows: 10, eventRows: 2},
	{panelRows: 10, eventRows: 0},
	{panelRows: 4, eventRows: 0},
] as const;

/** The edges of the table, of the panels below it and of the events, and the table's head. */
const edgesOf = (eventRows: number): number => (eventRows === 0 ? 4 : 5);

/** With fewer rows than this, or all its GPUs, the table lets nothing else have room. */
const leastFramedTable = 16;
const leastRuledTable = 17;

/** What a short queue leaves of its column, where there is no room for the events below both: they stand there. */
function withEvents(shares: Shares, waiting: number): Shares {
	const queueRows = Math.max(leastQueue, queueLines(waiting));
	const eventRows = shares.queueRows - queueRows - 1;
	return shares.eventRows > 0 || eventRows < leastEventsBelow ? shares : {...shares, queueRows, eventRows};
}

/** A queue of one, and why it waits. */
const leastQueue = 5;

/** Fewer lines than these say too little of what happened. */
const leastEventsBelow = 3;

function framed(body: number, {gpus, waiting}: Counts): Shares {
	const least = Math.min(gpus, leastFramedTable);
	const fitting = framedLevels.find(
		({panelRows, eventRows}) => least + panelRows + eventRows + edgesOf(eventRows) <= body,
	);
	if (fitting === undefined) {
		// Its two edges and its head.
		return {tableRows: body - 3, detailRows: 0, queueRows: 0, eventRows: 0, processRows: 0};
	}

	const {panelRows, eventRows} = fitting;
	let spare = body - edgesOf(eventRows) - least - panelRows - eventRows;
	const take = (most: number): number => {
		const taken = Math.min(spare, most);
		spare -= taken;
		return taken;
	};

	const moreTable = take(gpus - least);
	const moreEvents = eventRows === 0 ? 0 : take(1);
	const morePanel = take(eventRows === 0 ? spare : 6);
	const lower = panelRows + morePanel + take(Math.min(10, Math.floor(spare / 2)));
	return withEvents(
		{
			tableRows: least + moreTable,
			detailRows: lower,
			queueRows: lower,
			eventRows: eventRows + moreEvents + spare,
			processRows: 0,
		},
		waiting,
	);
}

/** From this size on there are two columns below the table. */
const leastWide = {columns: 140, rows: 40} as const;

/** Lines below the table, edges included, that a wide screen keeps for the rest. */
const leastLower = 18;

/** All processes get this share of their column. */
const processShare = 0.35;

/** Events that are in view before anything else gets their room. */
const leastWideEvents = 8;

/** A frame, and a blank before its right side. */
export const frameSides = 3;

/** Lines of a tile, that of its words with them: graphs that are pleasant to read, the least that show more than the table, and the most. */
const goodTileRows = 5;
const leastTileRows = 3;
const mostTileRows = 8;
const leastTileWidth = 23;

/** Graphs of all GPUs in so many lines: high enough to be read, and then as wide as they can be. One GPU shares its room with the events. */
function loadTilesIn(rows: number, width: number, gpus: number): LoadTiles | undefined {
	if (gpus === 1) {
		const tileRows = Math.ceil(rows / 2);
		return tileRows < goodTileRows ? undefined : {rows: tileRows, columns: 1, tileRows};
	}

	const mostColumns = gpus === 0 ? 0 : Math.floor(width / leastTileWidth);
	const choices = Array.from({length: mostColumns}, (_, index) => {
		const columns = index + 1;
		const lines = Math.ceil(gpus / columns);
		const tileRows = Math.min(mostTileRows, Math.floor(rows / lines));
		return {rows: lines * tileRows, columns, tileRows};
	});
	return (
		choices.find(({tileRows}) => tileRows >= goodTileRows) ?? choices.find(({tileRows}) => tileRows >= leastTileRows)
	);
}

/** Lines that all processes have in a wide layout: so many as hardly any box needs more. */
const processRowsFor = (gpus: number): number => Math.max(5, 2 * gpus + 3);

function wide(body: number, {columns, gpus, allGpus, waiting}: Counts): Shares {
	// Its upper edge and its head; its lower edge is the upper one of those below.
	const tableRows = Math.max(1, Math.min(gpus, body - 2 - leastLower));
	// The upper edges of two panels, and the lower edge of the second.
	const innerRows = body - tableRows - 2 - 3;
	const processRows = Math.min(Math.max(4, Math.floor(innerRows * processShare)), processRowsFor(allGpus));
	// Its head, and for each entry a line that says why it waits.
	const queueRows = Math.max(5, Math.min(2 * waiting + 1, Math.floor(innerRows / 2)));
	const loads = loadTilesIn(
		innerRows - queueRows - leastWideEvents - 1,
		queueWidthOf(columns, true) - frameSides,
		allGpus,
	);
	return {
		tableRows,
		queueRows,
		// The graphs have an edge of their own.
		eventRows: innerRows - queueRows - (loads === undefined ? 0 : loads.rows + 1),
		detailRows: innerRows - processRows,
		processRows,
		loads,
	};
}

const nothingBelow = {detailRows: 0, queueRows: 0, eventRows: 0, processRows: 0} as const;

/** As many GPUs as fit; the queue and the detail share what they leave. */
function dense(body: number, {gpus}: Counts): Shares {
	// The table's upper edge and its head, the upper edge of those below, and their lower one.
	const rest = body - gpus - 4;
	return rest >= leastBelowDense
		? {...nothingBelow, tableRows: gpus, detailRows: rest, queueRows: rest}
		: {...nothingBelow, tableRows: body - 3};
}

/** Fewer lines than these say nothing of the queue and the selected GPU. */
const leastBelowDense = 4;

/** Lines of a queue with its head: an entry and why it waits. */
const queueLines = (waiting: number): number => 2 + 3 * waiting;

/** The table, and below it one panel that gets more of the lines, as far as it needs them; events get what a queue leaves. */
function stacked(body: number, {gpus, waiting}: Counts, below: 'processes' | 'queue'): Shares {
	const innerRows = body - 4;
	const wanted = Math.floor(innerRows * stackedShare);
	const least = below === 'queue' ? Math.min(wanted, queueLines(waiting)) : wanted;
	const tableRows = Math.max(1, Math.min(gpus, innerRows - least));
	const rows = innerRows - tableRows;
	return below === 'processes'
		? {...nothingBelow, tableRows, processRows: rows}
		: withEvents({...nothingBelow, tableRows, queueRows: rows}, waiting);
}

const stackedShare = 0.6;

/** Rules instead of frames: each panel costs one line more than it shows, and one rule ends them all. */
function ruled(body: number, {gpus, waiting}: Counts): Shares {
	const least = Math.min(gpus, Math.max(leastRuledTable, Math.floor(body * 0.6)));
	// The rules above the table and the detail, the table's head, and the last rule.
	let spare = Math.max(0, body - 4 - least);
	const queueRows = waiting > 0 && spare >= 2 ? Math.min(waiting, 4, spare - 1) : 0;
	spare -= queueRows > 0 ? queueRows + 1 : 0;
	const words = Math.min(spare, 5);
	spare -= words;
	spare -= Math.min(spare, gpus - least);
	const graphs = spare >= 5 ? 5 : 0;
	spare -= graphs;
	const leastEvents = spare >= 3 ? Math.min(spare - 1, 8) : 0;
	spare -= leastEvents > 0 ? leastEvents + 1 : 0;
	const moreDetail = words > 0 ? Math.min(spare, 12) : 0;
	const detailRows = words + graphs + moreDetail;
	const eventRows = leastEvents > 0 ? leastEvents + spare - moreDetail : 0;
	const below = detailRows + (queueRows > 0 ? queueRows + 1 : 0) + (eventRows > 0 ? eventRows + 1 : 0);
	return {tableRows: body - 3 - (below > 0 ? below + 1 : 0), detailRows, queueRows, eventRows, processRows: 0};
}

/** What the layout depends on. */
export type Laid = Pick<State, 'size' | 'snapshot' | 'panels' | 'view'>;

const countsOf = ({size, snapshot, panels}: Laid, rows: number): Counts => ({
	columns: size.columns,
	gpus: rows,
	allGpus: snapshot?.gpus.length ?? 0,
	// An empty queue with the focus says so in a line, below the table.
	waiting: Math.max(snapshot?.queue.length ?? 0, panels.focus === 'queue' ? 1 : 0),
});

/** Without frames panels stand one below another: then the usual shares are dense enough. */
const sharesFor = ({isFramed, isWide, preset}: Pick<Layout, 'isFramed' | 'isWide'> & Pick<State['view'], 'preset'>) =>
	isWide ? wide : isFramed ? (preset === 'dense' ? dense : framed) : ruled;

/** How the lines are shared out where the table has so many rows. */
function layoutFor(laid: Laid, rows: number): Layout {
	const {size, panels, view} = laid;
	const bodyRows = size.rows - fixedRows;
	if (isBelowSmallest(size)) {
		const none = {tableRows: 1, detailRows: 0, queueRows: 0, eventRows: 0, processRows: 0};
		return {isFramed: false, isWide: false, hasColumns: false, bodyRows, tableColumns: 1, ...none};
	}

	const counts = countsOf(laid, rows);
	const isFramed = size.columns >= 100 && size.rows >= 20;
	const {preset} = view;
	const below = preset === 'processes' || preset === 'queue' ? preset : undefined;
	const isWide = preset === 'default' && size.columns >= leastWide.columns && size.rows >= leastWide.rows;
	const tableColumns = preset === 'dense' ? tableColumnsOf(size, bodyRows, counts.gpus) : 1;
	const lines = {...counts, gpus: Math.ceil(counts.gpus / tableColumns)};
	const shares =
		below === undefined ? sharesFor({isFramed, isWide, preset})(bodyRows, lines) : stacked(bodyRows, lines, below);
	const {focus, isZoomed} = panels;
	const hasColumns =
		isWide || (isFramed && below === undefined && shares.eventRows > 0 && shares.queueRows < shares.detailRows);
	const layout: Layout = {isFramed, isWide, hasColumns, bodyRows, tableColumns, below, ...shares};
	// Before anything was read, the table has its head alone.
	if (!isZoomed && rowsOf(layout, focus) > (focus === 'table' ? 1 : 0)) {
		return layout;
	}

	// Its own edges or rules, and the head of the table.
	const tableRows = focus === 'table' ? bodyRows - 3 : shares.tableRows;
	return {...layout, below: undefined, tableRows, alone: focus};
}

const gpusOf = ({snapshot}: Laid): number => snapshot?.gpus.length ?? 0;

/** Whether GPUs of one reservation share a row: as the user wants it, or else where not all GPUs fit. Who chose the dense preset wants each of them. */
export function isFolded(state: Laid): boolean {
	const {tableRows, tableColumns} = layoutFor(state, gpusOf(state));
	return state.view.isFolded ?? (state.view.preset !== 'dense' && gpusOf(state) > tableRows * tableColumns);
}

export const layoutOf = (state: Laid): Layout =>
	layoutFor(state, state.snapshot !== undefined && isFolded(state) ? foldedCount(state.snapshot) : gpusOf(state));

/** Columns of the terminal that half of a line needs to say what matters of a GPU. */
const leastTableColumn = 56;

/** Two GPUs stand side by side in a line where not all fit below one another. */
const tableColumnsOf = ({columns}: State['size'], bodyRows: number, gpus: number): number =>
	gpus > bodyRows - 3 && columns >= 2 * leastTableColumn ? 2 : 1;

/** How far back the graphs of all GPUs go: as far as those of the detail, or beside the detail of the only GPU a day. */
export const loadsRangeOf = (state: Laid): PastRange => (gpusOf(state) === 1 ? 1440 : state.panels.range);

/** How far back any graph goes that is shown. */
export const shownRangeOf = (state: Laid): PastRange =>
	layoutOf(state).loads === undefined ? state.panels.range : loadsRangeOf(state);

/** How many GPUs the table shows at once. */
export function tableRowsOf(state: State): number {
	const {tableRows, tableColumns} = layoutOf(state);
	return tableRows * tableColumns;
}

/** The queue stands beside the detail, which gets the rest. In a wide layout there is room to say because of whom an entry waits. */
export const queueWidthOf = (columns: number, isWide: boolean): number =>
	Math.max(columns >= 116 ? 51 : 45, Math.floor(columns * (isWide ? 0.4 : 0.34)));

/** Lines inside a panel, the head of a table included; none where it has no place beside others. */
const rowsOf = ({tableRows, detailRows, queueRows, eventRows, processRows}: Layout, panel: PanelName): number =>
	({
		table: tableRows + 1,
		detail: detailRows,
		queue: queueRows,
		events: eventRows,
		processes: processRows,
		report: 0,
		hosts: 0,
	})[panel];

/** Beside others without sides, the queue does without a head. */
export const hasQueueHead = (state: Laid): boolean => {
	const {isFramed, alone, below} = layoutOf(state);
	return isFramed || alone === 'queue' || below === 'queue';
};

/** Lines of words in a detail panel that is high: the graphs get the rest. */
const mostWords = 13;

/** Lines of the graphs in a detail panel of so many, their times included. */
export const graphRowsOf = (rows: number): number =>
	rows < 9 ? 0 : Math.max(rows - mostWords, Math.min(13, Math.max(5, Math.floor(rows / 2))));

/** The head of the report, and below its rows an empty line and the sums. */
const otherReportRows = 3;

/** Rows of the report in a panel of so many lines. */
export const reportRowsWithin = (rows: number): number => Math.max(0, rows - otherReportRows);

/** Chooses which panels are visible, and their sizes, for the size of the terminal. Ink places the content inside the panels. */
import {boxed, leastRuledTable, ruled, type LoadTiles, type Rows, type Shares} from './layout-shares.js';
import type {PanelName, PastRange} from './state/panels/state.js';
import {foldedCount} from './state/gpus/fold.js';
import {remembering} from './state/memo.js';
import type {State} from './state/state.js';

/** The smallest terminal with panels. On smaller terminals, only GPUs are shown. */
export const smallest = {columns: 60, rows: 15} as const;

export const isTooSmall = ({size: {columns, rows}, settings}: Pick<State, 'size' | 'settings'>): boolean =>
	!settings.isLinear && (columns < smallest.columns || rows < smallest.rows);

/** The panels. `loads` shows graphs of all GPUs and cannot get the focus. */
export type PanelId = keyof Rows;

export type Place = {
	readonly panel: PanelId;
	/** Width in terminal columns, including borders. */
	readonly width: number;
	/** Lines inside the panel, including the head of a table. */
	readonly rows: number;
};

export type Stack = readonly Place[];

type Layout = {
	/** Whether panels have borders on all sides, or only a title line, as on small terminals. */
	readonly frame: 'boxed' | 'ruled';
	/** Whether a line separates the last panel from the message below it. */
	readonly hasLastRule: boolean;
	/** The blocks of the screen from top to bottom. A block has one stack of panels, or two side by side. */
	readonly blocks: ReadonlyArray<readonly Stack[]>;
	/** Number of GPUs that are side by side in one line of the table. */
	readonly tableColumns: number;
	readonly loads?: LoadTiles;
	/** The panel that covers the whole screen, if any. */
	readonly alone?: PanelName;
};

type Laid = Pick<State, 'size' | 'snapshot' | 'panels' | 'view'>;

/** Lines outside the panels: header, summary, message and footer. */
const fixedRows = 4;

/** Whether the screen is large enough for borders. Without them, more rows fit. */
const mayBeBoxed = ({columns, rows}: State['size']): boolean => columns >= 100 && rows >= 20;

const bodyRowsOf = (size: State['size']): number => size.rows - fixedRows;

/** Returns the width of the queue beside the detail panel. In a wide layout, the queue also shows who blocks an entry. */
const queueWidthOf = (columns: number, isWide: boolean): number =>
	Math.max(columns >= 116 ? 51 : 45, Math.floor(columns * (isWide ? 0.4 : 0.34)));

const gpusOf = ({snapshot}: Laid): number => snapshot?.gpus.length ?? 0;

/** Minimum width of a block if the table has two blocks side by side, by preset. */
const leastTableColumn = {dense: 56, default: 80} as const;

const stackOf = (width: number, lines: Rows): Stack =>
	(Object.entries(lines) as ReadonlyArray<[PanelId, number]>)
		.filter(([panel, rows]) => rows > 0 || panel === 'detail')
		.map(([panel, rows]) => ({panel, width, rows}));

function blocksOf({blocks, isWide = false}: Shares, columns: number): Layout['blocks'] {
	const left = queueWidthOf(columns, isWide);
	return blocks.map((stacks) =>
		stacks.length === 1
			? [stackOf(columns, stacks[0]!)]
			: stacks.map((rows, index) => stackOf(index === 0 ? left : columns - left, rows)),
	);
}

const placeIn = ({blocks}: Pick<Layout, 'blocks'>, panel: PanelId): Place | undefined =>
	blocks
		.flat()
		.flat()
		.find((place) => place.panel === panel);

const isShown = (layout: Layout, panel: PanelId): boolean => (placeIn(layout, panel)?.rows ?? 0) > 0;

/** Whether a table with borders has empty lines but leaves no room for other panels. Without borders, the same rows and a part of those panels fit. */
function wastesLines({blocks}: Shares, gpuLines: number): boolean {
	const panels = blocks.flat().flatMap((rows) => Object.keys(rows));
	const tableLines = blocks[0]![0]!.gpus! - 1;
	return panels.length === 1 && gpuLines < tableLines && gpuLines <= leastRuledTable;
}

function layoutFor(laid: Laid, gpuRows: number, tableColumns: number): Layout {
	const {size, snapshot, panels, view} = laid;
	const {columns} = size;
	const body = bodyRowsOf(size);
	const {focus, isZoomed} = panels;
	const waiting = snapshot?.queue.length ?? 0;
	const counts = {
		gpus: Math.ceil(gpuRows / tableColumns),
		allGpus: gpusOf(laid),
		// A focused queue that is empty needs one line, which says that nobody waits.
		waiting: Math.max(waiting, focus === 'queue' ? 1 : 0),
		innerQueueWidth: innerWidthOf(queueWidthOf(columns, true), 'boxed'),
	};
	const boxedShares = mayBeBoxed(size) ? boxed(body, size, view.preset, counts) : undefined;
	const isBoxedFrame = boxedShares !== undefined && !wastesLines(boxedShares, counts.gpus);
	const frame = isBoxedFrame ? 'boxed' : 'ruled';
	// If only the title of the detail panel fits below the table, that title takes the last line, so no rule is drawn below it.
	const whole = stackOf(columns, ruled(body, view.preset, counts));
	const hasLastRule = !isBoxedFrame && whole.at(-1)!.rows > 0;
	const shares: Shares = isBoxedFrame
		? boxedShares
		: {blocks: [[ruled(hasLastRule ? body - 1 : body, view.preset, counts)]]};
	const blocks = blocksOf(shares, columns);
	const layout: Layout = {frame, hasLastRule, blocks, tableColumns, loads: shares.loads};
	if (!isZoomed && isShown(layout, focus)) {
		return layout;
	}

	const alone = {panel: focus, width: columns, rows: body - 2};
	return {frame, hasLastRule: !isBoxedFrame, blocks: [[[alone]]], tableColumns, alone: focus};
}

const shownGpus = (layout: Layout): number => ((placeIn(layout, 'gpus')?.rows ?? 1) - 1) * layout.tableColumns;

/** Returns the layout for a number of rows in the GPU table. Rows that do not fit below each other are placed in blocks side by side. */
function layoutWith(laid: Laid, gpuRows: number): Layout {
	const {size, view} = laid;
	const isDense = view.preset === 'dense';
	const one = layoutFor(laid, gpuRows, 1);
	if (size.columns < 2 * leastTableColumn[isDense ? 'dense' : 'default']) {
		return one;
	}

	if (isDense) {
		return gpuRows > bodyRowsOf(size) - 3 ? layoutFor(laid, gpuRows, 2) : one;
	}

	const two = layoutFor(laid, gpuRows, 2);
	return shownGpus(one) < gpuRows && shownGpus(two) >= gpuRows ? two : one;
}

/** The layout depends only on these parts of the state, and not on the time. */
const partsOf = ({size, snapshot, panels, view}: Laid) => [size, snapshot, panels, view];

const unfoldedLayout = remembering(partsOf, (laid: Laid): Layout => layoutWith(laid, gpusOf(laid)));

/** Whether all GPUs of a reservation share a row. If the user has not chosen, true if not all GPUs fit on the screen. */
export function isFolded(laid: Laid): boolean {
	return laid.view.isFolded ?? (laid.view.preset !== 'dense' && gpusOf(laid) > shownGpus(unfoldedLayout(laid)));
}

export const layoutOf = remembering(partsOf, (laid: Laid): Layout => {
	if (laid.snapshot === undefined || !isFolded(laid)) {
		return unfoldedLayout(laid);
	}

	const rows = foldedCount(laid.snapshot);
	return laid.view.preset === 'dense' ? layoutWith(laid, rows) : layoutFor(laid, rows, 1);
});

export type Room = {readonly rows: number; readonly width: number};

/** Returns the width inside a panel, without its borders and the blank before the right border. */
export const innerWidthOf = (width: number, frame: Layout['frame'] | 'plain'): number =>
	frame === 'boxed' ? width - 3 : width;

/** Returns the size of the space inside a panel. A hidden panel has 0 rows. */
export function roomOf(laid: Laid, panel: PanelId): Room {
	const layout = layoutOf(laid);
	const {rows, width} = placeIn(layout, panel) ?? {rows: 0, width: laid.size.columns};
	return {rows, width: innerWidthOf(width, layout.frame)};
}

export const isPanelShown = (laid: Laid, panel: PanelId): boolean => isShown(layoutOf(laid), panel);

/** Returns the number of rows of the GPU table that are visible at once, in all of its blocks. */
export const tableRowsOf = (laid: Laid): number => Math.max(1, shownGpus(layoutOf(laid)));

export const hasQueueHead = (laid: Laid): boolean => {
	const {frame, alone} = layoutOf(laid);
	return frame === 'boxed' || alone === 'queue' || laid.view.preset === 'queue';
};

/** Lines of text that a tall detail panel shows above its graphs. */
const mostWords = 13;

/** Returns the number of lines for graphs in a detail panel, including the time axis. */
export const graphRowsOf = (rows: number): number =>
	rows < 9 ? 0 : Math.max(rows - mostWords, Math.min(13, Math.max(5, Math.floor(rows / 2))));

/** Lines of the report that are not rows: its head, a blank line and the totals. */
const otherReportRows = 3;

export const reportRowsWithin = (rows: number): number => Math.max(0, rows - otherReportRows);

/** Returns the number of lines or rows by which PageDown moves. */
export function pageRowsOf(laid: Laid, panel: PanelName): number {
	const {rows} = roomOf(laid, panel);
	const belowHead = Math.max(0, rows - 1);
	return {
		gpus: tableRowsOf(laid),
		queue: hasQueueHead(laid) ? belowHead : rows,
		detail: rows - graphRowsOf(rows),
		report: reportRowsWithin(rows),
		events: rows,
		hosts: belowHead,
		processes: belowHead,
		jobs: belowHead,
	}[panel];
}

/** Returns the time range of the panel `loads`: a day if there is only one GPU, otherwise the time range of the detail panel. */
export const loadsRangeOf = (laid: Laid): PastRange => (gpusOf(laid) === 1 ? 1440 : laid.panels.range);

/** Returns the longest time range that a visible graph needs. */
export const shownRangeOf = (laid: Laid): PastRange =>
	isPanelShown(laid, 'loads') ? loadsRangeOf(laid) : laid.panels.range;

/** Which panels are shown, and how many lines and columns each gets, for a given size of the terminal. Ink does the rest. */
import {boxed, ruled, type LoadTiles, type Shares} from './layout-shares.js';
import type {PanelName, PastRange} from './state/panels/state.js';
import {foldedCount} from './state/table/fold.js';
import type {State} from './state/state.js';

/** Below this size there is room for the table of GPUs alone. */
export const smallest = {columns: 60, rows: 15} as const;

const isBelowSmallest = ({columns, rows}: State['size']): boolean => columns < smallest.columns || rows < smallest.rows;

/** Whether the terminal is too small for panels and dialogs. A screen reader needs no room. */
export const isTooSmall = ({size, settings}: Pick<State, 'size' | 'settings'>): boolean =>
	!settings.isLinear && isBelowSmallest(size);

/** `loads` shows graphs of all GPUs. No key leads to it. */
export type PanelId = PanelName | 'loads';

export type Place = {
	readonly panel: PanelId;
	/** Cells of the terminal, borders included. */
	readonly width: number;
	/** Lines inside, the head of a table included. */
	readonly rows: number;
};

/** Panels one below another. */
export type Stack = readonly Place[];

export type Layout = {
	/** Panels with borders on all sides, or with a titled line above each where the terminal is small. */
	readonly frame: 'boxed' | 'ruled';
	/** A line stands between the last panel and the message. */
	readonly hasLastRule: boolean;
	/** From top to bottom; each has one stack, or two side by side. */
	readonly blocks: ReadonlyArray<readonly Stack[]>;
	/** GPUs side by side in one line of the table. */
	readonly tableColumns: number;
	readonly loads?: LoadTiles;
	/** The one panel that has all the room. */
	readonly alone?: PanelName;
};

/** What the layout depends on. */
export type Laid = Pick<State, 'size' | 'snapshot' | 'panels' | 'view'>;

/** Header, summary, message and footer. */
const fixedRows = 4;

const isBoxed = ({columns, rows}: State['size']): boolean => columns >= 100 && rows >= 20;

const bodyRowsOf = (size: State['size']): number => size.rows - fixedRows;

/** Columns that the queue needs beside the detail. In a wide layout there is room for who blocks an entry. */
const queueWidthOf = (columns: number, isWide: boolean): number =>
	Math.max(columns >= 116 ? 51 : 45, Math.floor(columns * (isWide ? 0.4 : 0.34)));

const gpusOf = ({snapshot}: Laid): number => snapshot?.gpus.length ?? 0;

/** Columns of the terminal that each of two GPUs side by side needs, by preset. */
const leastTableColumn = {dense: 56, default: 80} as const;

const stackOf = (width: number, ...places: ReadonlyArray<readonly [panel: PanelId, rows: number]>): Stack =>
	places.filter(([, rows]) => rows > 0).map(([panel, rows]) => ({panel, width, rows}));

function boxedBlocks(shares: Shares, columns: number): ReadonlyArray<readonly Stack[]> {
	const {tableRows, detailRows, queueRows, eventRows, processRows, loads, arrangement} = shares;
	const table = [stackOf(columns, ['table', tableRows + 1])];
	if (arrangement === 'stacked') {
		return [table, [stackOf(columns, ['processes', processRows], ['queue', queueRows], ['events', eventRows])]];
	}

	const left = queueWidthOf(columns, arrangement === 'wide');
	const right = columns - left;
	return arrangement === 'rows'
		? [
				table,
				[stackOf(left, ['queue', queueRows]), stackOf(right, ['detail', detailRows])],
				...(eventRows === 0 ? [] : [[stackOf(columns, ['events', eventRows])]]),
			]
		: [
				table,
				[
					stackOf(left, ['queue', queueRows], ['loads', loads?.rows ?? 0], ['events', eventRows]),
					stackOf(right, ['detail', detailRows], ['processes', processRows]),
				],
			];
}

/** Without borders on all sides, the title of the detail stays even where it has no lines. */
const ruledBlocks = (
	{tableRows, detailRows, queueRows, eventRows, processRows, arrangement}: Shares,
	width: number,
): ReadonlyArray<readonly Stack[]> => [
	[
		[
			...stackOf(width, ['table', tableRows + 1]),
			...(arrangement === 'stacked' ? [] : [{panel: 'detail', width, rows: detailRows} as const]),
			...stackOf(width, ['processes', processRows], ['queue', queueRows], ['events', eventRows]),
		],
	],
];

const isShown = ({blocks}: Pick<Layout, 'blocks'>, panel: PanelId): boolean =>
	blocks
		.flat()
		.flat()
		.some((place) => place.panel === panel && place.rows > 0);

/** Returns the layout where the table has so many rows, in so many blocks side by side. */
function layoutFor(laid: Laid, gpuRows: number, tableColumns: number): Layout {
	const {size, snapshot, panels, view} = laid;
	const {columns} = size;
	const frame = isBoxed(size) ? 'boxed' : 'ruled';
	const body = bodyRowsOf(size);
	const {focus, isZoomed} = panels;
	const waiting = snapshot?.queue.length ?? 0;
	const counts = {
		columns,
		gpus: Math.ceil(gpuRows / tableColumns),
		allGpus: gpusOf(laid),
		// An empty queue that has the focus says so in a line.
		waiting: Math.max(waiting, focus === 'queue' ? 1 : 0),
		innerQueueWidth: innerWidthOf(queueWidthOf(columns, true), frame),
	};
	const isBoxedFrame = frame === 'boxed';
	// Where the title of the detail is all that stands below the table, it is the last line.
	const bare = isBoxedFrame ? undefined : ruled(body, view.preset, counts);
	const isBare = bare !== undefined && bare.detailRows + bare.queueRows + bare.eventRows + bare.processRows === 0;
	const shares = isBoxedFrame
		? boxed(body, size, view.preset, counts)
		: isBare
			? bare
			: ruled(body - 1, view.preset, counts);
	const blocks = isBoxedFrame ? boxedBlocks(shares, columns) : ruledBlocks(shares, columns);
	const hasLastRule = !isBoxedFrame && !isBare;
	const layout: Layout = {frame, hasLastRule, blocks, tableColumns, loads: shares.loads};
	if (!isZoomed && isShown(layout, focus)) {
		return layout;
	}

	const alone = {panel: focus, width: columns, rows: body - 2};
	return {frame, hasLastRule: !isBoxedFrame, blocks: [[[alone]]], tableColumns, alone: focus};
}

/** GPUs that the table shows at once in this layout. */
const shownGpus = (layout: Layout): number => ((placeIn(layout, 'table')?.rows ?? 1) - 1) * layout.tableColumns;

const placeIn = ({blocks}: Layout, panel: PanelId): Place | undefined =>
	blocks
		.flat()
		.flat()
		.find((place) => place.panel === panel);

/** Returns the layout for so many rows of GPUs: two GPUs stand side by side where they do not fit below one another. */
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

/** The layout with a row for each GPU. */
const unfoldedLayout = (laid: Laid): Layout => layoutWith(laid, gpusOf(laid));

/** Whether the GPUs of one reservation share a row: as the user chose, or else where not all GPUs fit. */
export function isFolded(laid: Laid): boolean {
	return laid.view.isFolded ?? (laid.view.preset !== 'dense' && gpusOf(laid) > shownGpus(unfoldedLayout(laid)));
}

export function layoutOf(laid: Laid): Layout {
	if (laid.snapshot === undefined || !isFolded(laid)) {
		return unfoldedLayout(laid);
	}

	const rows = foldedCount(laid.snapshot);
	return laid.view.preset === 'dense' ? layoutWith(laid, rows) : layoutFor(laid, rows, 1);
}

/** The room inside a panel. */
export type Room = {readonly rows: number; readonly width: number};

/** Cells inside a panel: its borders, and a blank before the right one, are left out. */
export const innerWidthOf = (width: number, frame: Layout['frame'] | 'plain'): number =>
	frame === 'boxed' ? width - 3 : width;

/** Returns the room of a panel; no rows where it is not shown. */
export function roomOf(laid: Laid, panel: PanelId): Room {
	const layout = layoutOf(laid);
	const {rows, width} = placeIn(layout, panel) ?? {rows: 0, width: laid.size.columns};
	return {rows, width: innerWidthOf(width, layout.frame)};
}

export const isPanelShown = (laid: Laid, panel: PanelId): boolean => isShown(layoutOf(laid), panel);

/** Rows that the table of GPUs shows at once, in all its blocks. */
export const tableRowsOf = (laid: Laid): number => Math.max(1, shownGpus(layoutOf(laid)));

/** Whether the queue has room for its head. */
export const hasQueueHead = (laid: Laid): boolean => {
	const {frame, alone} = layoutOf(laid);
	return frame === 'boxed' || alone === 'queue' || laid.view.preset === 'queue';
};

/** Lines of text that a high detail panel keeps above its graphs. */
const mostWords = 13;

/** Lines of the graphs in a detail panel of so many, their times included. */
export const graphRowsOf = (rows: number): number =>
	rows < 9 ? 0 : Math.max(rows - mostWords, Math.min(13, Math.max(5, Math.floor(rows / 2))));

/** The head of the report, and below its rows a blank line and the sums. */
const otherReportRows = 3;

/** Rows of the report in a panel of so many lines. */
export const reportRowsWithin = (rows: number): number => Math.max(0, rows - otherReportRows);

/** Returns how many lines or rows a panel moves by with PageDown. */
export function pageRowsOf(laid: Laid, panel: PanelName): number {
	const {rows} = roomOf(laid, panel);
	const belowHead = Math.max(0, rows - 1);
	return {
		table: tableRowsOf(laid),
		queue: hasQueueHead(laid) ? belowHead : rows,
		detail: rows - graphRowsOf(rows),
		report: reportRowsWithin(rows),
		events: rows,
		hosts: belowHead,
		processes: belowHead,
	}[panel];
}

/** How far back the graphs of all GPUs go: as far as those of the detail, or a day beside the detail of the only GPU. */
export const loadsRangeOf = (laid: Laid): PastRange => (gpusOf(laid) === 1 ? 1440 : laid.panels.range);

/** How far back any graph goes that is shown. */
export const shownRangeOf = (laid: Laid): PastRange =>
	isPanelShown(laid, 'loads') ? loadsRangeOf(laid) : laid.panels.range;

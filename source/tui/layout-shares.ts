/** How the lines of the screen are shared out among the panels. The table comes first; the events give way first. */
import type {PresetName} from '../format/monitor-settings.js';

/** A tile of the panel `loads`: a line of text and its graphs. */
export type LoadTiles = {
	/** Lines of all tiles. */
	readonly rows: number;
	/** Tiles side by side. */
	readonly columns: number;
	/** Lines of each tile. */
	readonly tileRows: number;
};

/** Lines inside each panel; 0 where it is not shown. The head of the table is not counted. */
export type Shares = {
	readonly tableRows: number;
	readonly detailRows: number;
	readonly queueRows: number;
	readonly eventRows: number;
	readonly processRows: number;
	readonly loads?: LoadTiles;
	/**
	`rows`: queue beside detail, events below both. `columns`: events below the queue, beside the detail. `wide`: the same on a large screen, with
	graphs and processes. `stacked`: one panel below the table.
	*/
	readonly arrangement: 'rows' | 'columns' | 'wide' | 'stacked';
};

export type Counts = {
	/** Columns of the terminal. */
	readonly columns: number;
	/** Lines that the GPUs need in the table. */
	readonly gpus: number;
	readonly allGpus: number;
	readonly waiting: number;
	/** Cells inside the queue of a wide screen. */
	readonly innerQueueWidth: number;
};

type Size = {readonly columns: number; readonly rows: number};

/** Lines of a panel with its borders. */
const boxedRows = (rows: number): number => (rows === 0 ? 0 : rows + 2);

/** Lines of the table with its head and its borders. */
const boxedTable = (rows: number): number => rows + 3;

/** The least that is worth showing below the table, from the roomiest on. */
const boxedLevels = [
	{lower: 10, events: 2},
	{lower: 10, events: 0},
	{lower: 4, events: 0},
] as const;

/** With fewer rows than this, or all its GPUs, the table leaves no room to the other panels. */
const leastBoxedTable = 16;
const leastRuledTable = 17;

/** A queue of one entry, and why it waits. */
const leastQueue = 5;
/** Fewer lines than these say too little of what happened. */
const leastEventsBelow = 3;

/** Lines of a queue with its head: for each entry a row and why it waits. */
const queueLines = (waiting: number): number => 2 + 3 * waiting;

/** Puts the events below a short queue, where there is no room for them below everything. */
function withEventsBelowQueue(shares: Shares, waiting: number): Shares {
	const queueRows = Math.max(leastQueue, queueLines(waiting));
	const eventRows = shares.queueRows - queueRows - 2;
	return shares.eventRows > 0 || eventRows < leastEventsBelow
		? shares
		: {...shares, queueRows, eventRows, arrangement: 'columns'};
}

const nothingBelow = {detailRows: 0, queueRows: 0, eventRows: 0, processRows: 0, arrangement: 'rows'} as const;

function usual(body: number, {gpus, waiting}: Counts): Shares {
	const least = Math.min(gpus, leastBoxedTable);
	const level = boxedLevels.find(({lower, events}) => boxedTable(least) + boxedRows(lower) + boxedRows(events) <= body);
	if (level === undefined) {
		return {...nothingBelow, tableRows: body - 3};
	}

	let spare = body - boxedTable(least) - boxedRows(level.lower) - boxedRows(level.events);
	const take = (most: number): number => {
		const taken = Math.max(0, Math.min(spare, most));
		spare -= taken;
		return taken;
	};

	const tableRows = least + take(gpus - least);
	const hasEvents = level.events > 0;
	const moreEvents = hasEvents ? take(1) : 0;
	const moreLower = take(hasEvents ? 6 : spare);
	const lower = level.lower + moreLower + take(Math.min(10, Math.floor(spare / 2)));
	const eventRows = hasEvents ? level.events + moreEvents + spare : 0;
	return withEventsBelowQueue({...nothingBelow, tableRows, detailRows: lower, queueRows: lower, eventRows}, waiting);
}

/** From this size on there are two columns below the table. */
const leastWide = {columns: 140, rows: 40} as const;

/** Lines below the table, borders included, that a wide screen keeps for the other panels once the table has its least. */
const leastLowerWide = 20;

/** All processes get this share of their column. */
const processShare = 0.35;

/** Events that are shown before any other panel gets their lines. */
const leastWideEvents = 7;

/** Lines of a tile of graphs: good to read, the least that shows more than the table, and the most. */
const goodTileRows = 5;
const leastTileRows = 3;
const mostTileRows = 8;
const leastTileWidth = 23;

/** Returns tiles for the graphs of all GPUs: high enough to be read, and then as wide as they can be. One GPU shares its room with the events. */
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

function wide(body: number, {gpus, allGpus, waiting, innerQueueWidth}: Counts): Shares {
	const tableRows = Math.max(1, Math.min(gpus, Math.max(leastBoxedTable, body - 3 - leastLowerWide)));
	const lower = body - boxedTable(tableRows);
	// Two panels one below the other.
	const inner = lower - 4;
	const processRows = Math.min(Math.max(4, Math.floor(inner * processShare)), Math.max(5, 2 * allGpus + 3));
	const queueRows = Math.max(5, Math.min(2 * waiting + 1, Math.floor(inner / 2)));
	const loads = loadTilesIn(inner - queueRows - leastWideEvents - 2, innerQueueWidth, allGpus);
	return {
		tableRows,
		detailRows: inner - processRows,
		processRows,
		queueRows,
		eventRows: inner - queueRows - boxedRows(loads?.rows ?? 0),
		loads,
		arrangement: 'wide',
	};
}

/** Fewer lines than these say nothing of the queue and the selected GPU. */
const leastBelowDense = 4;

/** As many GPUs as fit; the queue and the detail share what is left. */
function dense(body: number, {gpus}: Counts): Shares {
	const rest = body - boxedTable(gpus) - 2;
	return rest >= leastBelowDense
		? {...nothingBelow, tableRows: gpus, detailRows: rest, queueRows: rest}
		: {...nothingBelow, tableRows: body - 3};
}

const stackedShare = 0.6;

/** One panel below the table that gets more of the lines, as far as it needs them; events get what a queue leaves. */
function stacked(body: number, {gpus, waiting}: Counts, below: 'processes' | 'queue'): Shares {
	const inner = body - 5;
	const wanted = Math.floor(inner * stackedShare);
	const least = below === 'queue' ? Math.min(wanted, queueLines(waiting)) : wanted;
	const tableRows = Math.max(1, Math.min(gpus, inner - least));
	const rows = inner - tableRows;
	const shares: Shares = {...nothingBelow, tableRows, arrangement: 'stacked'};
	return below === 'processes'
		? {...shares, processRows: rows}
		: {...withEventsBelowQueue({...shares, queueRows: rows}, waiting), arrangement: 'stacked'};
}

/** Shares out the lines where each panel has borders on all sides. */
export function boxed(body: number, {columns, rows}: Size, preset: PresetName, counts: Counts): Shares {
	switch (preset) {
		case 'processes':
		case 'queue': {
			return stacked(body, counts, preset);
		}

		case 'dense': {
			return dense(body, counts);
		}

		case 'default': {
			return columns >= leastWide.columns && rows >= leastWide.rows ? wide(body, counts) : usual(body, counts);
		}
	}
}

/** Shares out the lines where each panel has one line above it. */
export function ruled(body: number, preset: PresetName, {gpus, waiting}: Counts): Shares {
	if (preset === 'processes' || preset === 'queue') {
		const shares = stacked(body + 2, {columns: 0, gpus, waiting, allGpus: gpus, innerQueueWidth: 0}, preset);
		return {...shares, eventRows: Math.max(0, shares.eventRows - 1)};
	}

	const least = Math.min(gpus, Math.max(leastRuledTable, Math.floor(body * 0.6)));
	// The lines above the table and the detail, and the table's head.
	let spare = Math.max(0, body - 3 - least);
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
	return {
		tableRows: body - 3 - below,
		detailRows,
		queueRows,
		eventRows,
		processRows: 0,
		arrangement: 'rows',
	};
}

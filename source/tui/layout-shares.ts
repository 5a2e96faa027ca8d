/** Divides the lines of the screen among the panels. The table has the highest priority, the events the lowest. */
import type {PresetName} from '../format/monitor-settings.js';

/** Tiles of the `loads` panel. Each tile is a line of text with graphs below. */
export type LoadTiles = {
	readonly rows: number;
	/** Tiles side by side. */
	readonly columns: number;
	readonly tileRows: number;
};

/** Lines inside each panel; 0 if the panel is hidden. The table's head is not counted. */
export type Shares = {
	readonly tableRows: number;
	readonly detailRows: number;
	readonly queueRows: number;
	readonly eventRows: number;
	readonly processRows: number;
	readonly loads?: LoadTiles;
	/**
	`rows`: queue beside detail, events below both. `columns`: events below the queue, beside the detail. `wide`: the same on a large screen,
	with graphs and processes. `stacked`: one panel below the table.
	*/
	readonly arrangement: 'rows' | 'columns' | 'wide' | 'stacked';
};

export type Counts = {
	readonly columns: number;
	/** Lines that the table needs to show every GPU. */
	readonly gpus: number;
	readonly allGpus: number;
	readonly waiting: number;
	/** Width inside the queue panel of a wide screen. */
	readonly innerQueueWidth: number;
};

type Size = {readonly columns: number; readonly rows: number};

const boxedRows = (rows: number): number => (rows === 0 ? 0 : rows + 2);

const boxedTable = (rows: number): number => rows + 3;

/** Minimum sizes of the panels below the table, from the roomiest down. */
const boxedLevels = [
	{lower: 10, events: 2},
	{lower: 10, events: 0},
	{lower: 4, events: 0},
] as const;

/** Rows that the table gets before any other panel, unless it has fewer GPUs. */
const leastBoxedTable = 16;
const leastRuledTable = 17;

/** A queue of one entry, and the reason why it waits. */
const leastQueue = 5;
/** Minimum lines of a useful event list. */
const leastEventsBelow = 3;

/** Returns the lines of a queue: its head, and for each entry a row and a reason. */
const queueLines = (waiting: number): number => 2 + 3 * waiting;

/** Moves the events below a short queue if there is no room for them at the bottom. */
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

/** Minimum size for two columns below the table. */
const leastWide = {columns: 140, rows: 40} as const;

/** Lines, borders included, that a wide screen reserves for the panels below the table. */
const leastLowerWide = 20;

/** Share of their column that the processes get. */
const processShare = 0.35;

/** Events shown before any other panel gets more lines. */
const leastWideEvents = 7;

/** Lines of a graph tile: preferred, minimum and maximum. */
const goodTileRows = 5;
const leastTileRows = 3;
const mostTileRows = 8;
const leastTileWidth = 23;

/** Returns the tiles for the graphs of all GPUs: high enough to read, then as wide as possible. A single GPU shares the space with the events. */
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
	// Two panels, one above the other.
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

const leastBelowDense = 4;

/** Shows as many GPUs as fit. The queue and the detail panel share the rest. */
function dense(body: number, {gpus}: Counts): Shares {
	const rest = body - boxedTable(gpus) - 2;
	return rest >= leastBelowDense
		? {...nothingBelow, tableRows: gpus, detailRows: rest, queueRows: rest}
		: {...nothingBelow, tableRows: body - 3};
}

const stackedShare = 0.6;

/** Gives one panel below the table the lines that it needs. Events get what a queue leaves. */
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

/** Divides the lines between panels with borders on all sides. */
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

/** Divides the lines between panels with one title line each. */
export function ruled(body: number, preset: PresetName, {gpus, waiting}: Counts): Shares {
	if (preset === 'processes' || preset === 'queue') {
		const shares = stacked(body + 2, {columns: 0, gpus, waiting, allGpus: gpus, innerQueueWidth: 0}, preset);
		return {...shares, eventRows: Math.max(0, shares.eventRows - 1)};
	}

	const least = Math.min(gpus, Math.max(leastRuledTable, Math.floor(body * 0.6)));
	// The title lines of the table and the detail panel, and the table's head.
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

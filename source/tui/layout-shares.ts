/** Divides the lines of the screen among the panels. The table gets lines first, and the events get lines last. */
import type {PresetName} from '../format/monitor-settings.js';
import type {PanelName} from './state/panels/state.js';

/** Sizes of the tiles in the panel `loads`. Each tile is a line of text with graphs below. */
export type LoadTiles = {
	readonly rows: number;
	/** Number of tiles side by side. */
	readonly columns: number;
	readonly tileRows: number;
};

/** Lines inside the panels of a stack, from top to bottom, including the head of a table. A panel without lines is hidden. */
export type Rows = Readonly<Partial<Record<PanelName | 'loads', number>>>;

/** The blocks of the screen from top to bottom. A block has one stack of panels, or two side by side. */
export type Shares = {
	readonly blocks: ReadonlyArray<readonly Rows[]>;
	readonly loads?: LoadTiles;
	/** Whether the screen is large enough for two columns of panels below the table. */
	readonly isWide?: boolean;
};

type Counts = {
	/** Lines that the table needs to show every GPU. */
	readonly gpus: number;
	readonly allGpus: number;
	readonly waiting: number;
	/** Width inside the queue panel, if the screen is wide. */
	readonly innerQueueWidth: number;
};

type Size = {readonly columns: number; readonly rows: number};

const boxedRows = (rows: number): number => (rows === 0 ? 0 : rows + 2);

/** Returns the number of lines of a panel, including its title line. */
const titled = (rows: number): number => (rows === 0 ? 0 : rows + 1);

const boxedTable = (rows: number): number => rows + 3;

/** Minimum lines of the panels below the table. The first entry that fits is used. */
const boxedLevels = [
	{lower: 10, events: 2},
	{lower: 10, events: 0},
	{lower: 4, events: 0},
] as const;

/** Rows that the table gets before any other panel gets lines, unless the table needs fewer rows. */
const leastBoxedTable = 16;
export const leastRuledTable = 17;

/** Lines for a queue of one entry, with the reason why that entry waits. */
const leastQueue = 5;
const leastEventsBelow = 3;

/** Returns the number of lines of a queue: the head, and a row with a reason for each entry. */
const queueLines = (waiting: number): number => 2 + 3 * waiting;

/** Divides lines between the queue and the events below it. A long queue gets all lines. */
function queueAndEvents(rows: number, waiting: number): Rows {
	const queue = Math.max(leastQueue, queueLines(waiting));
	const events = rows - queue - 2;
	return events < leastEventsBelow ? {queue: rows} : {queue, events};
}

function usual(body: number, {gpus, waiting}: Counts): Shares {
	const least = Math.min(gpus, leastBoxedTable);
	const level = boxedLevels.find(({lower, events}) => boxedTable(least) + boxedRows(lower) + boxedRows(events) <= body);
	if (level === undefined) {
		return {blocks: [[{gpus: body - 2}]]};
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
	const table: Rows = {gpus: tableRows + 1};
	const detail: Rows = {detail: lower};
	return {
		blocks: hasEvents
			? [[table], [{queue: lower}, detail], [{events: level.events + moreEvents + spare}]]
			: [[table], [queueAndEvents(lower, waiting), detail]],
	};
}

/** Minimum size of the screen for two columns below the table. */
const leastWide = {columns: 140, rows: 40} as const;

/** Lines that a wide screen keeps free for the panels below the table, including borders. */
const leastLowerWide = 20;

/** The part of the lines below the table that the processes get, from 0 to 1. */
const processShare = 0.35;

/** Number of events that are shown before any other panel gets more lines. */
const leastWideEvents = 7;

const goodTileRows = 5;
const leastTileRows = 3;
const mostTileRows = 8;
const leastTileWidth = 23;

/** Returns the tiles for the graphs of all GPUs: tall enough to be readable, and as wide as possible. A single GPU gets half of the lines. */
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
	// Subtracts the borders: each column has two panels, one above the other, with two border lines each.
	const inner = lower - 4;
	const processRows = Math.min(Math.max(4, Math.floor(inner * processShare)), Math.max(5, 2 * allGpus + 3));
	const queueRows = Math.max(5, Math.min(2 * waiting + 1, Math.floor(inner / 2)));
	const loads = loadTilesIn(inner - queueRows - leastWideEvents - 2, innerQueueWidth, allGpus);
	const loadRows = loads?.rows ?? 0;
	return {
		blocks: [
			[{gpus: tableRows + 1}],
			[
				{queue: queueRows, loads: loadRows, events: inner - queueRows - boxedRows(loadRows)},
				{detail: inner - processRows, processes: processRows},
			],
		],
		loads,
		isWide: true,
	};
}

const leastBelowDense = 4;

/** Gives the table enough lines for as many GPUs as possible. The queue and the detail panel get the remaining lines. */
function dense(body: number, {gpus}: Counts): Shares {
	const rest = body - boxedTable(gpus) - 2;
	return {
		blocks: rest >= leastBelowDense ? [[{gpus: gpus + 1}], [{queue: rest}, {detail: rest}]] : [[{gpus: body - 2}]],
	};
}

const stackedShare = 0.6;

/** Divides the lines between the table and the panel below the table. If that panel is the queue, the events get the lines that remain. */
function stacked(body: number, {gpus, waiting}: Counts, below: 'processes' | 'queue'): Rows {
	const inner = body - 5;
	const wanted = Math.floor(inner * stackedShare);
	const least = below === 'queue' ? Math.min(wanted, queueLines(waiting)) : wanted;
	const tableRows = Math.max(1, Math.min(gpus, inner - least));
	const rows = inner - tableRows;
	return {gpus: tableRows + 1, ...(below === 'processes' ? {processes: rows} : queueAndEvents(rows, waiting))};
}

/** Divides the lines among panels that have borders on all sides. */
export function boxed(body: number, {columns, rows}: Size, preset: PresetName, counts: Counts): Shares {
	if (preset === 'processes' || preset === 'queue') {
		return {blocks: [[stacked(body, counts, preset)]]};
	}

	if (preset === 'dense') {
		return dense(body, counts);
	}

	return columns >= leastWide.columns && rows >= leastWide.rows ? wide(body, counts) : usual(body, counts);
}

/** Divides the lines among panels that have only a title line. The title of the detail panel is shown even if there is no line for its content. */
export function ruled(body: number, preset: PresetName, counts: Counts): Rows {
	const {gpus, waiting} = counts;
	if (preset === 'processes' || preset === 'queue') {
		const {events = 1, ...rows} = stacked(body + 2, counts, preset);
		return {...rows, events: events - 1};
	}

	const least = Math.min(gpus, Math.max(leastRuledTable, Math.floor(body * 0.6)));
	// Subtracts the title lines of the table and the detail panel, and the head of the table.
	let spare = Math.max(0, body - 3 - least);
	const queue = waiting > 0 && spare >= 2 ? Math.min(waiting, 4, spare - 1) : 0;
	spare -= titled(queue);
	const words = Math.min(spare, 5);
	spare -= words;
	spare -= Math.min(spare, gpus - least);
	const graphs = spare >= 5 ? 5 : 0;
	spare -= graphs;
	const leastEvents = spare >= 3 ? Math.min(spare - 1, 8) : 0;
	spare -= titled(leastEvents);
	const moreDetail = words > 0 ? Math.min(spare, 12) : 0;
	const detail = words + graphs + moreDetail;
	const events = leastEvents > 0 ? leastEvents + spare - moreDetail : 0;
	return {gpus: body - 2 - detail - titled(queue) - titled(events), detail, queue, events};
}

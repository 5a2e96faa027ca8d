/** How the lines of the screen are shared out. The table and the footer are always there; the rest gives way. */
import type {State} from '../state.js';

/** Below this nothing but a summary is shown. */
export const smallest = {columns: 60, rows: 15} as const;

export type Layout = {
	readonly isTooSmall: boolean;
	/** Panels with sides, side by side; else rules between them. */
	readonly isFramed: boolean;
	/** Lines of the table without its head. */
	readonly tableRows: number;
	/** Lines of what is said about the selected GPU below its rule. */
	readonly detailRows: number;
	/** Lines of the queue below its rule; undefined when there is not even the rule. */
	readonly queueRows: number | undefined;
};

/** Header, summary, message and footer. */
const fixedRows = 4;
const mostPanelRows = 14;
const leastPanelRows = 4;

type Counts = {readonly gpus: number; readonly waiting: number};

function framed(body: number, {gpus}: Counts): Layout {
	const both = {isTooSmall: false, isFramed: true};
	// The edges of the table, its head, and the edges of the panels below it.
	const shared = body - 4;
	const panelRows = shared - gpus >= leastPanelRows ? Math.min(mostPanelRows, shared - gpus) : leastPanelRows;
	return shared - panelRows >= Math.min(gpus, 12)
		? {...both, tableRows: shared - panelRows, detailRows: panelRows, queueRows: panelRows}
		: {...both, tableRows: body - 3, detailRows: 0, queueRows: undefined};
}

function ruled(body: number, {gpus, waiting}: Counts): Layout {
	// The rules above the table and the detail, and the table's head.
	const shared = body - 3;
	// What stands below the detail's rule needs a rule of its own to end it.
	const spare = Math.max(0, shared - gpus - 1);
	const queueLines = waiting > 0 && spare >= 2 ? Math.min(spare, waiting + 1, 5) : 0;
	const detailRows = Math.min(spare - queueLines, 5);
	const below = queueLines + detailRows;
	return {
		isTooSmall: false,
		isFramed: false,
		tableRows: shared - below - (below > 0 ? 1 : 0),
		detailRows,
		queueRows: queueLines === 0 ? undefined : queueLines - 1,
	};
}

export function layoutOf({size, snapshot}: Pick<State, 'size' | 'snapshot'>): Layout {
	if (size.columns < smallest.columns || size.rows < smallest.rows) {
		return {isTooSmall: true, isFramed: false, tableRows: 1, detailRows: 0, queueRows: undefined};
	}

	const counts = {gpus: snapshot?.gpus.length ?? 0, waiting: snapshot?.queue.length ?? 0};
	const body = size.rows - fixedRows;
	return size.columns >= 100 && size.rows >= 20 ? framed(body, counts) : ruled(body, counts);
}

/** How many GPUs the table shows at once. */
export const tableRowsOf = (state: State): number => layoutOf(state).tableRows;

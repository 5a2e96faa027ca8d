import type {StatusRow} from '../../core/rules/pool/status.js';
import {longDuration} from '../text/durations.js';
import type {Paint} from '../text/paint.js';
import {noteCell} from '../text/note.js';
import {detailText, userText, validationText} from '../status-labels.js';
import {stateText} from '../states.js';
import {ruledTable, type Cell, type Sacrifices} from '../text/table.js';
import {sanitize, shorten} from '../text/text.js';

const longestNote = 60;
const longestDetail = 100;

function stateCell(status: string, paint: Paint): Cell {
	switch (status) {
		case 'AVAILABLE': {
			return {text: `● ${status}`, paint: paint.available};
		}

		case 'IN_USE': {
			return {text: `● ${status}`, paint: paint.inUse};
		}

		case 'UNRESERVED': {
			return {text: `⚠ ${status}`, paint: paint.unreserved};
		}

		default: {
			return {text: `✗ ${status}`, paint: paint.error};
		}
	}
}

const longestModel = 50;

/** The columns in the order in which they shrink, as in the monitor. A column that is listed twice shrinks in two steps. */
export const statusSacrifices: Sacrifices = [
	['NOTE', 20],
	['TYPE', 0],
	['DURATION', 0],
	['MODEL', 16],
	['VALIDATION', 10],
	['DETAILS', 21],
	['NOTE', 6],
	['USER', 10],
	['MODEL', 0],
	['VALIDATION', 0],
	['NOTE', 0],
	['DETAILS', 8],
];

/** A row of sanitized and shortened texts. */
type GpuCells = {
	readonly index: string;
	/** Absent outside of a cluster. */
	readonly node: string | undefined;
	readonly status: string;
	readonly user: string;
	readonly duration: string;
	readonly type: string;
	readonly details: string;
	readonly validation: string;
	readonly model: string | undefined;
	readonly note: string;
};

/** Returns a table with the columns of the Go program. NODE and MODEL appear only if a GPU has them. */
export function gpuTable(rows: readonly GpuCells[], paint: Paint, width: number | undefined): string {
	const nodeColumn = (cell: string): readonly string[] => (rows.some(({node}) => node !== undefined) ? [cell] : []);
	const modelColumn = (cell: string): readonly string[] => (rows.some(({model}) => model !== undefined) ? [cell] : []);
	return ruledTable(
		[
			'GPU',
			...nodeColumn('NODE'),
			'STATUS',
			'USER',
			'DURATION',
			'TYPE',
			'DETAILS',
			'VALIDATION',
			...modelColumn('MODEL'),
			'NOTE',
		],
		rows.map((row) => [
			row.index,
			...nodeColumn(row.node ?? '-'),
			stateCell(row.status, paint),
			row.user,
			row.duration,
			row.type,
			row.details,
			row.validation,
			...modelColumn(row.model ?? '-'),
			row.note,
		]),
		paint,
		{width, sacrifices: statusSacrifices},
	);
}

export const statusTable = (rows: readonly StatusRow[], paint: Paint, width?: number): string =>
	gpuTable(
		rows.map((row) => ({
			index: String(row.index),
			node: row.reading?.place && `${sanitize(row.reading.place.node)}:${row.reading.place.gpu}`,
			status: stateText[row.state],
			// Joins two users as in the Go program. The Go program only counts further users, but this table names them.
			user: userText(row, ' and '),
			duration: row.heldSeconds === undefined ? '-' : longDuration(row.heldSeconds),
			type: row.lease?.type.toUpperCase() ?? '-',
			details: shorten(detailText(row), longestDetail),
			validation: shorten(validationText(row), longestDetail),
			model: row.model && shorten(sanitize(row.model.model), longestModel),
			note: noteCell(row.lease ?? {}, longestNote),
		})),
		paint,
		width,
	);

import type {StatusRow} from '../../core/rules/pool/status.js';
import {longDuration} from '../text/durations.js';
import type {Paint} from '../text/paint.js';
import {detailText, userText, validationText} from '../status-labels.js';
import {stateText} from '../states.js';
import {ruledTable, type Cell, type Sacrifices} from '../text/table.js';
import {sanitize, shorten} from '../text/text.js';

const longestNote = 60;
const longestDetail = 100;

function stateCell({state}: StatusRow, paint: Paint): Cell {
	switch (state) {
		case 'available': {
			return {text: `● ${stateText[state]}`, paint: paint.available};
		}

		case 'in-use': {
			return {text: `● ${stateText[state]}`, paint: paint.inUse};
		}

		case 'unreserved': {
			return {text: `⚠ ${stateText[state]}`, paint: paint.unreserved};
		}

		case 'error': {
			return {text: `✗ ${stateText[state]}`, paint: paint.error};
		}
	}
}

const longestModel = 50;

const modelCell = ({model}: StatusRow): string =>
	model === undefined ? '-' : shorten(sanitize(model.model), longestModel);

/** `box2:1`: the GPU as its own machine numbers it. */
const nodeText = ({reading}: StatusRow): string =>
	reading?.place === undefined ? '-' : `${sanitize(reading.place.node)}:${reading.place.gpu}`;

/** As the monitor narrows: what a reservation is comes after who has it and until when. */
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

/** What stands above the GPUs of this host and of others alike. */
export const statusHeadings = ({
	hasNodes,
	hasModels,
}: {
	readonly hasNodes: boolean;
	readonly hasModels: boolean;
}): readonly string[] => [
	'GPU',
	...(hasNodes ? ['NODE'] : []),
	'STATUS',
	'USER',
	'DURATION',
	'TYPE',
	'DETAILS',
	'VALIDATION',
	...(hasModels ? ['MODEL'] : []),
	'NOTE',
];

/**
The table of `canhazgpu status`, in the peer's columns. MODEL is there only when some GPU has one.

@param width - Of the terminal; without one nothing is left out.
*/
export function statusTable(rows: readonly StatusRow[], paint: Paint, width?: number): string {
	const hasModels = rows.some(({model}) => model !== undefined);
	const hasNodes = rows.some(({reading}) => reading?.place !== undefined);
	return ruledTable(
		statusHeadings({hasNodes, hasModels}),
		rows.map((row) => [
			String(row.index),
			...(hasNodes ? [nodeText(row)] : []),
			stateCell(row, paint),
			// As the Go program writes two. It counts the third, whom we name: that may be the one you search for.
			userText(row, ' and '),
			row.heldSeconds === undefined ? '-' : longDuration(row.heldSeconds),
			row.lease?.type.toUpperCase() ?? '-',
			shorten(detailText(row), longestDetail),
			shorten(validationText(row), longestDetail),
			...(hasModels ? [modelCell(row)] : []),
			row.lease?.note === undefined ? '-' : shorten(sanitize(row.lease.note), longestNote),
		]),
		paint,
		{width, sacrifices: statusSacrifices},
	);
}

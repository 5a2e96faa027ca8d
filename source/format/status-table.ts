import type {StatusRow} from '../core/status.js';
import {longDuration} from './durations.js';
import type {Paint} from './paint.js';
import {detailWords, stateWords, userWords, validationWords} from './status-words.js';
import {ruledTable} from './table.js';
import {sanitize, shorten} from './text.js';

const longestNote = 60;
const longestDetail = 100;

function stateCell({state}: StatusRow, paint: Paint): string {
	switch (state) {
		case 'available': {
			return paint.available(`● ${stateWords[state]}`);
		}

		case 'in-use': {
			return paint.inUse(`● ${stateWords[state]}`);
		}

		case 'unreserved': {
			return paint.unreserved(`⚠ ${stateWords[state]}`);
		}

		case 'error': {
			return paint.error(`✗ ${stateWords[state]}`);
		}
	}
}

const longestModel = 50;

const modelCell = ({model}: StatusRow): string =>
	model === undefined ? '-' : shorten(sanitize(model.model), longestModel);

/** The table of `canhazgpu status`, in the peer's columns. MODEL is there only when some GPU has one. */
export function statusTable(rows: readonly StatusRow[], paint: Paint): string {
	const hasModels = rows.some(({model}) => model !== undefined);
	return ruledTable(
		['GPU', 'STATUS', 'USER', 'DURATION', 'TYPE', 'DETAILS', 'VALIDATION', ...(hasModels ? ['MODEL'] : []), 'NOTE'],
		rows.map((row) => [
			String(row.index),
			stateCell(row, paint),
			userWords(row),
			row.heldSeconds === undefined ? '-' : longDuration(row.heldSeconds),
			row.lease?.type.toUpperCase() ?? '-',
			shorten(detailWords(row), longestDetail),
			shorten(validationWords(row), longestDetail),
			...(hasModels ? [modelCell(row)] : []),
			row.lease?.note === undefined ? '-' : shorten(sanitize(row.lease.note), longestNote),
		]),
		paint,
	);
}

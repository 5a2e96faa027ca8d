/**
Tables of hosts, from the rows that `status --json` prints: so ours and others', this version's and the peer's, look the same.
*/
import {counted} from './numbers.js';
import type {Paint} from './paint.js';
import {ruledTable} from './table.js';
import {sanitize, shorten} from './text.js';

export type JsonRow = Readonly<Record<string, unknown>>;

/** What one host answered. */
export type HostAnswer =
	{readonly host: string; readonly rows: readonly JsonRow[]} | {readonly host: string; readonly error: string};

const longestCell = 100;

const text = (value: unknown): string => {
	const words =
		typeof value === 'string' || typeof value === 'number' ? shorten(sanitize(String(value)), longestCell) : '';
	return words === '' ? '-' : words;
};

function stateCell(status: string, paint: Paint): string {
	switch (status) {
		case 'AVAILABLE': {
			return paint.available('● AVAILABLE');
		}

		case 'IN_USE': {
			return paint.inUse('● IN_USE');
		}

		case 'UNRESERVED': {
			return paint.unreserved('⚠ UNRESERVED');
		}

		default: {
			return paint.error(`✗ ${status}`);
		}
	}
}

const modelOf = ({model}: JsonRow): unknown =>
	typeof model === 'object' && model !== null ? (model as JsonRow)['model'] : undefined;

/** The table of one host. */
export function hostTable(rows: readonly JsonRow[], paint: Paint): string {
	const hasModels = rows.some((row) => modelOf(row) !== undefined);
	return ruledTable(
		['GPU', 'STATUS', 'USER', 'DURATION', 'TYPE', 'DETAILS', 'VALIDATION', ...(hasModels ? ['MODEL'] : []), 'NOTE'],
		rows.map((row) => [
			text(row['gpu_id']),
			stateCell(text(row['status']), paint),
			text(row['user']),
			text(row['duration']),
			text(row['type']),
			text(row['details'] ?? row['error']),
			text(row['validation']),
			...(hasModels ? [text(modelOf(row))] : []),
			text(row['note']),
		]),
		paint,
	);
}

/** `8x H100 80GB`, the models in the order in which they first appear. */
function models(rows: readonly JsonRow[]): string {
	const counts = new Map<string, number>();
	for (const row of rows) {
		const name = text(row['gpu_model']);
		if (name !== '-') {
			counts.set(name, (counts.get(name) ?? 0) + 1);
		}
	}

	return counts.size > 0 ? [...counts].map(([name, count]) => `${count}x ${name}`).join(', ') : 'unknown';
}

function summaryCells(answer: HostAnswer, paint: Paint): readonly string[] {
	if ('error' in answer) {
		return [text(answer.host), '-', paint.error(text(answer.error)), '-', '-'];
	}

	const {rows} = answer;
	const of = (status: string): number => rows.filter((row) => row['status'] === status).length;
	const available = of('AVAILABLE');
	const errors = of('ERROR');
	const inUse = rows.length - available - errors;
	return [
		text(answer.host),
		String(rows.length),
		models(rows),
		available > 0 ? paint.available(`✓ ${available}`) : paint.error('✗ 0'),
		errors > 0 ? `${inUse} (${counted(errors, 'error')})` : String(inUse),
	];
}

/** One line a host: `status --summary`. */
export const summaryTable = (answers: readonly HostAnswer[], paint: Paint): string =>
	ruledTable(
		['HOST', 'TOTAL', 'GPU MODELS', 'AVAILABLE', 'IN USE'],
		answers.map((answer) => summaryCells(answer, paint)),
		paint,
	);

/** `--all --json`: an object host -> array, or `{"error": ...}`. */
export const hostsJson = (answers: readonly HostAnswer[]) =>
	Object.fromEntries(answers.map((answer) => [answer.host, 'error' in answer ? {error: answer.error} : answer.rows]));

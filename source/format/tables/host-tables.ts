/**
Tables of hosts, from the rows that `status --json` prints: so ours and others', this version's and the peer's, look the same.
*/
import {ownerText} from '../owner.js';
import {counted} from '../text/numbers.js';
import type {Paint} from '../text/paint.js';
import {ruledTable, type Cell} from '../text/table.js';
import {sanitize, shorten} from '../text/text.js';
import {statusHeadings, statusSacrifices} from './status-table.js';

export type JsonRow = Readonly<Record<string, unknown>>;

/** What one host answered. */
export type HostAnswer =
	| {
			readonly host: string;
			readonly rows: readonly JsonRow[];
			/** Whose GPUs they are, where that is no host: those of a cluster that this one speaks to. */
			readonly source?: string | undefined;
	  }
	| {readonly host: string; readonly error: string};

const longestCell = 100;

const text = (value: unknown): string => {
	const words =
		typeof value === 'string' || typeof value === 'number' ? shorten(sanitize(String(value)), longestCell) : '';
	return words === '' ? '-' : words;
};

function stateCell(status: string, paint: Paint): Cell {
	switch (status) {
		case 'AVAILABLE': {
			return {text: '● AVAILABLE', paint: paint.available};
		}

		case 'IN_USE': {
			return {text: '● IN_USE', paint: paint.inUse};
		}

		case 'UNRESERVED': {
			return {text: '⚠ UNRESERVED', paint: paint.unreserved};
		}

		default: {
			return {text: `✗ ${status}`, paint: paint.error};
		}
	}
}

const modelOf = ({model}: JsonRow): unknown =>
	typeof model === 'object' && model !== null ? (model as JsonRow)['model'] : undefined;

const isUnreserved = (row: JsonRow): boolean => row['status'] === 'UNRESERVED';

/** `alice`, or `alice (team)`. The Go program's `status` tells the label alone. */
export const holderOf = ({user, actual_user: account = user}: JsonRow): unknown =>
	typeof account === 'string' && typeof user === 'string'
		? ownerText(account, user === account ? undefined : user)
		: account;

/** Who has it, or who uses it without a reservation, of whom the Go program says nothing under `user`. */
function userOf(row: JsonRow): string {
	const {unreserved_users: users} = row;
	return isUnreserved(row) && Array.isArray(users) && users.length > 0
		? shorten(users.map((name) => text(name)).join(','), longestCell)
		: text(holderOf(row));
}

/** The Go program says by what a GPU is used in `process_info`, and in `details` only that it is. */
function detailsOf(row: JsonRow): string {
	const {details, error, process_info: use} = row;
	const said = typeof details === 'string' ? details : '';
	const caution = said.replace(/^WITHOUT RESERVATION(?:, )?/v, '');
	return isUnreserved(row) && typeof use === 'string' && use !== '' && caution !== said
		? text([use, caution].filter((words) => words !== '').join(', '))
		: text(details ?? error);
}

/** `box2:1`: GPU 1 of that node. */
const nodeOf = ({node, node_gpu_id: gpu}: JsonRow): string => (node === undefined ? '-' : `${text(node)}:${text(gpu)}`);

/** The table of one host, or of a cluster that it speaks to. */
export function hostTable(rows: readonly JsonRow[], paint: Paint, width?: number): string {
	const hasModels = rows.some((row) => modelOf(row) !== undefined);
	const hasNodes = rows.some(({node}) => node !== undefined);
	return ruledTable(
		statusHeadings({hasNodes, hasModels}),
		rows.map((row) => [
			text(row['gpu_id']),
			...(hasNodes ? [nodeOf(row)] : []),
			stateCell(text(row['status']), paint),
			userOf(row),
			text(row['duration']),
			text(row['type']),
			detailsOf(row),
			text(row['validation']),
			...(hasModels ? [text(modelOf(row))] : []),
			text(row['note']),
		]),
		paint,
		{width, sacrifices: statusSacrifices},
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

	return counts.size > 0
		? shorten([...counts].map(([name, count]) => `${count}x ${name}`).join(', '), longestCell)
		: 'unknown';
}

/** Of one host: how many GPUs are available, how many in use. */
function countCells(rows: readonly JsonRow[], paint: Paint): readonly [available: Cell, inUse: Cell] {
	const of = (status: string): number => rows.filter((row) => row['status'] === status).length;
	const available = of('AVAILABLE');
	const errors = of('ERROR');
	const inUse = rows.length - available - errors;
	return [
		available > 0 ? {text: `✓ ${available}`, paint: paint.available} : {text: '✗ 0', paint: paint.error},
		errors > 0 ? `${inUse} (${counted(errors, 'error')})` : String(inUse),
	];
}

/** Whose error it is stands beside it. */
export const withoutName = (error: string, host: string): string =>
	error.startsWith(`${host}: `) ? error.slice(host.length + 2) : error;

function summaryCells(answer: HostAnswer, paint: Paint): readonly Cell[] {
	if ('error' in answer) {
		return [text(answer.host), '-', {text: text(withoutName(answer.error, answer.host)), paint: paint.error}, '-', '-'];
	}

	const {host, rows, source = host} = answer;
	return [text(source), String(rows.length), models(rows), ...countCells(rows, paint)];
}

/** One line a host: `status --summary`. */
export const summaryTable = (answers: readonly HostAnswer[], paint: Paint, width?: number): string =>
	ruledTable(
		['HOST', 'TOTAL', 'GPU MODELS', 'AVAILABLE', 'IN USE'],
		answers.map((answer) => summaryCells(answer, paint)),
		paint,
		{
			width,
			sacrifices: [
				['GPU MODELS', 16],
				['HOST', 12],
			],
		},
	);

function listCells({host, answer}: ListedHost, paint: Paint): readonly Cell[] {
	if (answer === undefined || 'error' in answer) {
		const words: Cell =
			answer === undefined ? 'asking…' : {text: `✗ ${text(withoutName(answer.error, host))}`, paint: paint.error};
		return [text(host), '-', '-', '-', words];
	}

	const {status} = answer;
	return [text(host), ...countCells(status, paint), String(status.length), models(status)];
}

/** One host of a list that is shown while they are still being asked. */
export type ListedHost = {
	readonly host: string;
	readonly answer: {readonly status: readonly JsonRow[]} | {readonly error: string} | undefined;
};

/** One line a host, what is long at its end. */
export const hostList = (hosts: readonly ListedHost[], paint: Paint): string =>
	ruledTable(
		['HOST', 'AVAILABLE', 'IN USE', 'TOTAL', 'GPU MODELS'],
		hosts.map((host) => listCells(host, paint)),
		paint,
	);

/** `--all --json`: an object host -> array, or `{"error": ...}`. */
export const hostsJson = (answers: readonly HostAnswer[]) =>
	Object.fromEntries(answers.map((answer) => [answer.host, 'error' in answer ? {error: answer.error} : answer.rows]));

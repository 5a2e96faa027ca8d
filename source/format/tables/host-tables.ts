/**
Tables of hosts and of their queues, from the rows that `status --json` and `queue --json` print: so ours and others', this version's and the
peer's, look the same.
*/
import {freeAmong, freeText} from '../free-gpus.js';
import {ownerText} from '../owner.js';
import {counted} from '../text/numbers.js';
import type {Paint} from '../text/paint.js';
import {ruledTable, type Cell} from '../text/table.js';
import {sanitize, shorten} from '../text/text.js';
import {longDuration} from '../text/durations.js';
import {gpuList} from '../text/gpu-list.js';
import {gpuTable} from './status-table.js';

export type JsonRow = Readonly<Record<string, unknown>>;

/** What one host answered: its GPUs, or the entries of its queue. */
export type HostAnswer =
	| {
			readonly host: string;
			readonly rows: readonly JsonRow[];
			/** Whose they are, where that is no host: those of a cluster that this one speaks to. */
			readonly source?: string | undefined;
			/** Where only this account sees the pool, which is that of this host. */
			readonly privateLabel?: string | undefined;
	  }
	| {readonly host: string; readonly error: string};

const longestCell = 100;

const text = (value: unknown): string => {
	const words =
		typeof value === 'string' || typeof value === 'number' ? shorten(sanitize(String(value)), longestCell) : '';
	return words === '' ? '-' : words;
};

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

/** The table of one host, or of a cluster that it speaks to. */
export const hostTable = (rows: readonly JsonRow[], paint: Paint, width?: number): string =>
	gpuTable(
		rows.map((row) => ({
			index: text(row['gpu_id']),
			node: row['node'] === undefined ? undefined : `${text(row['node'])}:${text(row['node_gpu_id'])}`,
			status: text(row['status']),
			user: userOf(row),
			duration: text(row['duration']),
			type: text(row['type']),
			details: detailsOf(row),
			validation: text(row['validation']),
			model: modelOf(row) === undefined ? undefined : text(modelOf(row)),
			note: text(row['note']),
		})),
		paint,
		width,
	);

/** `8x H100 80GB`, the models in the order in which they first appear. */
function models(rows: readonly JsonRow[]): string {
	const names = rows.map((row) => text(row['gpu_model'])).filter((name) => name !== '-');
	const counts = Array.from(
		Map.groupBy(names, (name) => name),
		([name, {length}]) => `${length}x ${name}`,
	);
	return counts.length > 0 ? shorten(counts.join(', '), longestCell) : 'unknown';
}

/** Of one host: how many GPUs are available, how many in use. */
function countCells(rows: readonly JsonRow[], paint: Paint): readonly [available: Cell, inUse: Cell] {
	const of = (status: string): readonly JsonRow[] => rows.filter((row) => row['status'] === status);
	const available = of('AVAILABLE');
	const errors = of('ERROR').length;
	const inUse = rows.length - available.length - errors;
	return [
		available.length > 0
			? {text: `✓ ${freeText(freeAmong(available))}`, paint: paint.available}
			: {text: '✗ 0', paint: paint.error},
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
type ListedHost = {
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

const number = (value: unknown): number | undefined =>
	typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;

const numbers = (value: unknown): readonly number[] =>
	Array.isArray(value) ? value.map((item: unknown) => number(item)).filter((item) => item !== undefined) : [];

const durationOf = (seconds: number | undefined): string => (seconds === undefined ? '-' : longDuration(seconds));

/** The peer tells only since when. */
const waitedSeconds = (entry: JsonRow, now: number): number | undefined => {
	const since = Date.parse(String(entry['enqueue_time'])) / 1000;
	return number(entry['wait_seconds']) ?? (Number.isFinite(since) ? Math.max(0, now - since) : undefined);
};

function entryCells(host: string, entry: JsonRow, now: number): readonly Cell[] {
	const ids = numbers(entry['requested_ids']);
	const count = ids.length > 0 ? ids.length : (number(entry['requested_count']) ?? 0);
	const estimate = number(entry['estimate_seconds']);
	return [
		host,
		String(number(entry['position']) ?? '-'),
		text(holderOf(entry)),
		ids.length > 0 ? gpuList(ids) : `${count} GPU(s)`,
		`${numbers(entry['allocated_gpus']).length}/${count}`,
		durationOf(waitedSeconds(entry, now)),
		estimate === undefined ? '-' : `in about ${longDuration(estimate)}`,
		text(entry['note']),
	];
}

type QueueTableOptions = {
	/** Of this machine, in seconds: for hosts that tell only since when an entry waits. */
	readonly now: number;
	/** Of the terminal; without one nothing is left out. */
	readonly width?: number | undefined;
};

const entriesTable = (queues: readonly HostAnswer[], paint: Paint, {now, width}: QueueTableOptions): string => {
	const rows = queues.flatMap((queue) =>
		'error' in queue ? [] : queue.rows.map((entry) => entryCells(sanitize(queue.source ?? queue.host), entry, now)),
	);
	return rows.length === 0
		? 'Nobody waits'
		: ruledTable(['HOST', '#', 'USER', 'WANTS', 'GOT', 'WAITED', 'ESTIMATE', 'NOTE'], rows, paint, {
				width,
				sacrifices: [
					['NOTE', 8],
					['HOST', 12],
					['USER', 10],
					['NOTE', 0],
					['WAITED', 0],
				],
			});
};

/** One table, and a line below it for each host that does not answer: `queue --all`. */
export const hostQueuesTable = (queues: readonly HostAnswer[], paint: Paint, options: QueueTableOptions): string =>
	[
		entriesTable(queues, paint, options),
		...queues.flatMap((queue) =>
			'error' in queue ? [paint.error(`✗ ${text(queue.host)}: ${text(withoutName(queue.error, queue.host))}`)] : [],
		),
	].join('\n');

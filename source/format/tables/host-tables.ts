/** Formats the JSON rows of hosts and their queues. Accepts rows of all versions and of the Go program. */
import {freeAmong, freeText} from '../free-gpus.js';
import {noteCell} from '../text/note.js';
import {ownerText} from '../owner.js';
import {counted} from '../text/numbers.js';
import type {Paint} from '../text/paint.js';
import {ruledTable, type Cell} from '../text/table.js';
import {sanitize, shorten} from '../text/text.js';
import {longDuration} from '../text/durations.js';
import {gpuList} from '../text/gpu-list.js';
import {gpuTable} from './status-table.js';

export type JsonRow = Readonly<Record<string, unknown>>;

export type HostAnswer =
	| {
			readonly host: string;
			readonly rows: readonly JsonRow[];
			/** The name of the cluster, if the rows are those of a cluster and not of a host. */
			readonly source?: string | undefined;
			/** A label to show if only this account sees the pool. */
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

/** Returns `alice` or `alice (team)`. The Go program's `status` sends only the label. */
export const holderOf = ({user, actual_user: account = user}: JsonRow): unknown =>
	typeof account === 'string' && typeof user === 'string'
		? ownerText(account, user === account ? undefined : user)
		: account;

/** Returns the holder. For an unreserved GPU, returns its users, because `user` does not name them in rows of the Go program. */
function userOf(row: JsonRow): string {
	const {unreserved_users: users} = row;
	return isUnreserved(row) && Array.isArray(users) && users.length > 0
		? shorten(users.map((name) => text(name)).join(','), longestCell)
		: text(holderOf(row));
}

/** Returns the details. The Go program describes unreserved use in `process_info`. */
function detailsOf(row: JsonRow): string {
	const {details, error, process_info: use} = row;
	const said = typeof details === 'string' ? details : '';
	const caution = said.replace(/^WITHOUT RESERVATION(?:, )?/v, '');
	return isUnreserved(row) && typeof use === 'string' && use !== '' && caution !== said
		? text([use, caution].filter((words) => words !== '').join(', '))
		: text(details ?? error);
}

const noteOf = ({note, via}: JsonRow): string =>
	noteCell(
		{note: typeof note === 'string' ? note : undefined, via: typeof via === 'string' ? via : undefined},
		longestCell,
	);

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
			note: noteOf(row),
		})),
		paint,
		width,
	);

function models(rows: readonly JsonRow[]): string {
	const names = rows.map((row) => text(row['gpu_model'])).filter((name) => name !== '-');
	const counts = Array.from(
		Map.groupBy(names, (name) => name),
		([name, {length}]) => `${length}x ${name}`,
	);
	return counts.length > 0 ? shorten(counts.join(', '), longestCell) : 'unknown';
}

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

export const withoutName = (error: string, host: string): string =>
	error.startsWith(`${host}: `) ? error.slice(host.length + 2) : error;

function summaryCells(answer: HostAnswer, paint: Paint): readonly Cell[] {
	if ('error' in answer) {
		return [text(answer.host), '-', {text: text(withoutName(answer.error, answer.host)), paint: paint.error}, '-', '-'];
	}

	const {host, rows, source = host} = answer;
	return [text(source), String(rows.length), models(rows), ...countCells(rows, paint)];
}

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

type ListedHost = {
	readonly host: string;
	readonly answer: {readonly status: readonly JsonRow[]} | {readonly error: string} | undefined;
};

export const hostList = (hosts: readonly ListedHost[], paint: Paint): string =>
	ruledTable(
		['HOST', 'AVAILABLE', 'IN USE', 'TOTAL', 'GPU MODELS'],
		hosts.map((host) => listCells(host, paint)),
		paint,
	);

/** Returns `--all --json`: an object of rows by host, or `{"error": ...}`. */
export const hostsJson = (answers: readonly HostAnswer[]) =>
	Object.fromEntries(answers.map((answer) => [answer.host, 'error' in answer ? {error: answer.error} : answer.rows]));

const number = (value: unknown): number | undefined =>
	typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;

const numbers = (value: unknown): readonly number[] =>
	Array.isArray(value) ? value.map((item: unknown) => number(item)).filter((item) => item !== undefined) : [];

const durationOf = (seconds: number | undefined): string => (seconds === undefined ? '-' : longDuration(seconds));

/** Returns how long an entry has waited. The Go program sends only the start of the wait. */
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
		noteOf(entry),
	];
}

type QueueTableOptions = {
	/** Seconds on this machine's clock, for hosts that send only the start of a wait. */
	readonly now: number;
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

/** Returns `queue --all`: one table, and a line for each host that does not answer. */
export const hostQueuesTable = (queues: readonly HostAnswer[], paint: Paint, options: QueueTableOptions): string =>
	[
		entriesTable(queues, paint, options),
		...queues.flatMap((queue) =>
			'error' in queue ? [paint.error(`✗ ${text(queue.host)}: ${text(withoutName(queue.error, queue.host))}`)] : [],
		),
	].join('\n');

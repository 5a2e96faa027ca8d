/**
The queues of several hosts, from the rows that `queue --json` prints: so ours and others', this version's and the peer's, look the same.
*/
import {longDuration} from '../text/durations.js';
import {gpuList} from '../text/gpu-list.js';
import type {Paint} from '../text/paint.js';
import {ruledTable, type Cell} from '../text/table.js';
import {sanitize, shorten} from '../text/text.js';
import {holderOf, withoutName, type JsonRow} from './host-tables.js';

/** Who waits on one host, or why that is not known. */
export type HostQueue =
	| {
			readonly host: string;
			readonly entries: readonly JsonRow[];
			/** Whose queue it is, where that is no host: that of a cluster. */
			readonly source?: string | undefined;
	  }
	| {readonly host: string; readonly error: string};

/** Of a note, and of what a host or ssh says of a failure. */
const longestText = 100;

const text = (value: unknown): string => {
	const words = typeof value === 'string' ? shorten(sanitize(value), longestText) : '';
	return words === '' ? '-' : words;
};

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

function cellsOf(host: string, entry: JsonRow, now: number): readonly Cell[] {
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

type TableOptions = {
	/** Of this machine, in seconds: for hosts that tell only since when somebody waits. */
	readonly now: number;
	/** Of the terminal; without one nothing is left out. */
	readonly width?: number | undefined;
};

const entriesTable = (queues: readonly HostQueue[], paint: Paint, {now, width}: TableOptions): string => {
	const rows = queues.flatMap((queue) =>
		'error' in queue ? [] : queue.entries.map((entry) => cellsOf(sanitize(queue.source ?? queue.host), entry, now)),
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
export const hostQueuesTable = (queues: readonly HostQueue[], paint: Paint, options: TableOptions): string =>
	[
		entriesTable(queues, paint, options),
		...queues.flatMap((queue) =>
			'error' in queue ? [paint.error(`✗ ${text(queue.host)}: ${text(withoutName(queue.error, queue.host))}`)] : [],
		),
	].join('\n');

/** `queue --all --json`: an object host -> its entries, or `{"error": ...}`. */
export const hostQueuesJson = (queues: readonly HostQueue[]) =>
	Object.fromEntries(queues.map((queue) => [queue.host, 'error' in queue ? {error: queue.error} : queue.entries]));

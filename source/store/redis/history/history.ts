import {setImmediate} from 'node:timers/promises';
import type {Redis} from 'ioredis';
import type {Connection} from '../connection.js';
import {keys} from '../keys.js';
import {ask, integerOf, listOf, textOf} from '../replies.js';

/** Number of records to read with one command, which takes Redis a fraction of a millisecond. A script would take ten times as long. */
const pageSize = 1000;

type Page = {
	readonly before: number;
	readonly records: readonly string[];
};

type Replies = Awaited<ReturnType<ReturnType<Redis['pipeline']>['exec']>>;

const resultsOf = (replies: Replies): readonly unknown[] =>
	(replies ?? []).map(([error, result]) => {
		if (error) {
			throw error;
		}

		return result;
	});

/**
Reads a page of records that begins at this rank. Also counts the records before `from`, and those up to `to`. Uses no transaction, because a Redis
without free memory refuses transactions even for reads. Instead, the records before `from` are counted before and after the read. If their number
has changed, the ranks have moved, and the page is read again. Records that are added after the count are read with the next page.
*/
async function readPage(connection: Connection, rank: number, [from, to]: readonly [number, number]): Promise<Page> {
	return ask(
		connection,
		async (client) => {
			for (;;) {
				const replies = await client
					.pipeline()
					.zcount(keys.history, '-inf', `(${from}`)
					.zcount(keys.history, '-inf', String(to))
					.zrange(keys.history, String(rank), String(rank + pageSize - 1))
					.zcount(keys.history, '-inf', `(${from}`)
					.exec();
				const results = resultsOf(replies);
				// If the key has another type, Redis returns an error instead of a count.
				if (results[0] === results[3] || typeof results[0] !== 'number') {
					return results;
				}
			}
		},
		(reply) => {
			const [before, end, records] = listOf(reply, (part) => part);
			return {
				before: integerOf(before),
				records: listOf(records, textOf).slice(0, Math.max(0, integerOf(end) - rank)),
			};
		},
	);
}

/**
Streams the usage records of the given whole seconds in pages, oldest first. Pages are read by rank, because reading by time with an offset would take
Redis longer with each page. If old records are removed in the meantime, the ranks move, and the page is read again. The next page is requested while
the current page is processed.
*/
export async function* readPages(
	connection: Connection,
	fromTime: number,
	toTime: number,
): AsyncGenerator<readonly string[]> {
	const time = [Math.floor(fromTime), Math.floor(toTime)] as const;
	let before = 0;
	let done = 0;
	let last: readonly string[] = [];
	let next = readPage(connection, 0, time);
	for (;;) {
		const page = await next;
		if (page.before !== before) {
			({before} = page);
			next = readPage(connection, before + done, time);
			continue;
		}

		const {records} = page;
		if (records.length === 0) {
			return;
		}

		done += records.length;
		next = readPage(connection, before + done, time);
		// If the caller stops here, the next page is not needed, so its error must not become an unhandled rejection.
		next.catch(() => undefined);
		// Lets Node send the request for the next page before this page is decoded, which takes as long as reading.
		await setImmediate();
		yield withoutRepeated(records, last);
		last = records;
	}
}

/** Removes records that were already in the last page. Records that were added in the meantime can move them into this page. */
function withoutRepeated(records: readonly string[], last: readonly string[]): readonly string[] {
	const index = last.indexOf(records[0]!);
	return index === -1 ? records : records.slice(last.length - index);
}

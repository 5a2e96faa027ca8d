import {setImmediate} from 'node:timers/promises';
import type {Redis} from 'ioredis';
import type {Connection} from '../connection.js';
import {keys} from '../keys.js';
import {ask, integerOf, listOf, textOf} from '../replies.js';

/** Redis reads so many in a fraction of a millisecond; a script would take ten times as long. */
const pageSize = 1000;

type Page = {
	/** How many records lie before the time asked for. */
	readonly before: number;
	readonly records: readonly string[];
};

type Replies = Awaited<ReturnType<ReturnType<Redis['pipeline']>['exec']>>;

/** Returns the answers of all commands, or throws the first error. */
const resultsOf = (replies: Replies): readonly unknown[] =>
	(replies ?? []).map(([error, result]) => {
		if (error) {
			throw error;
		}

		return result;
	});

/**
The records from this rank on, and where the time asked for begins and ends. Not in a transaction, which a Redis whose memory is full
refuses even for reading: that no rank has moved meanwhile is seen by counting before and after. What is added behind the counted end
comes with the next page.
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
				// A value that is no number is not a count.
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
Streams the stored usage records whose whole second lies in the given time, oldest first, a page at a time.

Pages go by rank: an offset into a time would make Redis walk further for every page. Old records that are removed meanwhile lie before that
time: the ranks move, and the page is read again. While one page is being looked at, the next is on its way.

@yields Pages of records.
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
		// A reader that stops here does not care why the next page cannot be read.
		next.catch(() => undefined);
		// Sends the next request before this page is decoded, which takes as long as reading.
		await setImmediate();
		yield withoutRepeated(records, last);
		last = records;
	}
}

/** Records that were added meanwhile have pushed the end of the last page on, into this one. */
function withoutRepeated(records: readonly string[], last: readonly string[]): readonly string[] {
	const index = last.indexOf(records[0]!);
	return index === -1 ? records : records.slice(last.length - index);
}

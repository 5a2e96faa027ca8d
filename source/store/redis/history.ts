import type {Redis} from 'ioredis';
import type {Connection} from './connection.js';
import {keys} from './keys.js';
import historyPageLua from './lua/history-page.lua';

/** Redis reads so many in about a millisecond, and nobody else meanwhile. */
const pageSize = 1000;

type Scripted = Redis & {
	readonly historyPage: (key: string, ...values: ReadonlyArray<string | number>) => Promise<Reply>;
};

/** Empty, or the score of the last record, how many of that have been read, and the records. */
type Reply = readonly [lastScore?: string, readOfIt?: number, records?: string];

/** Where a page begins: at a score, past the records of it that were read. */
type Place = {readonly score: string | number; readonly passed: number};

const without = (page: readonly string[], seen: ReadonlySet<string>): readonly string[] =>
	page.filter((record) => !seen.has(record));

/** Reads the usage history of one connection. */
export function createHistoryReader(connection: Connection) {
	connection.client.defineCommand('historyPage', {lua: historyPageLua, numberOfKeys: 1});
	const readPage = async ({score, passed}: Place, toTime: number): Promise<Reply> =>
		connection.run(
			async (client) => (client as Scripted).historyPage(keys.history, score, Math.floor(toTime), passed, pageSize),
			{isRepeatable: true},
		);

	/**
	Streams the stored usage records whose whole second lies in the given time, oldest first, a page at a time.

	Each page begins at the score where the last one ended and passes over the records of that score: an offset into the whole
	would make Redis walk further for every page. While one page is being looked at, the next is on its way.

	@yields Pages of records.
	*/
	return async function* (fromTime: number, toTime: number): AsyncGenerator<readonly string[]> {
		let next = readPage({score: Math.floor(fromTime), passed: 0}, toTime);
		let seen: ReadonlySet<string> = new Set();
		for (;;) {
			const [lastScore, readOfIt = 0, joined = ''] = await next;
			if (lastScore === undefined) {
				return;
			}

			next = readPage({score: lastScore, passed: readOfIt}, toTime);
			// Whoever reads no further does not care why the next page cannot be read.
			next.catch(() => undefined);
			const page = joined.split('\0');
			// One that was added meanwhile may have pushed another into this page.
			yield without(page, seen);
			seen = new Set(page.slice(-readOfIt));
		}
	};
}

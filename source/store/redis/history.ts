import {rawOf} from '../codec.js';
import type {Connection} from './connection.js';
import {keys} from './keys.js';

const pageSize = 1000;

/**
Streams the stored usage records whose whole second lies in the given time, oldest first, a page at a time.

Each page begins at the score where the last one ended and passes over the records of that score: an offset into the whole
would make Redis walk further for every page.

@yields Pages of records.
*/
export async function* readPages(
	connection: Connection,
	fromTime: number,
	toTime: number,
): AsyncGenerator<readonly string[]> {
	let from = Math.floor(fromTime);
	let atFrom = new Set<string>();
	let isLast = false;
	while (!isLast) {
		const page = await readPage(connection, {from, to: Math.floor(toTime), offset: atFrom.size});
		const seen = atFrom;
		// One that was added meanwhile may have pushed another into this page.
		yield page.map(([record]) => record).filter((record) => !seen.has(record));
		isLast = page.length < pageSize;
		const end = page.at(-1)?.[1] ?? from;
		const atEnd = page.filter(([, score]) => score === end).map(([record]) => record);
		atFrom = new Set([...(end === from ? seen : []), ...atEnd]);
		from = end;
	}
}

async function readPage(
	connection: Connection,
	{from, to, offset}: {readonly from: number; readonly to: number; readonly offset: number},
): Promise<ReadonlyArray<readonly [record: string, score: number]>> {
	const reply = await connection.run(
		async (client) => client.zrangebyscoreBuffer(keys.history, from, to, 'WITHSCORES', 'LIMIT', offset, pageSize),
		{isRepeatable: true},
	);
	return Array.from(
		{length: reply.length / 2},
		(_, row) => [rawOf(reply[2 * row]!), Number(reply[2 * row + 1])] as const,
	);
}

import {Buffer} from 'node:buffer';
import type {Connection} from './connection.js';
import {keys} from './keys.js';

const pageSize = 1000;

/**
Streams the stored usage records whose whole second lies in the given time, oldest first, a page at a time.

Each page begins at the score where the last one ended and passes over the records of that score: an offset into the whole
would make Redis walk further for every page.

@yields Records as they are stored.
*/
export async function* readHistory(
	connection: Connection,
	fromTime: number,
	toTime: number,
): AsyncGenerator<Uint8Array> {
	let from = Math.floor(fromTime);
	let atFrom = new Set<string>();
	for (;;) {
		const page = await readPage(connection, {from, to: Math.floor(toTime), offset: atFrom.size});
		for (const [record, score] of page) {
			if (score !== from) {
				from = score;
				atFrom = new Set();
			}

			// One that was added meanwhile may have pushed another into this page.
			const identity = Buffer.from(record).toString('latin1');
			const isNew = !atFrom.has(identity);
			atFrom.add(identity);
			if (isNew) {
				yield record;
			}
		}

		if (page.length < pageSize) {
			return;
		}
	}
}

async function readPage(
	connection: Connection,
	{from, to, offset}: {readonly from: number; readonly to: number; readonly offset: number},
): Promise<ReadonlyArray<readonly [record: Uint8Array, score: number]>> {
	const reply = await connection.run(
		async (client) => client.zrangebyscoreBuffer(keys.history, from, to, 'WITHSCORES', 'LIMIT', offset, pageSize),
		{isRepeatable: true},
	);
	return Array.from({length: reply.length / 2}, (_, row) => [reply[2 * row]!, Number(reply[2 * row + 1])] as const);
}

import type {UsageHistory} from '../core/model/ports.js';
import type {UsageRecord} from '../core/model/types.js';
import {decodeUsage} from './records/index.js';

type Pages = AsyncIterable<readonly string[]> | Iterable<readonly string[]>;

/** Decodes the valid usage records that ended between these times, sorted by exact end. The pages are sorted only by the second of the end. */
export function decodeHistory(readPages: () => Pages, fromTime: number, toTime: number): UsageHistory {
	const pages = (): AsyncGenerator<readonly UsageRecord[]> => decodePages(readPages(), fromTime, toTime);
	return {
		pages,
		async *[Symbol.asyncIterator]() {
			for await (const page of pages()) {
				yield* page;
			}
		},
	};
}

async function* decodePages(pages: Pages, fromTime: number, toTime: number): AsyncGenerator<readonly UsageRecord[]> {
	let rest: readonly UsageRecord[] = [];
	for await (const page of pages) {
		const records = [...rest];
		for (const raw of page) {
			const usage = decodeUsage(raw);
			if (usage !== undefined && usage.endTime >= fromTime && usage.endTime <= toTime) {
				records.push(usage);
			}
		}

		records.sort((a, b) => a.endTime - b.endTime);
		// The next page may contain more records of the last second, so the records of that second are returned with the next page.
		const lastSecond = Math.floor(records.at(-1)?.endTime ?? 0);
		const restLength = records.length - records.findLastIndex(({endTime}) => endTime < lastSecond) - 1;
		rest = records.splice(records.length - restLength);
		yield records;
	}

	yield rest;
}

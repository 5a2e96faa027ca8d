import type {UsageRecord} from '../core/types.js';
import {decodeUsage} from './codec.js';

/**
Decodes stored usage records and puts them in order. A store keeps them by the whole second; within a second they are sorted here.

@param pages - Records as they are stored, seconds ascending. Those that do not parse are skipped.
@param fromTime - The first end that is wanted.
@param toTime - The last one.
@yields Records, oldest end first.
*/
export async function* decodeHistory(
	pages: AsyncIterable<readonly string[]> | Iterable<readonly string[]>,
	fromTime: number,
	toTime: number,
): AsyncGenerator<UsageRecord> {
	let sameSecond: UsageRecord[] = [];
	for await (const page of pages) {
		const records = page
			.map((raw) => decodeUsage(raw))
			.filter((usage) => usage !== undefined && usage.endTime >= fromTime && usage.endTime <= toTime);
		for (const usage of records as UsageRecord[]) {
			const [first = usage] = sameSecond;
			if (Math.floor(usage.endTime) !== Math.floor(first.endTime)) {
				yield* inOrder(sameSecond);
				sameSecond = [];
			}

			sameSecond.push(usage);
		}
	}

	yield* inOrder(sameSecond);
}

const inOrder = (records: readonly UsageRecord[]): readonly UsageRecord[] =>
	records.toSorted((a, b) => a.endTime - b.endTime);

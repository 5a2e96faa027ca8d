/** Who held a GPU over time, in the columns of a graph. */
import type {UsageRecord} from '../../model/types.js';

export type Columns = {
	/** When the first begins, in seconds since the epoch. */
	readonly start: number;
	readonly columnSeconds: number;
	readonly columns: number;
};

/**
For each column those who held the GPU for half of it or longer, and where there are none, the one who held it for longest. Empty: no one did.

@param records - Leases that have ended, and those that live, up to now.
*/
export function holdersByColumn(
	records: readonly UsageRecord[],
	gpu: number,
	{start, columnSeconds, columns}: Columns,
): ReadonlyArray<readonly UsageRecord[]> {
	const seconds = Array.from({length: columns}, () => new Map<string, {record: UsageRecord; held: number}>());
	const end = start + columns * columnSeconds;
	for (const record of records) {
		const {gpuId, user, startTime, endTime} = record;
		if (gpuId !== gpu || endTime <= start || startTime >= end) {
			continue;
		}

		const first = Math.max(0, Math.floor((startTime - start) / columnSeconds));
		const last = Math.min(columns - 1, Math.ceil((endTime - start) / columnSeconds) - 1);
		for (let column = first; column <= last; column++) {
			const from = start + column * columnSeconds;
			const held = Math.min(endTime, from + columnSeconds) - Math.max(startTime, from);
			const known = seconds[column]!.get(user);
			if (held > 0) {
				seconds[column]!.set(user, {record, held: (known?.held ?? 0) + held});
			}
		}
	}

	return seconds.map((holders) => {
		const all = holders
			.values()
			.toArray()
			.toSorted((a, b) => b.held - a.held);
		const long = all.filter(({held}) => held >= columnSeconds / 2);
		return (long.length > 0 ? long : all.slice(0, 1))
			.map(({record}) => record)
			.toSorted((a, b) => a.user.localeCompare(b.user, 'en'));
	});
}

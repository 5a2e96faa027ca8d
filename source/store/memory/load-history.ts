import {longestLoadHour, type LoadHistory} from '../../core/model/ports.js';
import {hoursBetween, isLoadText, oldestLoadHour} from '../load-hours.js';

/** The load history of the reference store. */
export type MemoryLoadHistory = LoadHistory & {
	/** The texts by hour, for tests that spoil them. */
	readonly hours: Map<number, string>;
};

export function createMemoryLoadHistory(): MemoryLoadHistory {
	const hours = new Map<number, string>();
	return {
		hours,
		async append(hour, line) {
			for (const known of hours.keys()) {
				if (known < oldestLoadHour(hour)) {
					hours.delete(known);
				}
			}

			const text = `${hours.get(hour) ?? ''}${line}\n`;
			if (text.length <= longestLoadHour) {
				hours.set(hour, text);
			}
		},
		async read(fromHour, toHour) {
			return new Map(
				hoursBetween(fromHour, toHour).flatMap((hour) => {
					const text = hours.get(hour);
					return isLoadText(text) ? [[hour, text] as const] : [];
				}),
			);
		},
	};
}

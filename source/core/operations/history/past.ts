import type {MinuteLoads} from '../../model/observation.js';
import type {Store} from '../../model/ports.js';
import type {UsageRecord} from '../../model/types.js';
import {decodeHour, hourOf, minuteOf} from '../../rules/pool/load-minutes.js';

export type Past = {
	readonly from: number;
	readonly to: number;
	/** The load in each minute, oldest first. A minute can occur several times. A minute in which no process scanned is missing. */
	readonly minutes: readonly MinuteLoads[];
	readonly usage: readonly UsageRecord[];
};

/** Maximum number of usage records to keep. The newest records are kept. A graph with a few hundred columns cannot show more anyway. */
const mostUsage = 20_000;

/** How long after the end of a lease its record may be written. Records written even later are found only by the next complete read. */
const lateSeconds = 120;

async function usageBetween({history}: Pick<Store, 'history'>, from: number, to: number): Promise<UsageRecord[]> {
	const found: UsageRecord[] = [];
	for await (const page of history(from, to).pages()) {
		found.push(...page);
		if (found.length > mostUsage) {
			found.splice(0, found.length - mostUsage);
		}
	}

	return found;
}

/** Reads the load between two times on the store's clock. Rejects with a CanhazgpuError if the store fails. */
export async function readLoads(
	{store}: {readonly store: Pick<Store, 'loads'>},
	from: number,
	to: number,
): Promise<readonly MinuteLoads[]> {
	const nowMinute = minuteOf(to);
	const texts = await store.loads.read(hourOf(minuteOf(from)), hourOf(nowMinute));
	return [...texts].flatMap(([hour, text]) => decodeHour(hour, text, nowMinute));
}

/**
Reads load and usage of the last `seconds`. If the last result is given as `before`, reads only newer records.
Rejects with a CanhazgpuError if the store fails.
*/
export async function readPast(
	{store}: {readonly store: Pick<Store, 'loads' | 'history'>},
	{now, seconds}: {readonly now: number; readonly seconds: number},
	before?: Past,
): Promise<Past> {
	const from = now - seconds;
	const isKnown = before !== undefined && before.from <= from && before.to <= now && before.to >= from;
	const known = isKnown ? before : {to: from, minutes: [], usage: []};
	const firstHour = hourOf(minuteOf(isKnown ? known.to - lateSeconds : from));
	const usageFrom = isKnown ? known.to - lateSeconds : from;
	const [minutes, usage] = await Promise.all([
		readLoads({store}, firstHour * 3600, now),
		usageBetween(store, usageFrom, now),
	]);
	return {
		from,
		to: now,
		minutes: [
			...known.minutes.filter(({minute}) => minute >= minuteOf(from) && hourOf(minute) < firstHour),
			...minutes,
		],
		usage: [...known.usage.filter(({endTime}) => endTime >= from && endTime < usageFrom), ...usage],
	};
}

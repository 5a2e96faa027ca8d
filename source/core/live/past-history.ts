/** The load history of one GPU, in the form that graphs are drawn from. */
import type {MinuteLoads} from '../model/load.js';
import {loadIn} from '../rules/pool/load-minutes.js';
import type {UtilizationHistory} from './utilization-history.js';

const minuteMs = 60_000;
/** A minute ends before the next begins. */
const coveredMs = minuteMs - 1;

type Options = {
	/** What the GPU goes by in the load history. */
	readonly name: string;
	/** What it goes by in the history of this face, and in the one that is made. */
	readonly key: string;
	readonly windowMs: number;
	/** To be added to the times of `own`, so that they are milliseconds since the epoch. */
	readonly ownOffsetMs: number;
};

const mean = (value: number | undefined, count: number) => (value === undefined ? undefined : {value, count});

/**
What all scanners have written down, continued by what this face has seen since. Its times are milliseconds since the epoch. A minute stands for
itself alone, so that a time that no one saw is a gap.
*/
export function pastHistory(
	minutes: readonly MinuteLoads[],
	own: UtilizationHistory,
	{name, key, windowMs, ownOffsetMs}: Options,
): UtilizationHistory {
	const kept = minutes.flatMap((line) => {
		const load = loadIn(line, name);
		const means = load && {
			utilization: mean(load.utilization, line.scans),
			memory: mean(load.memory, line.scans),
		};
		return means === undefined ? [] : [{atMs: (line.minute + 0.5) * minuteMs, means: new Map([[key, means]])}];
	});
	const newestMinute = minutes.at(-1)?.minute ?? 0;
	const since = own.samples
		.map(({atMs, means}) => ({atMs: atMs + ownOffsetMs, means}))
		.filter(({atMs}) => atMs > (newestMinute + 1) * minuteMs);
	return {windowMs, stepMs: minuteMs, coverMs: coveredMs, samples: [...kept, ...since]};
}

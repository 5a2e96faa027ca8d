import {setTimeout as sleep} from 'node:timers/promises';

/** Waits until the work settles, whether or not it succeeds. Gives up after a time limit in ms. */
export async function withinTime(work: Promise<unknown>, limitMs: number): Promise<void> {
	const settled = new AbortController();
	const late = sleep(limitMs, undefined, {signal: settled.signal});
	await Promise.race([work, late]).catch(() => undefined);
	settled.abort();
}

import {performance} from 'node:perf_hooks';
import {setTimeout as delay} from 'node:timers/promises';
import type {Clock} from '../core/model/ports.js';

/** The longest delay of a timer. Node fires a timer with a longer delay at once. */
const longestSleepMs = 2 ** 31 - 1;

/** The clock and the random numbers of this process. `sleep` rejects with an `AbortError` if aborted, and sleeps for at most 24.8 days. */
export const createClock = (): Clock => ({
	monotonicMs: () => performance.now(),
	async sleep(milliseconds, signal) {
		await delay(Math.min(longestSleepMs, Math.max(0, milliseconds)), undefined, {signal});
	},
	random: () => Math.random(),
	uuid: () => crypto.randomUUID(),
});

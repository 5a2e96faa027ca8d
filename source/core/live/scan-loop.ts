/** Schedules the scans of the GPUs: often while a user watches, rarely for the utilization history otherwise, and on request. */
import type {World} from '../model/ports.js';
import type {Observation} from '../model/types.js';
import {createTimer} from './timer.js';

export type Watched = Pick<World, 'gpus' | 'clock'>;

type ScanLoop = {
	readonly poke: () => void;
	readonly fresh: () => Promise<void>;
	readonly watch: () => () => void;
	readonly stop: () => void;
};

export type ScanIntervals = {
	readonly watchedMs: number;
	readonly unwatchedMs: number;
};

/** The shortest pause between two scans, no matter how often scans are requested. */
const restMs = 250;
const freshMs = 5000;

/** Scans at once and then repeatedly, one scan at a time. If a scan throws, calls `broken` with the error and ends. */
export function startScanLoop(
	{gpus, clock}: Watched,
	{watchedMs, unwatchedMs}: ScanIntervals,
	arrived: (observation: Observation) => void,
	broken: (error: unknown) => void,
): ScanLoop {
	const timer = createTimer(clock);
	let isStopped = false;
	let watchers = 0;
	let running: Promise<void> | undefined;
	let isPoked = false;
	let endedMs = -Infinity;

	const ageMs = (): number => clock.monotonicMs() - endedMs;

	function plan(): void {
		timer.stop();
		if (isStopped || running !== undefined) {
			return;
		}

		const restAfterMs = isPoked ? restMs : watchers > 0 ? watchedMs : unwatchedMs;
		timer.runIn(Math.max(0, restAfterMs - ageMs()), () => {
			void scan();
		});
	}

	async function scan(): Promise<void> {
		timer.stop();
		running ??= scanOnce();
		return running;
	}

	async function scanOnce(): Promise<void> {
		isPoked = false;
		try {
			const observation = await gpus.observe();
			if (!isStopped) {
				arrived(observation);
			}
		} catch (error) {
			isStopped = true;
			broken(error);
		} finally {
			endedMs = clock.monotonicMs();
			running = undefined;
			plan();
		}
	}

	void scan();
	return {
		poke() {
			isPoked = true;
			plan();
		},
		async fresh() {
			if (!isStopped && ageMs() > freshMs) {
				await scan();
			}
		},
		watch() {
			watchers++;
			plan();
			return () => {
				watchers--;
			};
		},
		stop() {
			isStopped = true;
			timer.stop();
		},
	};
}

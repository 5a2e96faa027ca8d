/** When the GPUs are scanned: often while somebody watches, now and then for the history of utilization, and on demand. */
import type {World} from '../model/ports.js';
import type {Observation} from '../model/types.js';
import {createTimer} from './timer.js';

/** Which GPUs are scanned, and by which clock. */
export type Watched = Pick<World, 'gpus' | 'clock'>;

type ScanLoop = {
	/** Scans soon, because something changed. */
	readonly poke: () => void;
	/** Resolves once there is a scan that is not old. */
	readonly fresh: () => Promise<void>;
	/** Somebody watches until the returned function is called. */
	readonly watch: () => () => void;
	readonly stop: () => void;
};

export type ScanIntervals = {
	/** Milliseconds between scans while somebody watches. */
	readonly watchedMs: number;
	readonly unwatchedMs: number;
};

/** The GPU tool gets this much rest, however often the loop is poked. */
const restMs = 250;
/** A request gets no scan that is older than this. */
const freshMs = 5000;

/**
Scans at once, and then again and again, one scan at a time.

@param broken - Gets an error that is a bug; the loop has ended then.
*/
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

	/** Callers during a scan get the result of that scan. */
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

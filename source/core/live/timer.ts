import type {Clock} from '../model/ports.js';

type Timer = {
	/** Runs once after this delay. Replaces a run that was planned before. */
	readonly runIn: (milliseconds: number, run: () => void) => void;
	readonly stop: () => void;
};

/** Creates a timer with at most one planned run, driven by the clock of the world. */
export function createTimer(clock: Pick<Clock, 'sleep'>): Timer {
	let planned: AbortController | undefined;
	const stop = (): void => {
		planned?.abort();
		planned = undefined;
	};

	return {
		runIn(milliseconds, run) {
			stop();
			const own = new AbortController();
			planned = own;
			const wait = async (): Promise<void> => {
				// A clock may end an aborted sleep early or reject it. Either way the run is canceled.
				await clock.sleep(milliseconds, own.signal).catch(() => undefined);
				if (planned !== own) {
					return;
				}

				planned = undefined;
				run();
			};

			void wait();
		},
		stop,
	};
}

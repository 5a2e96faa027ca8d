import type {Clock} from '../model/ports.js';

type Timer = {
	/** Runs once, so many milliseconds from now. A run that was planned before is dropped. */
	readonly runIn: (milliseconds: number, run: () => void) => void;
	readonly stop: () => void;
};

/** Schedules one run at a time, using the clock of the world. */
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
				// A clock may end an aborted sleep early or by an error: either way the run was dropped.
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

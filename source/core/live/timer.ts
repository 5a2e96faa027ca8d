import type {Clock} from '../model/ports.js';

type Timer = {
	/** Calls `run` once after this delay. Cancels a call that is still pending. */
	readonly runIn: (milliseconds: number, run: () => void) => void;
	readonly stop: () => void;
};

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
				// Depending on the clock, an aborted sleep resolves early or rejects. In both cases `run` is not called.
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

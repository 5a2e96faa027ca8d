import type {Clock} from '../../model/ports.js';

type WakeSignal = {
	readonly wake: () => void;
	/** Wakes the waiter after a time, unless the signal is aborted. While a call is pending, further calls have no effect. */
	readonly wakeAfter: (clock: Clock, milliseconds: number, signal: AbortSignal) => Promise<void>;
	/** Waits for a wake-up, a timeout or an abort. Resolves with true for a wake-up. */
	readonly wait: (clock: Clock, milliseconds: number, signal: AbortSignal) => Promise<boolean>;
};

/** Creates a signal that ends a wait early. If nothing waits during a wake-up, the next wait ends at once, so that no wake-up is lost. */
export function createWakeSignal(): WakeSignal {
	let isWoken = false;
	let isTimerSet = false;
	let waiting: AbortController | undefined;
	const wake = (): void => {
		isWoken = true;
		waiting?.abort();
	};

	return {
		wake,
		async wakeAfter(clock, milliseconds, signal) {
			if (isTimerSet || signal.aborted) {
				return;
			}

			isTimerSet = true;
			try {
				await clock.sleep(milliseconds, signal);
				wake();
			} catch (error) {
				if (!signal.aborted) {
					throw error;
				}
			} finally {
				isTimerSet = false;
			}
		},
		async wait(clock, milliseconds, signal) {
			if (!isWoken && !signal.aborted && milliseconds > 0) {
				waiting = new AbortController();
				try {
					await clock.sleep(milliseconds, AbortSignal.any([signal, waiting.signal]));
				} catch (error) {
					if (!signal.aborted && !waiting.signal.aborted) {
						throw error;
					}
				} finally {
					waiting = undefined;
				}
			}

			const wasWoken = isWoken;
			isWoken = false;
			return wasWoken;
		},
	};
}

import type {Clock} from '../../model/ports.js';

type WakeSignal = {
	/** Ends the wait that is under way, or else the next one. */
	readonly wake: () => void;
	/** Wakes when the time is over, unless aborted. A second call meanwhile keeps the first time. */
	readonly wakeAfter: (clock: Clock, milliseconds: number, signal: AbortSignal) => Promise<void>;
	/** Returns when it is woken, when the time is over, or when the signal is aborted; true: it was woken. */
	readonly wait: (clock: Clock, milliseconds: number, signal: AbortSignal) => Promise<boolean>;
};

/** A wait that can be cut short. A wake while nothing waits is kept, so that none is lost between a read and the wait after it. */
export function createWakeSignal(): WakeSignal {
	let hasRung = false;
	let isSet = false;
	let waiting: AbortController | undefined;
	const ring = (): void => {
		hasRung = true;
		waiting?.abort();
	};

	return {
		wake: ring,
		async wakeAfter(clock, milliseconds, signal) {
			if (isSet || signal.aborted) {
				return;
			}

			isSet = true;
			try {
				await clock.sleep(milliseconds, signal);
				ring();
			} catch (error) {
				if (!signal.aborted) {
					throw error;
				}
			} finally {
				isSet = false;
			}
		},
		async wait(clock, milliseconds, signal) {
			if (!hasRung && !signal.aborted && milliseconds > 0) {
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

			const rang = hasRung;
			hasRung = false;
			return rang;
		},
	};
}

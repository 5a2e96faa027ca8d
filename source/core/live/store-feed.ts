/** Keeps a snapshot of the pool up to date: subscribes to changes, and reads again whenever something may have changed. */
import {CanhazgpuError} from '../../errors.js';
import {secondsToNextEnd} from '../rules/leases/liveness.js';
import type {Host, World} from '../model/ports.js';
import {readForDisplay} from '../operations/transact.js';
import type {Snapshot} from '../model/types.js';
import {createTimer} from './timer.js';

type FeedListener = {
	readonly arrived: (snapshot: Snapshot) => void;
	/**
	Called when the store is unreachable or its data is invalid. The last snapshot was valid until `sinceMs`. The feed tries again by itself. `error` is
	the error of a failed read, and undefined if only the connection was lost.
	*/
	readonly lost: (reason: string, sinceMs: number, error?: CanhazgpuError) => void;
	readonly broken: (error: unknown) => void;
};

type Feed = {
	readonly refresh: () => void;
	readonly stop: () => void;
};

/** Events come in bursts. The first event causes a read at once. After that, reads are at least this far apart. */
const coolingMs = 50;
/** The longest time between two reads. Without events, the pool is read anyway, because an event may have been lost. */
const safetyMs = 10_000;
const longestRetryMs = 5000;
/** A read that takes longer than this is reported as `lost`, although it may still succeed. */
const patienceMs = 5000;

function nextReadMs(snapshot: Snapshot, host: Host): number {
	// Reads a little after the next lease ends, so that this lease has certainly ended.
	const untilEndMs = secondsToNextEnd(snapshot, host) * 1000 + 20;
	return Math.min(safetyMs, Math.max(coolingMs, untilEndMs));
}

const retryMs = (failures: number): number => Math.min(longestRetryMs, 250 * 2 ** Math.min(failures, 10));

export function startStoreFeed(world: World, listener: FeedListener): Feed {
	let isStopped = false;
	let isReading = false;
	let isCooling = false;
	let isWanted = false;
	let failures = 0;
	/** How often the connection was lost. If a read began before the last loss, its answer does not show that the connection is back. */
	let losses = 0;
	let unsubscribe: (() => Promise<void>) | undefined;
	const nextRead = createTimer(world.clock);
	const cooling = createTimer(world.clock);
	const nextSubscribe = createTimer(world.clock);
	const lateness = createTimer(world.clock);

	const refresh = (): void => {
		isWanted = true;
		void pump();
	};

	const readIn = (milliseconds: number): void => {
		if (!isStopped) {
			nextRead.runIn(milliseconds, refresh);
		}
	};

	const fail = (error: unknown, sinceMs: number, tryAgain: (milliseconds: number) => void): void => {
		if (isStopped) {
			return;
		}

		if (!(error instanceof CanhazgpuError)) {
			listener.broken(error);
			return;
		}

		listener.lost(error.message, sinceMs, error);
		tryAgain(retryMs(failures));
		failures++;
	};

	async function read(): Promise<void> {
		const lossesBefore = losses;
		const beganMs = world.clock.monotonicMs();
		lateness.runIn(patienceMs, () => {
			listener.lost(`no answer within ${patienceMs / 1000} s`, beganMs);
		});
		try {
			const snapshot = await readForDisplay(world);
			lateness.stop();
			if (isStopped) {
				return;
			}

			if (losses === lossesBefore) {
				failures = 0;
				listener.arrived(snapshot);
				readIn(nextReadMs(snapshot, world.host));
			} else {
				readIn(retryMs(failures));
			}
		} catch (error) {
			lateness.stop();
			fail(error, beganMs, readIn);
		}
	}

	async function pump(): Promise<void> {
		if (isStopped || isReading || isCooling || !isWanted) {
			return;
		}

		isWanted = false;
		isReading = true;
		isCooling = true;
		cooling.runIn(coolingMs, () => {
			isCooling = false;
			void pump();
		});
		await read();
		isReading = false;
		void pump();
	}

	async function subscribe(): Promise<void> {
		try {
			const stopListening = await world.store.subscribe({
				changed: refresh,
				lost(reason) {
					losses++;
					listener.lost(reason, world.clock.monotonicMs());
					readIn(retryMs(failures));
				},
				restored: refresh,
			});
			if (isStopped) {
				await stopListening();
				return;
			}

			unsubscribe = stopListening;
			refresh();
		} catch (error) {
			fail(error, world.clock.monotonicMs(), (milliseconds) => {
				nextSubscribe.runIn(milliseconds, () => {
					void subscribe();
				});
			});
		}
	}

	void subscribe();
	return {
		refresh,
		stop() {
			isStopped = true;
			nextRead.stop();
			cooling.stop();
			lateness.stop();
			nextSubscribe.stop();
			unsubscribe?.().catch(() => undefined);
		},
	};
}

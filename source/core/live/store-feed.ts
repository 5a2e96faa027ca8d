/** Keeps a face's snapshot of the pool up to date: subscribes, then reads, and reads again whenever something may have changed. */
import {CanhazgpuError} from '../../errors.js';
import {secondsToNextEnd} from '../rules/leases/liveness.js';
import type {Host, World} from '../model/ports.js';
import {readForDisplay} from '../operations/transact.js';
import type {Snapshot} from '../model/types.js';
import {createTimer} from './timer.js';

type FeedListener = {
	readonly arrived: (snapshot: Snapshot) => void;
	/**
	The store cannot be reached or makes no sense; `reason` is for the user. The feed keeps trying. What arrived last was true until `sinceMs` of
	the monotonic clock.
	*/
	readonly lost: (reason: string, sinceMs: number) => void;
	/** Gets an error that is a bug, and no state of the store. */
	readonly broken: (error: unknown) => void;
};

type Feed = {
	/** Reads as soon as possible. */
	readonly refresh: () => void;
	readonly stop: () => void;
};

/** Events come in bursts: the first is answered at once, then there is at most one read in this time. */
const coolingMs = 50;
/** An event that got lost costs no more than this. */
const safetyMs = 10_000;
const longestRetryMs = 5000;
/** A read that takes longer marks the shown values as stale, without an error yet. */
const patienceMs = 5000;

/** When to read again if nothing happens: at the next end of a lease, and in any case soon. */
function nextReadMs(snapshot: Snapshot, host: Host): number {
	// A little late, so that the lease has ended when it is read.
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
	/** Counts losses: the answer to a read that began before a loss says nothing of the connection now. */
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

	/** Says what is wrong, and tries again later unless it is a bug. */
	const fail = (error: unknown, sinceMs: number, tryAgain: (milliseconds: number) => void): void => {
		if (isStopped) {
			return;
		}

		if (!(error instanceof CanhazgpuError)) {
			listener.broken(error);
			return;
		}

		listener.lost(error.message, sinceMs);
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
			// The store may be gone already, and then there is nothing to stop.
			unsubscribe?.().catch(() => undefined);
		},
	};
}

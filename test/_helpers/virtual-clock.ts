import {setImmediate as turn} from 'node:timers/promises';
import type {Clock} from '../../source/core/model/ports.js';

export type VirtualClock = Clock & {
	/** The time in seconds since the epoch. */
	readonly now: () => number;
	/** Advances the time. Sleeping callers wake in order, and pending work runs. */
	readonly pass: (seconds: number) => Promise<void>;
};

type Sleeper = {readonly wakeMs: number; readonly wake: () => void};

/** A clock for many concurrent sleepers, which advances only when the test tells it to. */
export function createVirtualClock(startSeconds = 1_800_000_000): VirtualClock {
	const sleepers = new Set<Sleeper>();
	let milliseconds = 0;
	let ids = 0;

	const settle = async (): Promise<void> => {
		for (let turns = 0; turns < 5; turns++) {
			await turn();
		}
	};

	return {
		monotonicMs: () => milliseconds,
		now: () => startSeconds + milliseconds / 1000,
		random: () => 0.5,
		uuid: () => `id-${++ids}`,
		async sleep(wait, signal) {
			signal?.throwIfAborted();
			const {promise, resolve, reject} = Promise.withResolvers<void>();
			const sleeper: Sleeper = {wakeMs: milliseconds + wait, wake: resolve};
			sleepers.add(sleeper);
			const abort = (): void => {
				reject(new DOMException('Aborted', 'AbortError'));
			};

			signal?.addEventListener('abort', abort, {once: true});
			try {
				await promise;
			} finally {
				signal?.removeEventListener('abort', abort);
				sleepers.delete(sleeper);
			}
		},
		async pass(seconds) {
			const endMs = milliseconds + seconds * 1000;
			await settle();
			for (;;) {
				const [next] = [...sleepers].toSorted((a, b) => a.wakeMs - b.wakeMs);
				if (next === undefined || next.wakeMs > endMs) {
					break;
				}

				milliseconds = Math.max(milliseconds, next.wakeMs);
				sleepers.delete(next);
				next.wake();
				await settle();
			}

			milliseconds = endMs;
		},
	};
}

import type {Clock} from '../model/ports.js';
import {readingOf} from '../rules/mig/instances.js';
import type {StatusRow} from '../rules/pool/status.js';
import type {LiveState, LiveView} from './live-view.js';

/** GPU-seconds. A share or an instance of a GPU counts with its part of the memory. */
export type UserSeconds = {
	/** GPU seconds in which the user held GPUs. */
	readonly reserved: number;
	/** Seconds of these without a process on the GPUs. Unknown seconds are not counted. */
	readonly idle: number;
};

type Part = {readonly user: string; readonly weight: number; readonly isIdle: boolean};

/** The parts of a GPU that somebody holds. A share of a GPU whose memory is unknown has no part that can be counted. */
function partsOf({owner, idleSeconds, shares, capacityMiB, reading}: StatusRow): readonly Part[] {
	if (owner !== undefined) {
		return [{user: owner, weight: 1, isIdle: idleSeconds !== undefined}];
	}

	return (shares ?? []).flatMap(({owner: user, lease: {memoryMiB, mig}, idleSeconds: idle}) => {
		const [part, whole] =
			mig === undefined ? [memoryMiB, capacityMiB] : [readingOf(reading, mig)?.memoryTotalMiB, reading?.memoryTotalMiB];
		return part === undefined || whole === undefined || whole === 0
			? []
			: [{user, weight: part / whole, isIdle: idle !== undefined}];
	});
}

/**
Counts how long each user holds GPUs and leaves them idle, from now on. Nothing is counted while the store is unreachable.

@returns A function that returns the sums so far. They never decrease.
*/
export function countUserSeconds(
	view: Pick<LiveView, 'current' | 'subscribe'>,
	monotonicMs: Clock['monotonicMs'],
): () => ReadonlyMap<string, UserSeconds> {
	const sums = new Map<string, UserSeconds>();
	let counted = monotonicMs();
	let parts: readonly Part[] = [];
	const count = ({lost, rows}: LiveState): void => {
		const now = monotonicMs();
		const seconds = (now - counted) / 1000;
		counted = now;
		for (const {user, weight, isIdle} of parts) {
			const {reserved, idle} = sums.get(user) ?? {reserved: 0, idle: 0};
			const more = seconds * weight;
			sums.set(user, {reserved: reserved + more, idle: idle + (isIdle ? more : 0)});
		}

		parts = lost === undefined ? rows.flatMap((row) => partsOf(row)) : [];
	};

	count(view.current());
	view.subscribe(count);
	return () => {
		count(view.current());
		return sums;
	};
}

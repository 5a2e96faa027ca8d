import type {Clock} from '../model/ports.js';
import {readingOf} from '../rules/mig/instances.js';
import type {StatusRow} from '../rules/pool/status.js';
import type {LiveState, LiveView} from './live-view.js';

/** GPU-seconds of a user. A share or MIG instance counts as its fraction of the GPU's memory. */
export type UserSeconds = {
	readonly reserved: number;
	/** The seconds of `reserved` in which nothing ran. Excludes seconds in which the use was unknown. */
	readonly idle: number;
};

type Part = {readonly user: string; readonly weight: number; readonly isIdle: boolean};

/** Returns the parts of a GPU that are held. Omits shares if the memory of the GPU is unknown, because they are an unknown fraction of the GPU. */
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
Counts how long each user holds GPUs, and how long these GPUs are idle. Pauses while the store is unreachable.
Returns a function that returns the sums.
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

/**
Turns the answer of read.lua into what was read.
*/
import {mostGpus, rawOf, usageNeedles} from '../codec.js';
import {recentCount} from '../raw-plan.js';
import type {RawSnapshot, RawValue} from '../raw-snapshot.js';
import {wrongKey} from './failures.js';
import {entryKeyPrefix, gpuKeyPrefix, keys, readKeys} from './keys.js';

/** A value as the script marks it: `v` and a string, `t` and a type. */
type Marked = Uint8Array | undefined;

type Reply = readonly [
	seconds: number,
	microseconds: number,
	gpuCount: Marked,
	provider: Marked,
	machine: Marked,
	gpus: readonly Marked[],
	ids: readonly Uint8Array[] | Uint8Array,
	entries: readonly Marked[],
	usage: readonly Uint8Array[],
	drains: Marked,
	notices: Marked,
];

/** What read.lua is given, number of keys first. */
export const readArguments = (user: string | undefined): ReadonlyArray<string | number> => [
	readKeys.length,
	...readKeys,
	gpuKeyPrefix,
	entryKeyPrefix,
	mostGpus,
	recentCount,
	...(user === undefined ? [] : usageNeedles(user)),
];

function valueOf(marked: Marked | undefined): RawValue {
	if (marked === null || marked === undefined) {
		return undefined;
	}

	const raw = rawOf(marked.subarray(1));
	return marked[0] === 't'.codePointAt(0) ? {wrongType: raw} : raw;
}

/** @throws CanhazgpuError `pool-garbage` when the queue is not a queue. */
export function parseReadReply(reply: unknown): Omit<RawSnapshot, 'storeUptimeSeconds'> {
	const [seconds, microseconds, gpuCount, provider, machine, gpus, ids, entries, usage, drains, notices] =
		reply as Reply;
	if (ids instanceof Uint8Array) {
		throw wrongKey(keys.queue, rawOf(ids.subarray(1)));
	}

	return {
		now: seconds + microseconds / 1e6,
		pool: {gpuCount: valueOf(gpuCount), provider: valueOf(provider), machine: valueOf(machine)},
		gpus: gpus.map((gpu) => valueOf(gpu)),
		queue: ids.map((id, place) => [rawOf(id), valueOf(entries[place])] as const),
		drains: valueOf(drains),
		notices: valueOf(notices),
		recentUsage: usage.map((record) => rawOf(record)),
	};
}

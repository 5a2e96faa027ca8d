/**
Turns the answer of read.lua into what was read.
*/
import type {ReadOptions} from '../../core/model/ports.js';
import {rawOf, usageNeedles} from '../records/index.js';
import type {RawSnapshot, RawValue} from '../raw-snapshot.js';
import {wrongKey} from './failures.js';
import {changeKeyPrefix, keys} from './keys.js';
import {bytesOf, integerOf, listOf, optional} from './replies.js';

/** What read.lua is given, number of keys first. */
export const readArguments = ({user, change, withoutQueue}: ReadOptions): ReadonlyArray<string | number> => [
	...(change === undefined ? [0] : [1, `${changeKeyPrefix}${change}`]),
	withoutQueue === true ? '1' : '0',
	...(user === undefined ? [] : usageNeedles(user)),
];

/** A value as the script tells it: a string, a list that holds a type, or nothing. */
function valueOf(reply: unknown): RawValue {
	if (Array.isArray(reply)) {
		return {wrongType: rawOf(bytesOf(reply[0]))};
	}

	const value = optional(reply, bytesOf);
	return value === undefined ? undefined : rawOf(value);
}

/** @throws CanhazgpuError `pool-garbage` when the queue is not a queue; WrongShape for what read.lua does not answer. */
export function parseReadReply(reply: unknown): Omit<RawSnapshot, 'storeUptimeSeconds' | 'run'> {
	const [
		seconds,
		microseconds,
		gpuCount,
		provider,
		machine,
		gpus,
		ids,
		entries,
		usage,
		drains,
		alerts,
		revision,
		policy,
		attemptDone,
	] = listOf(reply, (item) => item);
	if (ids instanceof Uint8Array) {
		throw wrongKey(keys.queue, rawOf(ids));
	}

	const values = listOf(entries, valueOf);
	return {
		now: integerOf(seconds) + integerOf(microseconds) / 1e6,
		pool: {gpuCount: valueOf(gpuCount), provider: valueOf(provider), machine: valueOf(machine)},
		gpus: listOf(gpus, valueOf),
		queue: listOf(ids, bytesOf).map((id, index) => [rawOf(id), values[index]] as const),
		drains: valueOf(drains),
		alerts: valueOf(alerts),
		revision: valueOf(revision),
		policy: valueOf(policy),
		recentUsage: listOf(usage, bytesOf).map((record) => rawOf(record)),
		attemptDone: valueOf(attemptDone),
	};
}

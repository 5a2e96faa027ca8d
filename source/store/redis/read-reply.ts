import type {ReadOptions} from '../../core/model/ports.js';
import {rawOf, usageNeedles} from '../records/index.js';
import type {RawSnapshot, RawValue} from '../raw-snapshot.js';
import type {Endpoint} from './address.js';
import {wrongKey} from './failures.js';
import {changeKeyPrefix, keys} from './keys.js';
import {bytesOf, integerOf, listOf, optional} from './replies.js';

/** Returns the arguments of read.lua, which start with the number of keys. */
export const readArguments = ({user, change, withoutQueue}: ReadOptions): ReadonlyArray<string | number> => [
	...(change === undefined ? [0] : [1, `${changeKeyPrefix}${change}`]),
	withoutQueue === true ? '1' : '0',
	...(user === undefined ? [] : [user.toWellFormed(), ...usageNeedles(user)]),
];

/** Decodes a value from the script: a string, a list with the name of another type, or nothing. */
export function valueOf(reply: unknown): RawValue {
	if (Array.isArray(reply)) {
		return {wrongType: rawOf(bytesOf(reply[0]))};
	}

	const value = optional(reply, bytesOf);
	return value === undefined ? undefined : rawOf(value);
}

/** Returns when each GPU was last used. Ignores uses that ended before the first second in the reply. */
function lastUseOf([fromSecond, uses = '']: readonly string[]): ReadonlyMap<number, number> {
	const words = uses.split(' ');
	const lastUse = new Map<number, number>();
	for (let at = 0; at + 1 < words.length; at += 2) {
		const endTime = Number(words[at + 1]);
		if (Math.floor(endTime) >= Number(fromSecond)) {
			lastUse.set(Number(words[at]), endTime);
		}
	}

	return lastUse;
}

/** Parses the answer of read.lua. Throws `pool-garbage` if the queue is not a sorted set, and WrongShape for an answer that no Redis sends. */
export function parseReadReply(reply: unknown, endpoint: Endpoint): Omit<RawSnapshot, 'storeUptimeSeconds' | 'run'> {
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
		lastUse,
		attemptDone,
	] = listOf(reply, (item) => item);
	if (ids instanceof Uint8Array) {
		throw wrongKey(endpoint, keys.queue, rawOf(ids));
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
		lastUse: Array.isArray(lastUse) ? lastUseOf(listOf(lastUse, bytesOf).map((text) => rawOf(text))) : undefined,
		attemptDone: valueOf(attemptDone),
	};
}

/** Which store holds the pool. Pure: the caller gathers the facts. */

import type {PoolRecord} from '../../model/types.js';

export type RedisAnswer = 'pool' | 'no-pool' | 'no-answer';

export type StoreFacts = {
	/** `--store`, or `store` in a config. */
	readonly asked: PoolRecord['store'] | undefined;
	/** Whether a flag, the environment or a config names a Redis. */
	readonly isRedisGiven: boolean;
	/** The shared pool recorded by `admin`. */
	readonly recorded: PoolRecord | undefined;
	/** The store that this user last found. May be a getter, read only if it matters. */
	readonly remembered: PoolRecord | undefined;
	readonly hasPrivatePool: boolean;
};

export type StoreChoice =
	| {readonly kind: 'redis'; readonly record?: Extract<PoolRecord, {store: 'redis'}>}
	| {readonly kind: 'shared'; readonly directory: string}
	| {readonly kind: 'private'}
	/** There is no pool at all: verbs fail, the monitor makes a private one. */
	| {readonly kind: 'none'}
	/** A private pool was asked for beside a shared one, where no one would see it. */
	| {readonly kind: 'private-refused'; readonly because: PoolRecord | 'redis'};

const byRecord = (record: PoolRecord): StoreChoice =>
	record.store === 'redis' ? {kind: 'redis', record} : {kind: 'shared', directory: record.directory};

/**
Decides. Redis being down is never a reason to go elsewhere: that would hand one GPU to two people.

@param probe - Asks the configured Redis, only when it matters.
*/
export async function chooseStore(facts: StoreFacts, probe: () => Promise<RedisAnswer>): Promise<StoreChoice> {
	const {asked, isRedisGiven, recorded, hasPrivatePool} = facts;
	if (asked === 'redis' || (asked === undefined && isRedisGiven)) {
		return {kind: 'redis'};
	}

	if (asked === 'embedded') {
		if (recorded !== undefined) {
			return recorded.store === 'embedded' ? byRecord(recorded) : {kind: 'private-refused', because: recorded};
		}

		if ((await probe()) === 'pool') {
			return {kind: 'private-refused', because: 'redis'};
		}

		return hasPrivatePool ? {kind: 'private'} : {kind: 'none'};
	}

	if (recorded !== undefined) {
		return byRecord(recorded);
	}

	if ((await probe()) === 'pool') {
		return {kind: 'redis'};
	}

	const {remembered} = facts;
	// A Redis that held the pool the last time and is down or empty now is an error to be seen, not to be worked around.
	if (remembered?.store === 'redis') {
		return byRecord(remembered);
	}

	return hasPrivatePool ? {kind: 'private'} : {kind: 'none'};
}

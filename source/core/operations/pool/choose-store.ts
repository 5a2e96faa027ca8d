import type {PoolRecord} from '../../model/types.js';

export type RedisAnswer = 'pool' | 'no-pool' | 'no-answer';

export type StoreFacts = {
	/** The store requested with `--store`, or with `store` in a config. */
	readonly asked: PoolRecord['store'] | undefined;
	/** Whether a flag, the environment or a config names a Redis. */
	readonly isRedisGiven: boolean;
	readonly recorded: PoolRecord | undefined;
	/** The store that this user's commands used last. Read only if needed, so it can be a getter. */
	readonly remembered: PoolRecord | undefined;
	readonly hasPrivatePool: boolean;
};

export type StoreChoice =
	| {readonly kind: 'redis'; readonly record?: Extract<PoolRecord, {store: 'redis'}>}
	| {readonly kind: 'shared'; readonly directory: string}
	| {readonly kind: 'private'}
	/** No pool exists. Commands fail, but the monitor creates a private pool. */
	| {readonly kind: 'none'}
	/** A private pool was requested although a shared one exists. */
	| {readonly kind: 'private-refused'; readonly because: PoolRecord | 'redis'};

const byRecord = (record: PoolRecord): StoreChoice =>
	record.store === 'redis' ? {kind: 'redis', record} : {kind: 'shared', directory: record.directory};

/**
Chooses the store. A Redis outage is never a reason to choose another store, because one GPU could then be granted twice.
@param probe - Asks the configured Redis whether it has a pool. Called only if needed.
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
	// A Redis that held the pool and is now down or empty is an error, not a reason to use another store.
	if (remembered?.store === 'redis') {
		return byRecord(remembered);
	}

	return hasPrivatePool ? {kind: 'private'} : {kind: 'none'};
}

import type {PoolRecord} from '../../model/types.js';

export type RedisAnswer = 'pool' | 'no-pool' | 'no-answer';

export type StoreFacts = {
	readonly asked: PoolRecord['store'] | undefined;
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
	| {readonly kind: 'private-refused'; readonly because: PoolRecord | 'redis'};

const byRecord = (record: PoolRecord): StoreChoice =>
	record.store === 'redis' ? {kind: 'redis', record} : {kind: 'shared', directory: record.directory};

/** Chooses the store. `probe` asks Redis whether it has a pool. Chooses no other store in an outage, because both could grant the same GPU. */
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
	// Chooses the Redis that was used last, even if it is now down or empty. Commands then fail instead of using another store.
	if (remembered?.store === 'redis') {
		return byRecord(remembered);
	}

	return hasPrivatePool ? {kind: 'private'} : {kind: 'none'};
}

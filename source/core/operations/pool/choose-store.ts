import type {PoolRecord} from '../../model/types.js';

export type RedisAnswer = 'pool' | 'no-pool' | 'no-answer';

export type StoreFacts = {
	readonly asked: PoolRecord['store'] | undefined;
	readonly isRedisGiven: boolean;
	readonly recorded: PoolRecord | undefined;
	/** The store that this user's commands used last. Read only if needed, so it can be a getter. */
	readonly remembered: PoolRecord | undefined;
	/** Whether the shared directory has a pool in a file, recorded or not. Read only if needed, so it can be a getter. */
	readonly hasSharedFile: boolean;
	readonly hasPrivatePool: boolean;
};

export type StoreChoice =
	| {readonly kind: 'redis'; readonly record?: Extract<PoolRecord, {store: 'redis'}>}
	| {readonly kind: 'shared'; readonly directory: string}
	| {readonly kind: 'private'}
	/** The shared directory has a pool in a file, but its record is missing. Another pool could grant the same GPUs. */
	| {readonly kind: 'unrecorded'}
	/** No pool exists. Commands fail, but the monitor creates a private pool. */
	| {readonly kind: 'none'}
	| {readonly kind: 'private-refused'; readonly because: PoolRecord | 'redis'};

const byRecord = (record: PoolRecord): StoreChoice =>
	record.store === 'redis' ? {kind: 'redis', record} : {kind: 'shared', directory: record.directory};

const withoutRecord = ({hasSharedFile, hasPrivatePool}: StoreFacts): StoreChoice =>
	hasSharedFile ? {kind: 'unrecorded'} : hasPrivatePool ? {kind: 'private'} : {kind: 'none'};

/** Chooses the store. `probe` asks Redis whether it has a pool. Chooses no other store in an outage, because both could grant the same GPU. */
export async function chooseStore(facts: StoreFacts, probe: () => Promise<RedisAnswer>): Promise<StoreChoice> {
	const {asked, isRedisGiven, recorded} = facts;
	if (asked === 'redis' || (asked === undefined && isRedisGiven)) {
		return {kind: 'redis'};
	}

	if (asked === 'embedded') {
		if (recorded !== undefined) {
			return recorded.store === 'embedded' ? byRecord(recorded) : {kind: 'private-refused', because: recorded};
		}

		const answer = await probe();
		// A Redis that does not answer can still have the pool of this machine.
		if (answer === 'pool' || (answer === 'no-answer' && isRedisGiven)) {
			return {kind: 'private-refused', because: 'redis'};
		}

		const {remembered} = facts;
		return answer === 'no-answer' && remembered?.store === 'redis'
			? {kind: 'private-refused', because: remembered}
			: withoutRecord(facts);
	}

	if (recorded !== undefined) {
		return byRecord(recorded);
	}

	if ((await probe()) === 'pool') {
		return {kind: 'redis'};
	}

	const {remembered} = facts;
	// Chooses the Redis that was used last, even if it is now down or empty. Commands then fail instead of using another store.
	return remembered?.store === 'redis' ? byRecord(remembered) : withoutRecord(facts);
}

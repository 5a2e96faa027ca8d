/** Read -> plan -> commit -> again on conflict: the one way in which the pool changes. */
import {withFallback} from '../../errors.js';
import {planExpiry} from '../rules/leases/lease-changes.js';
import {requireNoClone, requirePool} from '../rules/pool/pool.js';
import type {World} from '../model/ports.js';
import type {QueueRecord, Snapshot} from '../model/types.js';
import type {EngineWorld} from './engine.js';
import {changeOnce, commitUntilSettled, type ChangeOptions} from './change-once.js';

type Transaction<Result> = Omit<ChangeOptions<Result>, 'read'> & {
	/** Label for which `snapshot.lastUsed` is filled in. */
	readonly user?: string;
};

type CurrentOptions = {
	/** Label for which `snapshot.lastUsed` is filled in. */
	readonly user?: string | undefined;
	/** Id of a change that is asked about, too. */
	readonly change?: string | undefined;
	/** Which entries of the queue are judged; all, if not given. */
	readonly judged?: (snapshot: Snapshot) => (record: QueueRecord) => boolean;
};

/** Reads, planning away whatever is dead until nothing is. */
export async function readCurrent(
	{store, host, clock, engine}: Pick<EngineWorld, 'store' | 'host' | 'clock' | 'engine'>,
	{user, change, judged}: CurrentOptions = {},
): Promise<Snapshot> {
	if (engine !== undefined) {
		// Another engine judges who is dead.
		return store.read();
	}

	const {snapshot} = await commitUntilSettled(
		{store, clock},
		{
			async read() {
				const read = await store.read({user, change});
				requirePool(read, host, store.location);
				return read;
			},
			plan: (read) => ({plan: planExpiry(read, host, judged?.(read))}),
		},
	);
	return snapshot;
}

/**
Reads for display: a store that takes no changes now, for its disk is full or it is a replica, can still be shown, with the dead.
*/
export async function readForDisplay(world: EngineWorld): Promise<Snapshot> {
	const snapshot = await withFallback(
		async () => readCurrent(world),
		async () => world.store.read(),
		'store-refused',
	);
	requireNoClone(snapshot, world.host, world.store.location);
	return snapshot;
}

/** Changes the pool, without the dead: see {@link changeOnce}, and `no-pool` where there is none. */
export const transact = async <Result>(world: World, {user, ...transaction}: Transaction<Result>): Promise<Result> =>
	changeOnce(world, {...transaction, read: async (change) => readCurrent(world, {user, change})});

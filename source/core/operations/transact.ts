/** Changes the pool: reads, plans, commits, and starts again after a conflict. */
import {withFallback} from '../../errors.js';
import {planExpiry} from '../rules/leases/lease-changes.js';
import {requireNoClone, requirePool} from '../rules/pool/pool.js';
import type {World} from '../model/ports.js';
import type {QueueRecord, Snapshot} from '../model/types.js';
import type {EngineWorld} from './engine.js';
import {changeOnce, commitUntilSettled, type ChangeOptions} from './change-once.js';

type Transaction<Result> = Omit<ChangeOptions<Result>, 'read'> & {
	readonly user?: string;
};

type CurrentOptions = {
	readonly user?: string | undefined;
	readonly change?: string | undefined;
	/** Returns which queue entries are checked for life. Absent: all. */
	readonly judged?: (snapshot: Snapshot) => (record: QueueRecord) => boolean;
};

/** Reads the pool and removes what is dead, until nothing is. */
export async function readCurrent(
	{store, host, clock, engine}: Pick<EngineWorld, 'store' | 'host' | 'clock' | 'engine'>,
	{user, change, judged}: CurrentOptions = {},
): Promise<Snapshot> {
	if (engine !== undefined) {
		// Other engines decide what is dead.
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

/** Reads for display. A store that rejects writes, such as a replica, is shown with the dead. */
export async function readForDisplay(world: EngineWorld): Promise<Snapshot> {
	const snapshot = await withFallback(
		async () => readCurrent(world),
		async () => world.store.read(),
		'store-refused',
	);
	requireNoClone(snapshot, world.host, world.store.location);
	return snapshot;
}

/** Changes the pool after the dead are removed: see {@link changeOnce}. Throws `no-pool` if there is none. */
export const transact = async <Result>(world: World, {user, ...transaction}: Transaction<Result>): Promise<Result> =>
	changeOnce(world, {...transaction, read: async (change) => readCurrent(world, {user, change})});

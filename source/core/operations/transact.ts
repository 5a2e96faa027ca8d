import {withFallback} from '../../errors.js';
import {planExpiry} from '../rules/leases/lease-changes.js';
import {planBoot, requireNoClone, requirePool} from '../rules/pool/pool.js';
import {isEmpty} from '../model/plan.js';
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
	/** Returns a function that selects the queue entries whose processes are checked. Default: all entries. */
	readonly judged?: (snapshot: Snapshot) => (record: QueueRecord) => boolean;
	/** Whether leases and entries that have ended may stay if the store fails to remove them. */
	readonly isForDisplay?: boolean;
};

/** Reads the pool, and removes leases and entries that have ended, until none of them are left. Then records this boot in the pool, once. */
export async function readCurrent(
	{store, host, clock, engine}: Pick<EngineWorld, 'store' | 'host' | 'clock' | 'engine'>,
	{user, change, judged, isForDisplay = false}: CurrentOptions = {},
): Promise<Snapshot> {
	if (engine !== undefined) {
		// An engine removes ended leases and entries by itself.
		return store.read();
	}

	const {snapshot} = await commitUntilSettled(
		{store, clock},
		{
			async read() {
				const read = await store.read({user, change});
				requirePool(read, host, store);
				return read;
			},
			plan: (read) => ({plan: planExpiry(read, host, judged?.(read))}),
			isOptional: isForDisplay,
		},
	);
	const boot = planBoot(snapshot, host);
	if (!isEmpty(boot)) {
		// A conflict or a failure needs no retry, because the next command tries again.
		await withFallback(
			async () => store.commit(boot),
			() => undefined,
		);
	}

	return snapshot;
}

/** Reads the pool for display. If the store fails to write, as a replica or a broken disk does, ended leases are not removed and still appear. */
export async function readForDisplay(world: EngineWorld): Promise<Snapshot> {
	const snapshot = await readCurrent(world, {isForDisplay: true});
	requireNoClone(snapshot, world.host, world.store.location);
	return snapshot;
}

/** Removes ended leases and entries, then makes a change with {@link changeOnce}. Throws `no-pool` if there is no pool. */
export const transact = async <Result>(world: World, {user, ...transaction}: Transaction<Result>): Promise<Result> =>
	changeOnce(world, {...transaction, read: async (change) => readCurrent(world, {user, change})});
